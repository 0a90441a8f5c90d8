//! Random numbers that can be drawn through a shared reference.

use std::cell::Cell;

/// SplitMix64: every decision of a launch comes from one of these, so that a seed repeats it.
pub struct Random(Cell<u64>);

impl Random {
    /// The stream of a launch.
    pub fn new(seed: u64, launch: u64) -> Self {
        let random = Self(Cell::new(seed ^ launch.wrapping_mul(0xd134_2543_de82_ef95)));
        random.bits();
        random
    }

    /// 32 random bits.
    pub fn bits(&self) -> u32 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as u32
    }

    /// A number below `end` > 0.
    pub fn below(&self, end: usize) -> usize {
        ((u64::from(self.bits()) * end as u64) >> 32) as usize
    }

    /// True once in `times`.
    pub fn once_in(&self, times: usize) -> bool {
        self.below(times) == 0
    }
}
