//! The system's allocator, with a sentence and an exit status where there is no memory, instead of the
//! abort that Rust's containers end with. It is the net behind the checks that are made before memory is
//! taken.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::libc::{_exit, STDERR_FILENO, write};

/// The exit status without memory: the command could not run.
static STATUS: AtomicI32 = AtomicI32::new(2);

/// Sets another exit status.
pub fn end_with(status: i32) {
    STATUS.store(status, Ordering::Relaxed);
}

/// The program's allocator. Where there is no memory, the process ends.
pub struct Sentenced;

// SAFETY: the system's allocator does it all; where it fails, these functions do not return.
unsafe impl GlobalAlloc for Sentenced {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's.
        there(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn there(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        end(size);
    }
    pointer
}

/// Ends the process, with a message that is put together without memory.
#[cold]
fn end(bytes: usize) -> ! {
    let mut text = Cursor::new([0; 128]);
    let _ = writeln!(text, "spmv-bench: there is no memory for {bytes} bytes more");
    let size = text.position() as usize;
    // SAFETY: the bytes are those of the buffer, and nothing of this process runs after the exit.
    unsafe {
        write(STDERR_FILENO, text.get_ref().as_ptr().cast(), size);
        _exit(STATUS.load(Ordering::Relaxed))
    }
}
