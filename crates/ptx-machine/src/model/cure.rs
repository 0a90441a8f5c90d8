//! What-if analysis: the performance problems that a launch can be modelled without.

/// A performance problem that a launch is replayed without. The warps still execute the same instructions, so the
/// difference in time is an upper bound for what a better kernel could gain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cure {
    /// No problem is removed.
    #[default]
    Nothing,
    /// Uncoalesced accesses: a request is replayed with the minimum number of sectors for its bytes.
    WastedSectors,
    /// Divergence: the cost of an instruction is multiplied by the fraction of its lanes that are active.
    IdleLanes,
    /// Bank conflicts of shared memory.
    BankConflicts,
    /// Atomic operations on the same cache line that wait for each other.
    Contention,
    /// The limits on resident blocks by registers and shared memory.
    Occupancy,
}

impl Cure {
    /// All problems, without [`Nothing`](Self::Nothing).
    pub const ALL: [Self; 5] = [
        Self::WastedSectors,
        Self::IdleLanes,
        Self::BankConflicts,
        Self::Contention,
        Self::Occupancy,
    ];

    /// Returns the name of the problem.
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
