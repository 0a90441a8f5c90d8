use std::marker::PhantomData;

/// A slice whose parts are written by several threads at the same time. The parts depend on data (such as a
/// row range found by binary search), so the compiler cannot verify that they are disjoint.
pub struct DisjointMut<'a, T> {
    start: *mut T,
    len: usize,
    _slice: PhantomData<&'a mut [T]>,
}

// SAFETY: sharing gives `&mut T` to several threads, which `T: Send` allows. The caller of `range`
// guarantees that they refer to different elements.
unsafe impl<T: Send> Sync for DisjointMut<'_, T> {}

impl<'a, T> DisjointMut<'a, T> {
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), _slice: PhantomData }
    }

    /// Returns the part `range` of the slice. Panics if `range` is not inside the slice.
    ///
    /// # Safety
    /// While the part is in use, no other part that overlaps it is in use.
    #[allow(clippy::mut_from_ref)] // the caller guarantees disjoint parts
    pub unsafe fn range(&self, range: std::ops::Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "part beyond the slice");
        // SAFETY: the range is inside the slice, and the caller guarantees that it is disjoint from all other parts.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }

    /// Returns the value at `index` without a bounds check, for inner loops that write through a permutation.
    ///
    /// # Safety
    /// `index` is inside the slice. While the value is in use, it is in no other part that is in use.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // the caller guarantees disjoint parts
    pub unsafe fn at(&self, index: usize) -> &'a mut T {
        debug_assert!(index < self.len);
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *self.start.add(index) }
    }
}
