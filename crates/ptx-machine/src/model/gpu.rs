//! What a model is made for: the parameters of a GPU, and the performance problems that it leaves out.

/// The parameters of a GPU. Cycles are those of the multiprocessors' clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    pub multiprocessors: usize,
    /// The clock of the multiprocessors under load, in MHz.
    pub clock_mhz: f64,
    /// The number of warp instructions that a multiprocessor issues per cycle.
    pub issued_per_cycle: f64,
    /// The number of cycles for which a double-precision instruction of a warp occupies a scheduler.
    pub double_cycles: f64,
    /// The number of cycles for which a product of matrices of doubles (`mma.sync.m8n8k4`) occupies a scheduler.
    pub matrix_cycles: f64,
    /// The size of the first-level cache of a multiprocessor in bytes, including shared memory if they share an array.
    pub l1_bytes: usize,
    /// Whether shared memory is a part of the first-level cache.
    pub l1_has_shared: bool,
    /// Whether ordinary loads from global memory use the first-level cache. Loads of read-only data always use it.
    pub l1_caches_loads: bool,
    /// The capacity of the second-level cache for data of one multiprocessor in bytes: half of the cache if each half
    /// stores its own copies.
    pub l2_bytes: usize,
    /// The latency of a load in cycles if the data are in the first-level cache, in the second-level cache, or in
    /// memory.
    pub l1_latency: f64,
    pub l2_latency: f64,
    pub memory_latency: f64,
    /// The bandwidth of the second-level cache in bytes per cycle.
    pub l2_bytes_per_cycle: f64,
    /// The bandwidth of memory in bytes per cycle, as measured with a copy.
    pub memory_bytes_per_cycle: f64,
    /// The smallest number of 32-byte sectors that memory transfers at once.
    pub fetched_sectors: u32,
    /// The number of cycles between two atomic operations on the same cache line.
    pub atomic_cycles: f64,
    /// The time from the end of a kernel to the start of the next, in microseconds, unless that one may start early.
    pub launch_us: f64,
    /// The time from the end of a kernel of a graph to the start of the next, in microseconds.
    pub graph_launch_us: f64,
}

/// A performance problem that a launch is replayed without. The warps still execute the same instructions, so the
/// difference in time is an upper bound for what a better kernel could gain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cure {
    #[default]
    Nothing,
    /// Uncoalesced accesses: a request is replayed with the minimum number of sectors for its bytes.
    WastedSectors,
    /// Divergence: the cost of an instruction is multiplied by the fraction of its lanes that are active.
    IdleLanes,
    BankConflicts,
    /// Atomic operations on the same cache line that wait for each other.
    Contention,
    /// The limits on resident blocks by registers and shared memory.
    Occupancy,
}

impl Cure {
    /// All problems, without [`Nothing`](Self::Nothing).
    pub const ALL: [Self; 5] =
        [Self::WastedSectors, Self::IdleLanes, Self::BankConflicts, Self::Contention, Self::Occupancy];

    pub const fn problem(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::WastedSectors => "wasted sectors",
            Self::IdleLanes => "idle lanes",
            Self::BankConflicts => "bank conflicts",
            Self::Contention => "contention of atomics",
            Self::Occupancy => "low occupancy",
        }
    }
}
