//! The allocation of large arrays.

use std::sync::Mutex;

use nix::sys::mman::{MmapAdvise, madvise};
use num_traits::Zero;

use super::error::{Defect, Fault};
use crate::system::pages::PAGE;

/// Allocates `size` zeros, or returns an error if they do not fit in memory. The pages are used only when they
/// are written.
pub fn zeros<T: Zero + Clone>(size: usize) -> Result<Vec<T>, Fault> {
    // `vec!` gets zeroed pages from the system but aborts if there is no memory, so this is checked first.
    if Vec::<T>::new().try_reserve_exact(size).is_err() {
        return Err(Defect::Memory(size as u64 * size_of::<T>() as u64).into());
    }
    Ok(vec![T::zero(); size])
}

/// Allocates `size` zeros for temporary use in huge pages, which the kernel maps faster. The matrix itself does
/// not use them: it must be in the default pages of the system, like all other memory that products use.
pub fn scratch<T: Zero + Clone>(size: usize) -> Result<Vec<T>, Fault> {
    let mut scratch = zeros(size)?;
    prefer_huge_pages(&mut scratch);
    Ok(scratch)
}

fn prefer_huge_pages<T>(array: &mut [T]) {
    const WORTHWHILE: usize = 1 << 22;
    let start = (array.as_ptr() as usize).next_multiple_of(PAGE);
    let bytes = (array.as_ptr_range().end as usize).saturating_sub(start);
    if size_of_val(array) >= WORTHWHILE {
        let start = std::ptr::without_provenance_mut(start);
        let Some(start) = std::ptr::NonNull::new(start) else { return };
        // SAFETY: the range starts at the first page boundary within the array. The advice does not change
        // the contents, and a failure has no consequences.
        let _ = unsafe { madvise(start, bytes, MmapAdvise::MADV_HUGEPAGE) };
    }
}

/// An array from which threads take consecutive pieces.
pub struct Arena<'a, T>(Mutex<&'a mut [T]>);

impl<'a, T> Arena<'a, T> {
    pub fn new(array: &'a mut [T]) -> Self {
        Self(Mutex::new(array))
    }

    /// Returns the next `size` elements, or `None` if fewer are left.
    pub fn take(&self, size: usize) -> Option<&'a mut [T]> {
        let mut rest = self.0.lock().expect("no thread panics while it holds the lock");
        rest.split_off_mut(..size)
    }
}
