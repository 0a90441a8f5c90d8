//! One fiber per CUDA thread. They stay from launch to launch: a fiber enters kernel after kernel.

use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult};
use memmap2::{Advice, MmapMut, MmapOptions};

use crate::launch::Launch;
use crate::thread::{COLOUR, RECORD, STACK, Thread};
use crate::trap;

/// The most threads that a launch has at once.
pub const FIBERS: usize = 8 * 1024;

/// The part of a stack below the record.
struct Below(usize);

// SAFETY: 38 KiB or more belong to this fiber alone. There is no guard page, since a mapping for
// each of thousands of stacks exceeds what the system allows; instead the compiler refuses kernels
// with large frames (see `compile`).
unsafe impl Stack for Below {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.0).expect("a stack is not at 0")
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.0 & !(STACK - 1)).expect("a stack is not at 0")
    }
}

type Fiber = Coroutine<(), (), (), Below>;

/// The fibers of a thread of the host.
pub struct Fibers {
    fibers: Vec<Fiber>,
    first: usize,
    /// Holds the stacks.
    _map: MmapMut,
}

thread_local! {
    /// Launches of one thread of the host follow each other, so they can share them.
    pub static OWN: std::cell::RefCell<Fibers> = std::cell::RefCell::new(Fibers::new());
}

impl Fibers {
    fn new() -> Self {
        let map = MmapOptions::new().len((FIBERS + 1) * STACK).no_reserve_swap().map_anon();
        let map = map.expect("address space for stacks");
        // Else the first use of a stack takes, and clears, memory for many.
        let _ = map.advise(Advice::NoHugePage);
        let first = (map.as_ptr() as usize).next_multiple_of(STACK);
        Self { fibers: Vec::new(), first, _map: map }
    }

    /// The record of fiber 0, from which [`record`] finds the others.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Makes sure that there are `count`.
    pub fn grow(&mut self, count: usize) {
        for number in self.fibers.len()..count {
            self.fibers.push(fiber(self.first, number));
        }
    }

    /// Runs one until it suspends itself; false when it was stopped by a signal.
    pub fn resume(&mut self, number: usize) -> bool {
        let fiber = &mut self.fibers[number];
        trap::watch(fiber.trap_handler());
        matches!(fiber.resume(()), CoroutineResult::Yield(()))
    }

    /// Forgets what the first `count` were doing.
    pub fn reset(&mut self, count: usize) {
        for number in 0..count.min(self.fibers.len()) {
            self.forget(number);
            self.fibers[number] = fiber(self.first, number);
        }
    }

    fn forget(&mut self, number: usize) {
        // SAFETY: what is on the stack has nothing to drop: frames of kernels, of the runtime's
        // functions where they suspend, and of `fiber` below.
        unsafe { self.fibers[number].force_reset() };
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        (0..self.fibers.len()).for_each(|number| self.forget(number));
    }
}

/// Where a fiber's record lies.
pub fn record(first: usize, number: usize) -> *mut Thread {
    let end = first + (number + 1) * STACK;
    (end - RECORD - end / STACK % 32 * COLOUR) as *mut Thread
}

fn fiber(first: usize, number: usize) -> Fiber {
    let thread = record(first, number);
    Coroutine::with_stack(Below(thread as usize), move |yielder, ()| {
        loop {
            // SAFETY: whoever resumes it has filled in the record.
            unsafe {
                (*thread).yielder = yielder;
                Launch::enter(&*thread);
            }
            yielder.suspend(());
        }
    })
}
