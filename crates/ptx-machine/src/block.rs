//! A launch, and its resident thread blocks: their shared memory, barriers and mbarriers.

use std::collections::HashMap;
use std::rc::Rc;

use crate::lanes::LANES;
use crate::memory::POISON;
use crate::program::Kernel;
use crate::race::{Acquired, Moment, ProxyFences, Release, Word};

pub const BARRIERS: usize = 16;
/// The maximum number of arrivals at an mbarrier and of its outstanding bytes.
pub const MAX_EXPECTED: i64 = (1 << 20) - 1;

/// A launch: a kernel with its arguments and shapes, and the number of resident blocks.
pub struct Launch<'a> {
    pub kernel: &'a Kernel,
    /// The bytes of the arguments.
    pub arguments: &'a [u8],
    /// The addresses of the module's variables.
    pub variables: &'a [u64],
    /// The number of blocks by dimension.
    pub grid: [u32; 3],
    /// The number of threads per block by dimension.
    pub shape: [u32; 3],
    /// The size of the dynamic shared memory in bytes.
    pub dynamic_shared: usize,
    /// The maximum number of resident blocks on the whole GPU.
    pub resident: usize,
    /// Whether the kernel may start before the previous one has ended (programmatic dependent launch). The machine
    /// still runs it afterwards, but checks that its threads wait before they use the same memory.
    pub dependent: bool,
}

impl Launch<'_> {
    pub(crate) fn threads(&self) -> usize {
        self.shape.iter().map(|&n| n as usize).product()
    }

    pub(crate) fn warps(&self) -> usize {
        self.threads().div_ceil(LANES)
    }
}

/// Returns the index by dimension of a block in a grid, or of a thread in a block, of this shape.
pub fn index(number: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [number % x, number / x % y, number / x / y]
}

#[derive(Default)]
pub struct Block {
    /// The linear index of the block in the grid.
    pub number: u32,
    pub index: [u32; 3],
    /// The shared memory, with gaps between its arrays, which no access may touch.
    pub shared: Vec<u8>,
    /// Whether each byte of shared memory was written; empty without checks.
    pub written: Vec<bool>,
    /// The last accesses to each word of shared memory; empty without checks.
    pub words: Vec<Word>,
    /// The number of barriers of the whole block so far.
    pub epoch: u32,
    /// The releases that the threads of the block have acquired.
    pub acquired: Vec<Acquired>,
    /// The number of warps that have not exited.
    pub live: usize,
    pub barriers: [Barrier; BARRIERS],
    /// The mbarriers, by their offsets in shared memory.
    pub mbarriers: HashMap<u64, Mbarrier>,
    /// The fences between ordinary accesses and asynchronous copies.
    pub proxy_fences: ProxyFences,
}

#[derive(Clone, Debug, Default)]
pub struct Barrier {
    /// The number of threads that have arrived.
    pub threads: usize,
    /// The number of threads that took part in the reduction of their predicates (`barrier.red`).
    pub asked: u32,
    /// The number of these threads whose predicate is true.
    pub hold: u32,
    pub waiting: Vec<u16>,
    /// The barrier instruction of the first warp that arrived, and the number of threads that it expects.
    pub first: Option<(usize, usize)>,
}

impl Block {
    /// Starts a block of the grid. With `checks` the accesses to its shared memory are recorded.
    pub fn begin(&mut self, number: u32, launch: &Launch, checks: bool) {
        self.number = number;
        self.index = index(number, launch.grid);
        let bytes = (launch.kernel.shared_end + launch.dynamic_shared).next_multiple_of(4);
        self.shared.resize(bytes, POISON);
        if checks {
            self.shared.fill(POISON);
            self.written.clear();
            self.written.resize(bytes, false);
            self.words.clear();
            self.words.resize(bytes / 4, Word::default());
            self.acquired.clear();
            self.proxy_fences = ProxyFences::default();
        }
        self.mbarriers.clear();
        (self.epoch, self.live) = (0, launch.warps());
        self.barriers.iter_mut().for_each(|barrier| *barrier = Barrier::default());
    }
}

/// An mbarrier: a barrier in shared memory whose phases also wait for the bytes of copies (PTX ISA, section 9.7.13.15).
/// A phase completes when all arrivals and all expected bytes have come.
#[derive(Debug, Default)]
pub struct Mbarrier {
    /// The number of arrivals that complete a phase.
    expected: i64,
    /// The number of arrivals that the current phase lacks.
    pub missing: i64,
    /// The number of bytes that are expected in the current phase and have not come.
    pub bytes: i64,
    pub phases: u32,
    /// The end of the phases in which there was a copy.
    pub copied: u32,
    /// The number of phases whose completion a thread has waited for.
    pub waited: u32,
    /// The time at which it was initialised; `None` without checks.
    pub begun: Option<Moment>,
    /// The releases of the threads that have arrived in the current phase; empty without checks.
    pub arrived: Vec<Rc<Release>>,
    /// The release of the last completed phase; `None` without checks.
    pub completed: Option<Rc<Release>>,
}

impl Mbarrier {
    /// Initialises an mbarrier whose phases need `expected` arrivals. `None` if the number is out of range.
    pub fn new(expected: i64, begun: Option<Moment>) -> Option<Self> {
        let new = Self { expected, missing: expected, begun, ..Self::default() };
        (1..=MAX_EXPECTED).contains(&expected).then_some(new)
    }

    /// Adds to the number of expected bytes, which is negative after bytes that are expected later. Returns false if it
    /// is out of range.
    pub fn expect(&mut self, bytes: i64) -> bool {
        self.bytes += bytes;
        self.bytes.abs() <= MAX_EXPECTED
    }

    /// Records an arrival. Returns false if the current phase expects none.
    pub fn arrive(&mut self) -> bool {
        self.missing -= 1;
        self.missing >= 0
    }

    /// Completes the current phase if nothing is missing. `number` identifies the mbarrier in its block `block`.
    pub fn complete(&mut self, number: u16, block: u32) {
        if self.missing != 0 || self.bytes != 0 {
            return;
        }
        let arrived = std::mem::take(&mut self.arrived);
        if self.begun.is_some() {
            self.completed = Some(Release::of_phase(block, (number, self.phases), arrived));
        }
        self.phases += 1;
        self.missing = self.expected;
    }

    /// Returns whether the phase with this parity, the current or the previous one, is complete.
    pub fn has_completed(&self, parity: u32) -> bool {
        self.phases % 2 != parity
    }
}
