//! What a launch would take if one of its problems were cured: the same traces, but for that.

/// A problem that a launch is replayed without. What a warp does after it is the same, so this tells what a cure
/// may bring at most in time, and not how to reach it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cure {
    /// None: the launch as it is.
    #[default]
    Nothing,
    /// Requests touch no more sectors than hold the bytes that they ask for.
    WastedSectors,
    /// Warps execute as many instructions as they would with all lanes active.
    IdleLanes,
    /// No two lanes need different words of one bank of shared memory.
    BankConflicts,
    /// No two atomic operations wait for each other.
    Contention,
    /// Registers and shared memory limit the resident blocks no more.
    Occupancy,
}

impl Cure {
    /// All but [`Nothing`](Self::Nothing).
    pub const ALL: [Self; 5] = [
        Self::WastedSectors,
        Self::IdleLanes,
        Self::BankConflicts,
        Self::Contention,
        Self::Occupancy,
    ];

    /// The problem in words.
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
