//! A stream of values that begins at a cache line.

use std::ops::Deref;

/// Bytes of a cache line, and of the widest register: a load of one that is not aligned touches two
/// lines.
const LINE: usize = 64;

/// A slice on the heap that begins at a cache line.
pub struct Aligned<T> {
    /// The values from `start`; never resized, so that they stay where they are.
    values: Vec<T>,
    start: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// A copy of `values` with `slack` more, all zero, that may be over-read.
    pub fn new(values: &[T], slack: usize) -> Self {
        let mut aligned: Vec<T> = Vec::with_capacity(values.len() + slack + LINE / size_of::<T>());
        // In elements; `usize::MAX` when it cannot be told, which no allocator does.
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
    fn the_first_value_begins_a_line() {
        for len in [0, 1, 7, 1000] {
            let values: Vec<f32> = (0..len).map(|k| k as f32).collect();
            let aligned = Aligned::new(&values, 3);
            assert!(aligned.as_ptr().addr().is_multiple_of(LINE));
            assert_eq!((&aligned[..len], &aligned[len..]), (&values[..], &[0.0; 3][..]));
        }
    }
}
