use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub name: String,
    /// The compute capability, for example (9, 0) for sm_90.
    pub compute_capability: (u32, u32),
    pub multiprocessors: u32,
    pub warp_size: u32,
    pub max_threads_per_block: u32,
    pub max_threads_per_multiprocessor: u32,
    /// The bytes of shared memory that a block can use without raising the limit.
    pub shared_bytes_per_block: u32,
    pub shared_bytes_per_multiprocessor: u32,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    /// The highest clock of the multiprocessors in MHz.
    pub clock_mhz: u32,
    /// The highest clock of the memory in MHz.
    pub memory_clock_mhz: u32,
    pub memory_bus_bits: u32,
    /// The version of the driver and of its CUDA.
    pub driver: String,
    /// The sources of machine code: version and file of NVRTC, or how to get it, and precompiled kernels.
    pub nvrtc: String,
    /// The version and file of cuSPARSE, or how to get it.
    pub cusparse: String,
}

impl Facts {
    /// Returns the number of threads that fit on the device at the same time.
    pub fn most_threads(&self) -> usize {
        (self.multiprocessors * self.max_threads_per_multiprocessor) as usize
    }

    /// Returns the bytes of shared memory that a block can have: from compute capability 7.0 on, a kernel can ask for
    /// those of a multiprocessor but the 1 KiB that the system reserves.
    pub fn most_shared_bytes(&self) -> u32 {
        let all = self.shared_bytes_per_multiprocessor - (1 << 10);
        if self.compute_capability < (7, 0) { self.shared_bytes_per_block } else { all }
    }

    /// Returns how many copies the L2 cache has of what all multiprocessors read: two on A100 and H100 (white papers).
    pub fn l2_copies(&self) -> u64 {
        if matches!(self.compute_capability, (8, 0) | (9, 0)) { 2 } else { 1 }
    }

    /// Returns the theoretical memory bandwidth in GB/s (10^9 bytes per second): two transfers per clock on the bus.
    pub fn nominal_gbs(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_mhz) * 1e6 * f64::from(self.memory_bus_bits) / 8.0 / 1e9
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clocks {
    pub multiprocessor_mhz: u32,
    pub memory_mhz: u32,
    /// In degrees Celsius.
    pub temperature: Option<u32>,
    /// The driver's reasons for clocks below the maximum. Empty if there are none or if the device is idle.
    pub throttled_by: Vec<String>,
}

/// What a counter of energy and, as a check, a sensor of power report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// The joules since some time in the past.
    pub joules: f64,
    pub watts: Option<f64>,
}

/// What a GPU does for others, read before this program measures anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// The share of the last second or less in which kernels ran, in percent.
    pub utilisation_percent: u32,
    /// The number of other processes that have a context for computing; `None` if the driver does not report it.
    pub other_processes: Option<usize>,
}

impl Activity {
    /// Returns whether nobody else seems to use the GPU.
    pub fn is_idle(&self) -> bool {
        self.utilisation_percent == 0 && self.other_processes.unwrap_or(0) == 0
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let processes = self.other_processes.map_or("unknown".into(), |number| number.to_string());
        write!(f, "{} % busy, other processes: {processes}", self.utilisation_percent)
    }
}
