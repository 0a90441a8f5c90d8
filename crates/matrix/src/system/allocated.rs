//! The memory that the process holds, also that of libraries, which need not report theirs.

use std::mem::transmute;

use nix::libc::{RTLD_DEFAULT, dlsym, mallinfo2};

use super::files::{bytes, field};
use super::pages::PAGE;

/// What the process holds at one moment, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Allocated {
    /// The blocks in use of the C library's allocator.
    blocks: i64,
    /// All private memory that can be written, except what that allocator has from the system: what others have mapped.
    mapped: i64,
    threads: u64,
}

impl Allocated {
    /// Returns `None` if the C library or the system does not report it.
    pub fn now() -> Option<Self> {
        let allocator = allocator()?;
        let data = bytes("/proc/self/status", "VmData")?;
        Some(Self {
            blocks: (allocator.uordblks + allocator.hblkhd) as i64,
            mapped: data as i64 - (allocator.arena + allocator.hblkhd) as i64,
            threads: field("/proc/self/status", "Threads")?.parse().ok()?,
        })
    }

    /// Returns the bytes that the process holds in addition to what it held `before`, 0 if they are less than a page;
    /// `None` if it has more threads or fewer, because their stacks would count.
    pub fn since(&self, before: &Self) -> Option<u64> {
        let grown = (self.blocks - before.blocks) + (self.mapped - before.mapped);
        let grown = if grown < PAGE as i64 { 0 } else { grown as u64 };
        (self.threads == before.threads).then_some(grown)
    }
}

/// Returns the numbers of glibc's allocator, if the process has a glibc that reports them: 2.33 or newer.
fn allocator() -> Option<mallinfo2> {
    // SAFETY: the name ends with 0.
    let symbol = unsafe { dlsym(RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
    // SAFETY: a function of this name has this signature, and a null pointer is `None`.
    let report: Option<unsafe extern "C" fn() -> mallinfo2> = unsafe { transmute(symbol) };
    // SAFETY: it may be called at any time.
    Some(unsafe { report?() })
}
