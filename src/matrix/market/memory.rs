//! Large arrays.

use std::sync::Mutex;

use nix::sys::mman::{MmapAdvise, madvise};
use num_traits::Zero;

use super::error::{Fault, Reason};

/// `size` zeros, or a refusal. Memory is only used up as the array is written.
pub fn zeros<T: Zero + Clone>(size: usize) -> Result<Vec<T>, Fault> {
    // `vec!` gets zeroed memory from the system but aborts where there is none: ask first.
    if Vec::<T>::new().try_reserve_exact(size).is_err() {
        let bytes = size as u64 * size_of::<T>() as u64;
        let message = format!("an array of {bytes} bytes for this matrix does not fit in memory");
        return Err(Fault::whole(Reason::Unsupported(message)));
    }
    Ok(vec![T::zero(); size])
}

/// The same for the time of reading: in huge pages, which the kernel maps in less time. The matrix
/// itself is left in the pages that the system gives, like all other memory that products use.
pub fn scratch<T: Zero + Clone>(size: usize) -> Result<Vec<T>, Fault> {
    let mut scratch = zeros(size)?;
    prefer_huge_pages(&mut scratch);
    Ok(scratch)
}

fn prefer_huge_pages<T>(array: &mut [T]) {
    const PAGE: usize = 4096;
    const WORTHWHILE: usize = 1 << 22;
    let start = (array.as_ptr() as usize).next_multiple_of(PAGE);
    let bytes = (array.as_ptr_range().end as usize).saturating_sub(start);
    if size_of_val(array) >= WORTHWHILE {
        let start = std::ptr::without_provenance_mut(start);
        let Some(start) = std::ptr::NonNull::new(start) else { return };
        // SAFETY: pages from the first that begins within the array; the advice changes no
        // contents, and nothing is lost if it is refused.
        let _ = unsafe { madvise(start, bytes, MmapAdvise::MADV_HUGEPAGE) };
    }
}

/// An array that threads take pieces of.
pub struct Arena<'a, T>(Mutex<&'a mut [T]>);

impl<'a, T> Arena<'a, T> {
    pub fn new(array: &'a mut [T]) -> Self {
        Self(Mutex::new(array))
    }

    /// The next `size` elements; none if fewer are left.
    pub fn take(&self, size: usize) -> Option<&'a mut [T]> {
        let mut rest = self.0.lock().expect("no thread panics while it holds the lock");
        rest.split_off_mut(..size)
    }
}
