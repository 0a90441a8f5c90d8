//! What the times of a GPU depend on.

/// Facts of a GPU. Cycles are those of the multiprocessors' clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// Streaming multiprocessors.
    pub multiprocessors: usize,
    /// Their clock under load, in MHz.
    pub clock_mhz: f64,
    /// Warp instructions that a multiprocessor can issue in a cycle.
    pub issued_per_cycle: f64,
    /// Cycles for which a double-precision instruction of a warp occupies a scheduler's units.
    pub double_cycles: f64,
    /// Bytes of first-level cache and shared memory together.
    pub l1_bytes: usize,
    /// Whether shared memory is taken from these bytes.
    pub l1_has_shared: bool,
    /// Whether ordinary loads from global memory go through the first-level cache; those of read-only
    /// data always do.
    pub l1_caches_loads: bool,
    /// Bytes of second-level cache that a multiprocessor finds the same data in: half of all where each
    /// half keeps its own copy.
    pub l2_bytes: usize,
    /// Cycles from a load to its use, when its data are in the first-level cache.
    pub l1_latency: f64,
    /// The same for the second-level cache.
    pub l2_latency: f64,
    /// The same for memory.
    pub memory_latency: f64,
    /// Bytes per cycle that the second-level cache delivers to all multiprocessors.
    pub l2_bytes_per_cycle: f64,
    /// Bytes per cycle that memory delivers, as measured by reading or copying.
    pub memory_bytes_per_cycle: f64,
    /// Sectors of 32 bytes that memory delivers at least.
    pub fetched_sectors: u32,
    /// Cycles between two atomic operations on the same address.
    pub atomic_cycles: f64,
    /// Microseconds from the end of a kernel to the beginning of the next.
    pub launch_us: f64,
    /// The same between the kernels of a graph.
    pub graph_launch_us: f64,
}
