//! A slice on the heap that is aligned to a cache line.

use std::ops::Deref;

/// The size of a cache line, and of the widest register, in bytes. An unaligned load of such a register
/// touches two cache lines.
const LINE: usize = 64;

/// A slice on the heap that is aligned to a cache line.
pub struct Aligned<T> {
    /// The buffer, whose values begin at index `start`. It is never resized, so the values do not move.
    values: Vec<T>,
    start: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// Copies `values` and appends `slack` zeros, so that loads of whole registers may read past the end.
    pub fn new(values: &[T], slack: usize) -> Self {
        let mut aligned: Vec<T> = Vec::with_capacity(values.len() + slack + LINE / size_of::<T>());
        // The offset is in elements. `align_offset` may return `usize::MAX`, but no allocator causes that.
        let start = aligned.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        aligned.resize(start, T::default());
        aligned.extend_from_slice(values);
        aligned.resize(start + values.len() + slack, T::default());
        Self { values: aligned, start }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_is_aligned_to_a_cache_line() {
        for len in [0, 1, 7, 1000] {
            let values: Vec<f32> = (0..len).map(|k| k as f32).collect();
            let aligned = Aligned::new(&values, 3);
            assert!(aligned.as_ptr().addr().is_multiple_of(LINE));
            assert_eq!((&aligned[..len], &aligned[len..]), (&values[..], &[0.0; 3][..]));
        }
    }
}
