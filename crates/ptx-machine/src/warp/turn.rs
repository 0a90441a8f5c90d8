//! A warp that runs, with its block and the launch, and what all kinds of instructions need of them.

use super::state::Warp;
use crate::block::{Block, Launch, index};
use crate::fault::{Checked, Fault};
use crate::lanes::Mask;
use crate::memory::Memory;
use crate::model::Recorder;
use crate::model::recorder::WarpId;
use crate::program::Kernel;
use crate::race::{Releases, Word};
use crate::random::Random;

/// The number of backward jumps that one poll counts as.
const POLL: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Yielded,
    /// The warp has polled memory and yields, so that other warps can change it.
    Polled,
    /// The warp waits at a barrier: the number of the barrier and the expected number of threads.
    Barrier(usize, usize),
    Exited,
}

/// The state that all warps of a launch share.
pub struct Engine<'a> {
    pub kernel: &'a Kernel,
    pub memory: &'a mut Memory,
    /// The last accesses to each word of global memory; empty without checks.
    pub words: &'a mut [Word],
    pub releases: Releases,
    pub launch: &'a Launch<'a>,
    /// The number of the launch.
    pub number: u32,
    /// The number of the first launch that may overlap with this one; its own unless it is dependent.
    pub overlaps: u32,
    /// For each instruction: the first address and the size of the buffer or array that it accessed last.
    pub windows: Vec<(u64, u64)>,
    pub recorder: Option<&'a mut Recorder>,
    /// The generator that decides when a warp yields before an access; `None` to yield as late as possible.
    pub random: Option<Random>,
    /// The number of accesses until the next yield.
    pub credit: u32,
    /// Whether a change has happened that another thread could wait for.
    pub progress: bool,
    /// The last value of the clock registers.
    pub clock: u64,
    /// The number of warp instructions executed so far.
    pub steps: u64,
}

/// A warp that runs, with its block and what all warps share.
pub struct Turn<'t, 'a> {
    pub engine: &'t mut Engine<'a>,
    pub block: &'t mut Block,
    pub warp: &'t mut Warp,
}

impl Turn<'_, '_> {
    /// Tells the recorder, if there is one, of an event of the warp.
    #[inline(always)]
    pub fn record(&mut self, event: impl FnOnce(&mut Recorder, WarpId)) {
        if let Some(recorder) = &mut self.engine.recorder {
            event(recorder, WarpId { block: self.block.number, warp: self.warp.number });
        }
    }

    /// Advances past an instruction that polls memory.
    pub fn poll(&mut self) -> Pause {
        self.warp.at += 1;
        self.warp.patience = self.warp.patience.saturating_sub(POLL);
        Pause::Polled
    }

    pub fn fence(&mut self, mask: Mask) {
        let acquired = self.warp.clock.fence(mask, self.warp.number, self.block.epoch);
        self.block.acquired.extend(acquired);
    }

    /// Returns the fault of a lane at the warp's current instruction.
    #[cold]
    pub fn fault(&self, lane: usize, what: impl Into<String>) -> Box<Fault> {
        self.engine.fault(self.block, self.warp, lane, what.into())
    }

    #[cold]
    pub fn fail<T>(&self, lane: usize, what: impl Into<String>) -> Checked<T> {
        Err(self.fault(lane, what))
    }
}

impl Engine<'_> {
    pub fn fault(&self, block: &Block, warp: &Warp, lane: usize, what: String) -> Box<Fault> {
        let thread = index(warp.thread(lane).into(), self.launch.shape);
        Box::new(Fault {
            kernel: self.kernel.name.clone(),
            thread: Some((block.index, thread)),
            what,
            place: Some(self.kernel.place(warp.at).to_owned()),
        })
    }
}
