//! A CUDA thread's record, which kernel code and runtime share.

use std::cell::Cell;
use std::ffi::{CStr, c_char};

use corosensei::Yielder;

use crate::launch::Launch;
use crate::table::Table;

/// Bytes of a stack, to which it is also aligned: an address in it leads to the record at its top.
pub const STACK: usize = 64 << 10;
/// Bytes reserved for the record.
pub const RECORD: usize = 256;
/// By how much more than on the neighbouring stack a record is moved down; see runtime.hpp.
pub const COLOUR: usize = 13 * 64;

/// A call in the source of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// What is called.
    pub what: *const c_char,
    /// In which file; one pointer per file of a program.
    pub file: *const c_char,
    /// In which line.
    pub line: u32,
}

impl Site {
    /// No call.
    pub const NONE: Self = Self { what: std::ptr::null(), file: std::ptr::null(), line: 0 };
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}:{}", text(self.what), text(self.file), self.line)
    }
}

/// A constant of a compiled program.
pub fn text<'a>(text: *const c_char) -> std::borrow::Cow<'a, str> {
    if text.is_null() {
        return "nothing".into();
    }
    // SAFETY: kernels only hand out literals and the compiler's constants, which live as long as
    // the module, which outlives the launch.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// It can run.
    Ready,
    /// It waits at its site.
    Waiting,
    /// It has returned from the kernel, or was never there.
    Exited,
}

/// The record. Its beginning is `emu::Thread` in runtime.hpp.
#[repr(C)]
pub struct Thread {
    /// threadIdx.
    pub index: [u32; 3],
    /// blockIdx.
    pub block: [u32; 3],
    /// blockDim.
    pub block_shape: [u32; 3],
    /// gridDim.
    pub grid_shape: [u32; 3],
    /// Where the arena begins.
    pub arena: usize,
    /// The functions that kernels call.
    pub table: *const Table,
    /// Points where it could switch until it does.
    pub patience: Cell<i32>,
    /// Whether it wrote to the arena since it was last asked.
    pub wrote: Cell<u32>,
    /// Whether it came to such a point since it was last asked.
    pub polled: Cell<u32>,
    /// Accesses to memory until it is interrupted.
    pub credit: Cell<u32>,
    /// Number of the fiber; a warp's are 32 in a row.
    pub fiber: u32,
    /// What it is part of.
    pub launch: *const Launch,
    /// How to leave its fiber.
    pub yielder: *const Yielder<(), ()>,
    /// What it brings to the collective in which it waits.
    pub value: Cell<u64>,
    /// Lane, distance or flag of the same.
    pub parameter: Cell<u32>,
    /// Width of the same.
    pub width: Cell<u32>,
    /// What it takes from it.
    pub result: Cell<u64>,
    /// Accesses to memory that it was granted so far.
    pub granted: Cell<u32>,
    /// Where it last handed over.
    pub code: Cell<usize>,
    /// Where it waits.
    pub site: Cell<Site>,
    /// What it does.
    pub state: Cell<State>,
}

const _: () = assert!(size_of::<Thread>() <= RECORD && std::mem::offset_of!(Thread, fiber) == 80);

impl Thread {
    /// What it is part of.
    pub fn launch(&self) -> &Launch {
        // SAFETY: a fiber only runs while its launch lives, and the launch set this.
        unsafe { &*self.launch }
    }

    /// Lets others run until somebody makes it ready.
    pub fn suspend(&self) {
        // SAFETY: called on this thread's own fiber, which set this before it entered the kernel.
        unsafe { (*self.yielder).suspend(()) }
    }

    /// Waits at `site` for others.
    pub fn wait(&self, site: Site) {
        self.site.set(site);
        self.state.set(State::Waiting);
        self.suspend();
    }

    /// Ends the launch with a message; the fiber is never resumed.
    pub fn fail(&self, message: String) -> ! {
        self.launch().fail(self, message);
        loop {
            self.suspend();
        }
    }

    /// What it does, for a message about somebody who waits for it.
    pub fn doing(&self) -> String {
        match self.state.get() {
            State::Ready => "still runs".into(),
            State::Waiting => format!("waits in {}", self.site.get()),
            State::Exited => "has exited".into(),
        }
    }

    /// Its place in grid and block.
    pub fn place(&self) -> String {
        let ([bx, by, bz], [x, y, z]) = (self.block, self.index);
        format!("block ({bx},{by},{bz}) thread ({x},{y},{z})")
    }
}
