//! What is told to those who watch a launch.

use crate::lanes::{LANES, Mask};

/// A warp of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpId {
    /// The block's number in the grid.
    pub block: u32,
    /// The warp's number in the block.
    pub warp: u16,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It reads.
    Load,
    /// It reads what no kernel writes, or what only this block reads.
    ReadOnly,
    /// It reads past the first-level cache.
    Strong,
    /// It writes.
    Store,
    /// It does both at once; whether the old value is asked for.
    Atomic(bool),
}

/// Watches a launch. All methods do nothing unless they are written.
pub trait Observer {
    /// A warp executes the stretch that begins at an instruction with these lanes active, of which guards
    /// may exclude some. It is told before what the last instruction of the stretch accesses.
    #[inline(always)]
    fn executed(&mut self, warp: WarpId, first: usize, active: Mask) {
        let _ = (warp, first, active);
    }

    /// A warp accesses global memory: `bytes` bytes for each lane of `mask`.
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

    /// The same for the shared memory of its block, by offsets.
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

    /// A block has ended.
    #[inline(always)]
    fn ended(&mut self, block: u32) {
        let _ = block;
    }

    /// A block's warps have met at a barrier.
    #[inline(always)]
    fn barrier(&mut self, block: u32) {
        let _ = block;
    }
}

/// Nobody watches.
pub struct Nobody;

impl Observer for Nobody {}
