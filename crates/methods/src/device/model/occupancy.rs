//! Occupancy: the number of blocks that can be resident on a multiprocessor (CUDA C++ Programming Guide, section
//! 5.2.3 and the table of compute capabilities; CUDA occupancy calculator).

use crate::device::cuda::usage::Usage;
use crate::device::launch;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub threads: u32,
    pub blocks: u32,
    pub registers: u32,
    pub shared: u32,
    /// The shared memory that the system reserves for each block, in bytes.
    pub shared_reserved: u32,
}

const WARP: u32 = launch::WARP as u32;
/// The allocation unit of registers for a warp.
const REGISTER_PIECE: u32 = 256;
/// The number of partitions of a multiprocessor, each with a quarter of the registers. A warp uses one partition.
const PARTS: u32 = 4;
const SHARED_PIECE: u32 = 256;

impl Limits {
    /// Returns the limits of a compute capability (CUDA C++ Programming Guide, table of technical specifications).
    pub fn of(compute_capability: (u32, u32)) -> Self {
        let (threads, blocks, shared_kib) = match compute_capability {
            (..=4, _) => (2048, 16, 48),
            (5, 2) => (2048, 32, 96),
            (5 | 6, 0) => (2048, 32, 64),
            (5 | 6, _) => (2048, 32, 96),
            (7, 5) => (1024, 16, 64),
            (7, _) => (2048, 32, 96),
            (8, 0) => (2048, 32, 164),
            (8, 7) => (1536, 16, 164),
            (8, 9) => (1536, 24, 100),
            (8, _) => (1536, 16, 100),
            (9 | 10, _) => (2048, 32, 228),
            (11.., _) => (1536, 24, 100),
        };
        let shared_reserved = if compute_capability >= (8, 0) { 1 << 10 } else { 0 };
        Self { threads, blocks, registers: 64 << 10, shared: shared_kib << 10, shared_reserved }
    }

    /// Returns the number of resident blocks of `threads` threads without the limits by registers and shared memory.
    pub fn most_blocks(&self, threads: u32) -> u32 {
        (self.threads / threads.next_multiple_of(WARP)).min(self.blocks)
    }

    /// Returns the number of resident blocks of a kernel with `dynamic_shared` bytes of dynamic shared memory.
    pub fn blocks(&self, usage: &Usage, threads: u32, dynamic_shared: u32) -> u32 {
        let warps = threads.div_ceil(WARP);
        let per_warp = (usage.registers.max(1) * WARP).next_multiple_of(REGISTER_PIECE);
        let by_registers = self.registers / PARTS / per_warp * PARTS / warps;
        let shared = usage.shared + dynamic_shared;
        let by_shared = match shared + self.shared_reserved {
            0 => u32::MAX,
            bytes => self.shared / bytes.next_multiple_of(SHARED_PIECE),
        };
        self.most_blocks(threads).min(by_registers).min(by_shared)
    }
}

#[cfg(test)]
#[test]
fn each_resource_can_limit_the_occupancy() {
    let blocks = |registers, shared, threads| {
        let usage = Usage { registers, shared, ..Usage::default() };
        Limits::of((9, 0)).blocks(&usage, threads, 0)
    };
    assert_eq!(blocks(32, 0, 128), 16, "threads");
    assert_eq!(blocks(32, 0, 32), 32, "blocks");
    assert_eq!(blocks(64, 0, 128), 8, "registers");
    assert_eq!(blocks(40, 0, 256), 6, "registers in allocation units");
    assert_eq!(blocks(16, 48 << 10, 128), 4, "shared memory");
    assert_eq!(blocks(255, 0, 1024), 0, "a block that does not fit");
}
