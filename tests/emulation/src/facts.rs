//! The invented device.

use spmv_bench::device::facts::Facts;

use crate::launch::SHARED_BYTES;
use crate::memory::{ARENA, BLOCK_SLOTS};

const MULTIPROCESSORS: u32 = 4;
const THREADS_PER_MULTIPROCESSOR: u32 = 2048;

/// Small enough that small matrices fill it.
pub fn facts() -> Facts {
    Facts {
        name: "emulation".into(),
        compute_capability: (9, 0),
        multiprocessors: MULTIPROCESSORS,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: THREADS_PER_MULTIPROCESSOR,
        shared_bytes_per_block: SHARED_BYTES as u32,
        shared_bytes_per_multiprocessor: 228 << 10,
        l2_bytes: 64 << 10,
        memory_bytes: ARENA as u64,
        // A look at the clock takes a cycle, so kernels that wait for it look seldom.
        clock_mhz: 1,
        memory_clock_mhz: 1000,
        memory_bus_bits: 64,
        driver: "emulation".into(),
        nvrtc: "emulation".into(),
        cusparse: "emulation".into(),
    }
}

/// Blocks of that many threads on one multiprocessor; no more than two, so that a grid that fills the
/// device once stays small.
pub fn resident_blocks(threads: u32) -> u32 {
    (THREADS_PER_MULTIPROCESSOR / threads).clamp(1, BLOCK_SLOTS as u32 / MULTIPROCESSORS)
}

/// The same on the whole device.
pub fn resident_on_device(threads: u32) -> u32 {
    MULTIPROCESSORS * resident_blocks(threads)
}
