use std::ops::{Deref, DerefMut};

/// The bytes of a cache line, and of the widest register, of which an unaligned load touches two cache lines.
pub const LINE: usize = 64;

/// A slice on the heap that is aligned to a cache line and filled once. No other data is in its cache lines.
#[derive(Default)]
pub struct Aligned<T> {
    /// The buffer, whose values begin at index `start`. It never exceeds its capacity, so the values do not move in it.
    values: Vec<T>,
    start: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// Returns an empty slice to which `capacity` values can be appended.
    pub fn with_capacity(capacity: usize) -> Self {
        let line = LINE / size_of::<T>();
        let mut values: Vec<T> = Vec::with_capacity(capacity.next_multiple_of(line) + line);
        // The offset is in elements. `align_offset` may return `usize::MAX`, but no allocator causes that.
        let start = values.as_ptr().align_offset(LINE).min(line);
        values.resize(start, T::default());
        Self { values, start }
    }

    /// Returns a slice of `count` times `value`.
    pub fn of(value: T, count: usize) -> Self {
        let mut all = Self::with_capacity(count);
        all.append(count, value);
        all
    }

    /// Returns the buffer, to which values can be appended: no more than the capacity, or the slice may not be aligned.
    pub fn buffer(&mut self) -> &mut Vec<T> {
        &mut self.values
    }

    /// Appends `count` times `value`, for which there must be room, and returns the new part.
    pub fn append(&mut self, count: usize, value: T) -> &mut [T] {
        let first = self.values.len();
        assert!(first + count <= self.values.capacity(), "the values would move");
        self.values.resize(first + count, value);
        &mut self.values[first..]
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[self.start..]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_is_aligned_to_a_cache_line() {
        for (len, capacity) in [(0, 3), (1, 4), (7, 10), (1000, 1003)] {
            let mut aligned = Aligned::<f32>::with_capacity(capacity);
            aligned.append(len, 2.0);
            aligned.append(3, 0.0)[0] = 1.0;
            assert!(aligned.as_ptr().addr().is_multiple_of(LINE));
            let (values, rest) = aligned.split_at(len);
            assert_eq!((values, rest), (&vec![2.0; len][..], &[1.0, 0.0, 0.0][..]));
        }
    }
}
