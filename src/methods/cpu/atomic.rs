//! A y to whose elements many threads add at once.

use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use portable_atomic::{AtomicF32, AtomicF64};

use crate::scalar::Scalar;
use crate::team::Team;

/// Addition that no other thread's addition can come between.
pub trait AtomicAdd: Scalar {
    /// `*target += value`.
    ///
    /// # Safety
    /// `target` is valid, and while threads add to it, all do so by this function.
    unsafe fn atomic_add(target: *mut Self, value: Self);
}

impl AtomicAdd for f64 {
    #[inline(always)]
    unsafe fn atomic_add(target: *mut Self, value: Self) {
        // SAFETY: the caller's promise; an f64 is aligned as its atomic is.
        unsafe { AtomicF64::from_ptr(target) }.fetch_add(value, Ordering::Relaxed);
    }
}

impl AtomicAdd for f32 {
    #[inline(always)]
    unsafe fn atomic_add(target: *mut Self, value: Self) {
        // SAFETY: as for f64.
        unsafe { AtomicF32::from_ptr(target) }.fetch_add(value, Ordering::Relaxed);
    }
}

/// A y that a team adds to; a team of one does so without atomics.
pub struct SharedSums<'a, T> {
    start: *mut T,
    len: usize,
    alone: bool,
    _slice: PhantomData<&'a mut [T]>,
}

// SAFETY: all that may be done to the values is to add to them, atomically where there are threads.
unsafe impl<T: Send> Sync for SharedSums<'_, T> {}

impl<'a, T: AtomicAdd> SharedSums<'a, T> {
    /// Takes y over for a region of this team.
    pub fn new(team: &Team, y: &'a mut [T]) -> Self {
        let (start, len) = (y.as_mut_ptr(), y.len());
        Self { start, len, alone: team.len() == 1, _slice: PhantomData }
    }

    /// y\[`index`\] += `value`.
    ///
    /// # Safety
    /// `index` lies in y, and only the team's threads call this.
    #[inline(always)]
    pub unsafe fn add(&self, index: usize, value: T) {
        debug_assert!(index < self.len);
        // SAFETY: the caller's promises; y is borrowed mutably, so that nobody else looks at it.
        unsafe {
            let target = self.start.add(index);
            if self.alone { *target += value } else { T::atomic_add(target, value) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each thread; an interpreter takes its time.
    const ADDITIONS: usize = if cfg!(miri) { 100 } else { 10_000 };

    fn check<T: AtomicAdd>() {
        for threads in [1, 2, 4] {
            let team = Team::floating(threads);
            let mut y = [T::zero(), T::one()];
            let sums = SharedSums::new(&team, &mut y);
            assert_eq!(sums.alone, threads == 1);
            // SAFETY: 1 < 2.
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
