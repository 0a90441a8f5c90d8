//! A resident thread block: its shared memory and its barriers.

use std::collections::HashMap;

use crate::mbarrier::Mbarrier;
use crate::memory::POISON;
use crate::program::Kernel;
use crate::race::{Acquired, ProxyFences, Word};

/// The number of barriers of a block.
pub const BARRIERS: usize = 16;

/// The state of a resident block: shared memory, barriers and the ordering of its accesses.
#[derive(Default)]
pub struct Block {
    /// The linear index of the block in the grid.
    pub number: u32,
    /// The index of the block in the grid, by dimension.
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
    /// The state of each barrier.
    pub barriers: [Barrier; BARRIERS],
    /// The mbarriers, by their offsets in shared memory.
    pub mbarriers: HashMap<u64, Mbarrier>,
    /// The fences between ordinary accesses and asynchronous copies.
    pub proxy_fences: ProxyFences,
}

/// A barrier of a block.
#[derive(Clone, Debug, Default)]
pub struct Barrier {
    /// The number of threads that have arrived.
    pub threads: usize,
    /// The number of threads that took part in the reduction of their predicates (`barrier.red`).
    pub asked: u32,
    /// The number of these threads whose predicate is true.
    pub hold: u32,
    /// The numbers of the waiting warps.
    pub waiting: Vec<u16>,
    /// The barrier instruction of the first warp that arrived, and the number of threads that it expects.
    pub first: Option<(usize, usize)>,
}

impl Block {
    /// Starts a block of the grid. With `checks` the accesses to its shared memory are recorded.
    pub fn begin(
        &mut self,
        number: u32,
        grid: [u32; 3],
        kernel: &Kernel,
        dynamic: usize,
        warps: usize,
        checks: bool,
    ) {
        let [x, y, _] = grid;
        self.number = number;
        self.index = [number % x, number / x % y, number / x / y];
        let bytes = (kernel.shared_end + dynamic).next_multiple_of(4);
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
        (self.epoch, self.live) = (0, warps);
        self.barriers.iter_mut().for_each(|barrier| *barrier = Barrier::default());
    }
}
