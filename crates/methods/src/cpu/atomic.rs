use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use portable_atomic::{AtomicF32, AtomicF64};

use crate::team::Team;
use spmv_matrix::scalar::Scalar;

pub trait AtomicAdd: Scalar {
    /// # Safety
    /// `target` is valid. While several threads add to it, all of them use this function.
    unsafe fn atomic_add(target: *mut Self, value: Self);
}

impl AtomicAdd for f64 {
    #[inline(always)]
    unsafe fn atomic_add(target: *mut Self, value: Self) {
        // SAFETY: the caller guarantees that `target` is valid and that all threads add to it atomically; an f64 is
        // aligned like its atomic type.
        unsafe { AtomicF64::from_ptr(target) }.fetch_add(value, Ordering::Relaxed);
    }
}

impl AtomicAdd for f32 {
    #[inline(always)]
    unsafe fn atomic_add(target: *mut Self, value: Self) {
        // SAFETY: the caller guarantees that `target` is valid and that all threads add to it atomically; an f32 is
        // aligned like its atomic type.
        unsafe { AtomicF32::from_ptr(target) }.fetch_add(value, Ordering::Relaxed);
    }
}

/// A vector y to which the threads of a team add. A team of one thread adds without atomics.
pub struct SharedSums<'a, T> {
    start: *mut T,
    len: usize,
    alone: bool,
    _slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the only operation on the values is addition, which is atomic if there is more than one thread.
unsafe impl<T: Send> Sync for SharedSums<'_, T> {}

impl<'a, T: AtomicAdd> SharedSums<'a, T> {
    pub fn new(team: &Team, y: &'a mut [T]) -> Self {
        let (start, len) = (y.as_mut_ptr(), y.len());
        Self { start, len, alone: team.len() == 1, _slice: PhantomData }
    }

    /// # Safety
    /// `index` is within y, and only threads of the team call this.
    #[inline(always)]
    pub unsafe fn add(&self, index: usize, value: T) {
        debug_assert!(index < self.len);
        // SAFETY: the caller guarantees that `index` is within y and that only threads of the team add; y is borrowed
        // mutably, so nothing else accesses it.
        unsafe {
            let target = self.start.add(index);
            if self.alone { *target += value } else { T::atomic_add(target, value) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of additions per thread. Miri is slow, so it does fewer.
    const ADDITIONS: usize = if cfg!(miri) { 100 } else { 10_000 };

    fn check<T: AtomicAdd>() {
        for threads in [1, 2, 4] {
            let team = Team::floating(threads);
            let mut y = [T::zero(), T::one()];
            let sums = SharedSums::new(&team, &mut y);
            assert_eq!(sums.alone, threads == 1);
            // SAFETY: index 1 is within the two elements.
            team.run(|_| (0..ADDITIONS).for_each(|_| unsafe { sums.add(1, T::one()) }));
            assert_eq!(y, [T::zero(), T::narrow((1 + ADDITIONS * threads) as f64)]);
        }
    }

    #[test]
    fn no_addition_is_lost() {
        check::<f64>();
        check::<f32>();
    }
}
