//! The program's allocator: that of the system, but if an allocation fails, the process ends with a message and an exit
//! status instead of an abort. The checks that are made before memory is taken should prevent this, but they cannot
//! foresee what libraries and other programs take.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::libc::{_exit, STDERR_FILENO, write};

/// The exit status of the process if an allocation fails. By default it is that of a command that could not run.
static STATUS: AtomicI32 = AtomicI32::new(2);

pub fn end_with(status: i32) {
    STATUS.store(status, Ordering::Relaxed);
}

pub struct ReportingAllocator;

// SAFETY: Every function calls the system's allocator with unchanged arguments and returns its result. If the result is
// null, the function does not return.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller guarantees that the size of `layout` is not zero.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller guarantees that the size of `layout` is not zero.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: The caller guarantees that `pointer` was allocated here with `layout`, and that `size` is not zero
        // and does not overflow when it is rounded up to the alignment.
        or_end(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: The caller guarantees that `pointer` was allocated here with `layout`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn or_end(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        end(size);
    }
    pointer
}

/// Ends the process with a message, which is written without allocating memory.
#[cold]
fn end(bytes: usize) -> ! {
    let mut text = Cursor::new([0; 128]);
    let _ = writeln!(text, "spmv-bench: there is no memory for {bytes} bytes more");
    let size = text.position() as usize;
    // SAFETY: `write` reads only the `size` bytes that were written to the buffer, and `_exit` has no conditions.
    unsafe {
        write(STDERR_FILENO, text.get_ref().as_ptr().cast(), size);
        _exit(STATUS.load(Ordering::Relaxed))
    }
}
