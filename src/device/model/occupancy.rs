//! How many blocks a multiprocessor holds at once (CUDA C++ Programming Guide, section 5.2.3 and the
//! table of compute capabilities; CUDA occupancy calculator).

use crate::device::cuda::usage::Usage;

/// What a multiprocessor has, and in which pieces it gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Threads.
    pub threads: u32,
    /// Blocks.
    pub blocks: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// Bytes of shared memory for blocks.
    pub shared: u32,
    /// Bytes of shared memory that each block takes beside its own.
    pub shared_reserved: u32,
}

const WARP: u32 = 32;
/// Registers come in pieces of this many for a warp.
const REGISTER_PIECE: u32 = 256;
/// Warps get registers from one of four parts of the multiprocessor.
const PARTS: u32 = 4;
/// Shared memory comes in pieces of this many bytes.
const SHARED_PIECE: u32 = 256;

impl Limits {
    /// Blocks of `threads` threads of a kernel, with so many bytes of dynamic shared memory.
    pub fn blocks(&self, usage: &Usage, threads: u32, dynamic_shared: u32) -> u32 {
        let warps = threads.div_ceil(WARP);
        let by_threads = self.threads / (warps * WARP);
        let per_warp = (usage.registers.max(1) * WARP).next_multiple_of(REGISTER_PIECE);
        let by_registers = self.registers / PARTS / per_warp * PARTS / warps;
        let shared = usage.shared + dynamic_shared;
        let by_shared = match shared + self.shared_reserved {
            0 => u32::MAX,
            bytes => self.shared / bytes.next_multiple_of(SHARED_PIECE),
        };
        by_threads.min(by_registers).min(by_shared).min(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H100: Limits = Limits {
        threads: 2048,
        blocks: 32,
        registers: 65536,
        shared: 228 << 10,
        shared_reserved: 1024,
    };

    fn blocks(registers: u32, shared: u32, threads: u32) -> u32 {
        let usage = Usage { registers, shared, ..Usage::default() };
        H100.blocks(&usage, threads, 0)
    }

    #[test]
    fn each_resource_can_be_the_scarce_one() {
        assert_eq!(blocks(32, 0, 128), 16, "threads");
        assert_eq!(blocks(32, 0, 32), 32, "blocks");
        assert_eq!(blocks(64, 0, 128), 8, "registers");
        assert_eq!(blocks(40, 0, 256), 6, "registers in pieces");
        assert_eq!(blocks(16, 48 << 10, 128), 4, "shared memory");
        assert_eq!(blocks(255, 0, 1024), 0, "a block that does not fit");
    }
}
