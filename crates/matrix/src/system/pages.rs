use std::ops::Range;
use std::ptr::{NonNull, null};

use nix::errno::Errno;
use nix::libc::{SYS_move_pages, c_int, syscall};
use nix::sys::mman::{MmapAdvise, madvise};
use nix::sys::resource::{UsageWho, getrusage};

/// The size of a page in bytes. Where it is larger, requests for pages may fail, which only takes more time.
pub const PAGE: usize = 4096;

/// Returns the NUMA node of the page that contains each address; `None` for a page that is on no node yet. The system
/// call may not be permitted.
pub fn nodes_of_pages(pages: &[usize]) -> nix::Result<Vec<Option<usize>>> {
    move_pages(pages, None)
}

/// Moves pages to a NUMA node as far as possible, and returns the node of each page afterwards.
pub fn move_pages_to(node: usize, pages: &[usize]) -> nix::Result<Vec<Option<usize>>> {
    move_pages(pages, Some(&vec![node as c_int; pages.len()]))
}

/// Makes the system provide the pages of an array that is about to be written. One request takes less time than one
/// page fault per page; the pages have the default size. If the request fails, the page faults follow as usual.
pub fn provide_pages<T>(array: &mut [T]) {
    let Range { start, end } = array.as_mut_ptr_range();
    let offset = start.addr() % PAGE;
    let bytes = end.addr() - start.addr() + offset;
    if let Some(start) = NonNull::new(start.wrapping_byte_sub(offset)).filter(|_| !array.is_empty()) {
        // SAFETY: each page of the range contains a part of the array. Its contents do not change.
        let _ = unsafe { madvise(start.cast(), bytes, MmapAdvise::MADV_POPULATE_WRITE) };
    }
}

fn move_pages(pages: &[usize], nodes: Option<&[c_int]>) -> nix::Result<Vec<Option<usize>>> {
    /// MPOL_MF_MOVE: only pages that no other process uses.
    const MOVE: c_int = 2;
    let mut status = vec![-1 as c_int; pages.len()];
    let nodes = nodes.map_or(null(), <[c_int]>::as_ptr);
    // SAFETY: the arrays have the given length. The addresses are looked up, not accessed.
    let outcome = unsafe { syscall(SYS_move_pages, 0, pages.len(), pages.as_ptr(), nodes, status.as_mut_ptr(), MOVE) };
    Errno::result(outcome)?;
    // A negative status is the error of that page.
    Ok(status.into_iter().map(|node| usize::try_from(node).ok()).collect())
}

/// Returns the number of pages that the system has provided to this thread.
pub fn provided_to_thread() -> usize {
    getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.minor_page_faults() as usize)
}

#[cfg(test)]
mod tests {
    use memmap2::MmapMut;

    use super::*;

    /// A sandbox may not permit the system call; then `nodes_of_pages` returns an error.
    #[test]
    fn pages_have_nodes() {
        let memory = vec![1u8; 1 << 20];
        let pages: Vec<_> = (0..4).map(|k| memory.as_ptr().addr() + k * 100_000).collect();
        if let Ok(nodes) = nodes_of_pages(&pages) {
            assert!(nodes.iter().all(Option::is_some), "{nodes:?}");
            let node = nodes[0].unwrap();
            assert_eq!(move_pages_to(node, &pages).unwrap(), [Some(node); 4]);
        }
        assert!(move_pages_to(1 << 20, &pages).is_err(), "there is no such node");
    }

    #[test]
    fn provided_pages_need_no_page_fault_and_keep_their_contents() {
        let mut memory = MmapMut::map_anon(40 * PAGE).unwrap();
        memory[PAGE + 1] = 7;
        provide_pages::<u8>(&mut []);
        let before = provided_to_thread();
        provide_pages(&mut memory[PAGE + 1..=30 * PAGE]);
        let provided = provided_to_thread() - before;
        memory[PAGE + 2..=30 * PAGE].fill(1);
        let after = provided_to_thread() - before;
        assert_eq!(memory[PAGE + 1], 7);
        // Kernels before 5.14 do not know the request.
        let page = NonNull::new(memory.as_mut_ptr()).unwrap().cast();
        // SAFETY: the page belongs to the memory.
        let known = unsafe { madvise(page, PAGE, MmapAdvise::MADV_POPULATE_WRITE) }.is_ok();
        assert_eq!(provided > 0, known);
        assert!(!known || after == provided, "{provided} and then {after}");
    }
}
