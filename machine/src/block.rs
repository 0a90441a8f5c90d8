//! A resident block: its shared memory and its barriers.

use crate::memory::POISON;
use crate::program::Kernel;
use crate::race::{Acquired, Word};

/// Barriers of a block.
pub const BARRIERS: usize = 16;

/// A block that runs.
#[derive(Default)]
pub struct Block {
    /// Its number in the grid.
    pub number: u32,
    /// Its index in the grid.
    pub index: [u32; 3],
    /// Shared memory, with gaps between its arrays.
    pub shared: Vec<u8>,
    /// By byte of shared memory: whether it was written. Empty where nobody asks.
    pub written: Vec<bool>,
    /// By word of shared memory: who accessed it. Empty where nobody asks.
    pub words: Vec<Word>,
    /// Barriers of the whole block so far.
    pub epoch: u32,
    /// What its threads have acquired.
    pub acquired: Vec<Acquired>,
    /// Warps that have not ended.
    pub live: usize,
    /// What waits at each barrier.
    pub barriers: [Barrier; BARRIERS],
}

/// A barrier of a block.
#[derive(Clone, Debug, Default)]
pub struct Barrier {
    /// Threads that have arrived.
    pub threads: usize,
    /// Threads that were asked, and those for which it holds.
    pub asked: u32,
    /// See [`asked`](Self::asked).
    pub hold: u32,
    /// Warps that wait.
    pub waiting: Vec<u16>,
    /// The instruction at which the first arrived, and how many threads it expects.
    pub first: Option<(usize, usize)>,
}

impl Block {
    /// Begins anew. With `checks` its shared memory is remembered word by word.
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
        }
        (self.epoch, self.live) = (0, warps);
        self.barriers.iter_mut().for_each(|barrier| *barrier = Barrier::default());
    }
}
