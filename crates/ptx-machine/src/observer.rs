//! The interface through which an observer is notified of the instructions and accesses of a launch.

use crate::lanes::{LANES, Mask};

/// The identity of a warp in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpId {
    /// The linear index of the block in the grid.
    pub block: u32,
    /// The index of the warp in the block.
    pub warp: u16,
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An ordinary load.
    Load,
    /// A load of read-only data (`ld.global.nc`).
    ReadOnly,
    /// A load that bypasses the first-level cache.
    Strong,
    /// A load of data that are used once (`ld.global.cs`).
    Once,
    /// A store of registers to memory.
    Store,
    /// An atomic operation. The flag is true if it returns the old value.
    Atomic(bool),
}

/// Receives the events of a launch. The default methods do nothing.
pub trait Observer {
    /// Called when a warp executes the stretch of instructions that begins at `first` with the lanes `active`. Guards
    /// of single instructions may exclude some of these lanes. The accesses of the stretch's last instruction are
    /// reported after this call. See [`Instruction::stretch`](crate::program::Instruction::stretch).
    #[inline(always)]
    fn executed(&mut self, warp: WarpId, first: usize, active: Mask) {
        let _ = (warp, first, active);
    }

    /// Called when a warp accesses global memory: `bytes` bytes for each lane of `mask`.
    #[inline(always)]
    fn global(
        &mut self,
        warp: WarpId,
        instruction: usize,
        action: Action,
        bytes: usize,
        addresses: &[u64; LANES],
        mask: Mask,
    ) {
        let _ = (warp, instruction, action, bytes, addresses, mask);
    }

    /// Called when a warp accesses shared memory: `bytes` bytes at an offset for each lane of `mask`.
    #[inline(always)]
    fn shared(
        &mut self,
        warp: WarpId,
        instruction: usize,
        action: Action,
        bytes: usize,
        offsets: &[u64; LANES],
        mask: Mask,
    ) {
        let _ = (warp, instruction, action, bytes, offsets, mask);
    }

    /// Called when a thread issues a copy to shared memory. `from` is the address and the size of the copied global memory,
    /// and `phase` identifies the phase of an mbarrier that waits for the copy. `once` is true if the second-level cache
    /// evicts these data first.
    fn copied(
        &mut self,
        warp: WarpId,
        instruction: usize,
        phase: u64,
        from: (u64, u64),
        once: bool,
    ) {
        let _ = (warp, instruction, phase, from, once);
    }

    /// Called when a thread arrives at an mbarrier in a phase.
    fn arrived(&mut self, warp: WarpId, phase: u64) {
        let _ = (warp, phase);
    }

    /// Called when a wait for a phase of an mbarrier has succeeded.
    fn waited(&mut self, warp: WarpId, phase: u64) {
        let _ = (warp, phase);
    }

    /// Called when all warps of a block have exited.
    #[inline(always)]
    fn ended(&mut self, block: u32) {
        let _ = block;
    }

    /// Called when the warps that a barrier of the block expects have arrived.
    #[inline(always)]
    fn barrier(&mut self, block: u32) {
        let _ = block;
    }
}

/// An observer that ignores all events.
pub struct NullObserver;

impl Observer for NullObserver {}
