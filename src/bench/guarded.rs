//! A vector with guard zones, which show writes before and after it.

use std::ops::{Deref, DerefMut, Range};

use spmv_matrix::scalar::Scalar;

/// The bytes of a guard zone: a multiple of a page, so that the vector keeps the alignment of large arrays.
const ZONE: usize = 4096;
/// The bits of the guard zones, which no computation yields.
const PATTERN: u8 = 0xfd;

pub struct Guarded<T> {
    values: Vec<T>,
    /// Where the vector is in `values`.
    place: Range<usize>,
}

impl<T: Scalar> Guarded<T> {
    pub fn new(values: &[T]) -> Self {
        Self::shifted(values, 0)
    }

    /// Copies the values between guard zones, `shift` elements further from the start of the allocation.
    pub fn shifted(values: &[T], shift: usize) -> Self {
        let zone = ZONE / size_of::<T>();
        let guard: T = bytemuck::pod_read_unaligned(&[PATTERN; 8][..size_of::<T>()]);
        let place = zone + shift..zone + shift + values.len();
        let mut all = vec![guard; place.end + zone];
        all[place.clone()].copy_from_slice(values);
        Self { values: all, place }
    }

    /// Returns whether nothing was written to the guard zones.
    pub fn is_intact(&self) -> bool {
        let Range { start, end } = self.place;
        let zones = [&self.values[..start], &self.values[end..]].map(bytemuck::cast_slice::<_, u8>);
        zones.iter().all(|zone| zone.iter().all(|&byte| byte == PATTERN))
    }
}

impl<T> Deref for Guarded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[self.place.clone()]
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.place.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_outside_the_vector_are_seen() {
        for place in [-1, 3, 3 + ZONE as isize / 8 - 1, -(ZONE as isize / 8)] {
            for shift in [0, 1] {
                let mut guarded = Guarded::shifted(&[1.0, 2.0, 3.0], shift);
                guarded[0] = f64::NAN;
                guarded[2] = 5.0;
                assert!(guarded.is_intact() && guarded[1..] == [2.0, 5.0]);
                let index = guarded.place.start.wrapping_add_signed(place);
                guarded.values[index] = 0.0;
                assert!(!guarded.is_intact(), "{place} {shift}");
            }
        }
    }
}
