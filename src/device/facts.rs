//! What a device is.

use serde::{Deserialize, Serialize};

/// Facts of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// As its driver calls it.
    pub name: String,
    /// Compute capability: 9 and 0 for sm_90.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// Threads that a block may have.
    pub max_threads_per_block: u32,
    /// Threads that a multiprocessor holds at once.
    pub max_threads_per_multiprocessor: u32,
    /// Shared memory that a block may use without asking for more.
    pub shared_bytes_per_block: u32,
    /// Shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: u32,
    /// Second-level cache.
    pub l2_bytes: u64,
    /// Global memory.
    pub memory_bytes: u64,
    /// Highest clock of the multiprocessors.
    pub clock_mhz: u32,
    /// Highest clock of the memory.
    pub memory_clock_mhz: u32,
    /// Width of the memory's bus.
    pub memory_bus_bits: u32,
    /// The driver's version and the CUDA version that it is of.
    pub driver: String,
    /// Where machine code comes from: NVRTC's version and file, or how to get it, and precompiled kernels.
    pub nvrtc: String,
    /// cuSPARSE's version and file, or how to get it.
    pub cusparse: String,
}

impl Facts {
    /// Bandwidth on paper in GB/s (10^9): two transfers per clock on the whole bus.
    pub fn nominal_gbs(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_mhz) * 1e6 * f64::from(self.memory_bus_bits) / 8.0 / 1e9
    }
}

/// Clocks at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clocks {
    /// Of the multiprocessors.
    pub multiprocessor_mhz: u32,
    /// Of the memory.
    pub memory_mhz: u32,
    /// Degrees Celsius.
    pub temperature: Option<u32>,
    /// Why the clocks are lower than they could be, in the driver's words; empty when they are not
    /// or the device idles.
    pub throttled_by: Vec<String>,
}
