//! Instructions and their operations, with registers resolved to indices of banks.

use crate::arithmetic::{Function, Relation, Type};
use crate::convert::{Conversion, Number};
use crate::lanes::Slot;

/// A decoded instruction of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub operation: Operation,
    /// The predicate that selects the lanes, and whether it is negated.
    pub guard: Option<(Slot, bool)>,
    /// Whether a basic block starts here.
    pub leads: bool,
    /// The number of instructions of the stretch that starts here; 0 if none does. A stretch is a sequence of
    /// instructions that a warp executes with the same active lanes, because only its last instruction can branch, wait
    /// or access memory.
    pub stretch: u32,
    /// The index of its place in the source, in `Kernel::places`.
    pub place: u32,
    /// The priority of diverged lanes: those at the lowest rank run first, so that lanes reconverge where their paths
    /// join.
    pub rank: u32,
}

impl From<Operation> for Instruction {
    fn from(operation: Operation) -> Self {
        Self { operation, guard: None, leads: false, stretch: 0, place: 0, rank: 0 }
    }
}

/// The operation of an instruction. `to` is the result, `of` are the operands. A flag beside a predicate is true if it
/// is negated.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// An instruction in the table of `arithmetic`.
    Compute { function: Function, kind: Type, to: Slot, of: [Slot; 4] },
    /// The flags are true for registers of 64 bits.
    Convert { conversion: Conversion, to: (Slot, bool), of: (Slot, bool) },
    /// `setp`
    Compare(Comparison),
    /// `selp`
    Select { wide: bool, to: Slot, of: [Slot; 2], by: (Slot, bool) },
    /// `and`, `or`, `xor`, `not` and `mov` of predicates
    Logic { logic: Logic, to: Slot, of: [(Slot, bool); 2] },
    /// `ld`
    Load(Access),
    /// `st`
    Store(Access),
    /// `atom` and `red`
    Atomic(Atomic),
    /// An operation that lanes execute together. Each lane has the mask of those that take part in `members`.
    Collective { collective: Collective, members: Slot },
    /// `activemask`
    ActiveMask { to: Slot },
    /// `barrier` of a block
    Barrier(Barrier),
    /// `mbarrier`
    Mbarrier(Mbarrier),
    /// An asynchronous copy from global to shared memory (`cp.async.bulk`).
    Copy(Copies),
    /// A fence between ordinary accesses (`membar`, `fence`).
    Fence,
    /// A fence between ordinary accesses to shared memory and asynchronous copies (`fence.proxy.async`).
    ProxyFence,
    /// Waits until the launches that a dependent launch may overlap with have ended (`griddepcontrol.wait`).
    WaitForEarlier,
    /// A branch to the instruction with this index.
    Branch { target: u32 },
    /// The end of the threads of the active lanes.
    Exit,
    /// Yields to other warps (`nanosleep`).
    Sleep,
    /// A read of a clock register, which advances with every read.
    Clock { wide: bool, to: Slot },
    /// `trap`: ends the launch with an error
    Trap,
}

/// A comparison of two numbers, whose result is a predicate (`setp`). The result is combined with the predicate `with`,
/// and so is its negation, which is written to `negated`.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    pub relation: Relation,
    pub kind: Type,
    pub of: [Slot; 2],
    pub to: Slot,
    pub negated: Option<Slot>,
    pub with: Option<(Logic, (Slot, bool))>,
}

#[derive(Clone, Copy, Debug)]
pub enum Collective {
    /// An exchange of values between lanes (PTX ISA, section 9.7.9.6). The predicate `in_range` receives whether the
    /// source lane is in range. The register `by` has the number of the lane, the distance or the mask, and `clamp` has
    /// the segment mask and the limit.
    Shuffle { source: Source, to: Slot, in_range: Option<Slot>, of: Slot, by: Slot, clamp: Slot },
    /// A vote on a predicate (`vote.sync`).
    Vote { vote: Vote, to: Slot, of: (Slot, bool) },
    /// The lanes with equal values (`match.sync`): for each lane the mask of those with its value. With `all`, it is
    /// the mask of all members if all values are equal, else 0, and the inner register receives whether they are.
    Match { all: Option<Option<Slot>>, wide: bool, to: Slot, of: Slot },
    /// `redux.sync`
    Reduce { update: Update, kind: Type, to: Slot, of: Slot },
    /// The product of matrices of doubles `of` + `left` × `right` (`mma.sync.m8n8k4`).
    Multiply { to: [Slot; 2], left: Slot, right: Slot, of: [Slot; 2] },
    /// `__syncwarp`
    Barrier,
}

/// A barrier of a block, or of a number of its threads.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    /// The register with the number of the barrier.
    pub number: Slot,
    /// The register with the number of threads; `None` for the whole block.
    pub threads: Option<Slot>,
    /// Whether the threads wait; false for `barrier.arrive`.
    pub waits: bool,
    /// The reduction of a predicate over all threads at the barrier (`barrier.red`).
    pub question: Option<Question>,
}

#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// [`Vote::All`], [`Vote::Any`], or [`Vote::Ballot`] for the number of threads.
    pub vote: Vote,
    pub of: (Slot, bool),
    /// A predicate, or a word for the number of threads.
    pub to: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    And,
    Or,
    Xor,
    /// The first predicate; the second one is ignored.
    First,
}

/// The state space of an access (PTX ISA, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    Constant,
    Shared,
    Local,
    /// Global, shared or local memory, depending on the address.
    Generic,
}

/// An address: a register of 64 bits (`wide`) or 32 bits, plus an offset in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub register: Slot,
    pub wide: bool,
    pub offset: i64,
}

/// The memory order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A data race with another thread is an error.
    Weak,
    /// A weak read of data that no thread writes while the kernel runs (`ld.global.nc`).
    ReadOnly,
    /// Strong but without ordering of other accesses (`.volatile`, `.relaxed`).
    Relaxed,
    /// Strong; accesses after it see what the writer released.
    Acquire,
    /// Strong; threads that acquire it see what was written before it.
    Release,
}

impl Order {
    /// Returns whether the access does not race with other strong accesses.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Relaxed | Self::Acquire | Self::Release)
    }
}

/// A load or a store of up to four contiguous elements per lane.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub space: Space,
    pub address: Address,
    /// The size of an element in bytes.
    pub bytes: u8,
    /// The number of elements per lane: 1, 2 or 4.
    pub count: u8,
    /// Whether the registers have 64 bits.
    pub wide: bool,
    /// Whether an element is sign-extended in its register.
    pub signed: bool,
    pub registers: [Slot; 4],
    pub order: Order,
    /// Whether the access bypasses the first-level cache (`.cg`, `.cv`), which does not change the result.
    pub past_l1: bool,
    /// Whether the data are expected to be used once (`.cs`, `.lu`), which does not change the result.
    pub once: bool,
}

impl Access {
    /// Returns the size of all elements of a lane in bytes.
    pub fn size(&self) -> usize {
        usize::from(self.bytes) * usize::from(self.count)
    }

    pub fn registers(&self) -> &[Slot] {
        &self.registers[..usize::from(self.count)]
    }
}

/// The function of an atomic operation, which computes the new value from the old one and the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// Writes the second operand if the old value is equal to the first.
    CompareAndSwap,
    /// Adds 1, and wraps to 0 if the old value is not below the operand.
    Increment,
    /// Subtracts 1, and wraps to the operand if the old value is 0 or above the operand.
    Decrement,
}

/// An atomic operation on one element per lane.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    pub space: Space,
    pub address: Address,
    pub update: Update,
    pub kind: Type,
    /// The register for the old value, if the operation returns it.
    pub to: Option<Slot>,
    /// The operand twice; for [`Update::CompareAndSwap`] the compared value and the new value.
    pub of: [Slot; 2],
    pub order: Order,
}

/// The source lane of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The lane at a distance below.
    Up,
    /// The lane at a distance above.
    Down,
    /// The lane whose number differs in the bits of a mask.
    Butterfly,
    /// The lane with a given number.
    Index,
}

/// An operation on an mbarrier, a barrier in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Mbarrier {
    pub address: Address,
    pub action: MbarrierAction,
}

#[derive(Clone, Copy, Debug)]
pub enum MbarrierAction {
    /// The register has the number of arrivals that complete a phase.
    Init(Slot),
    /// Arrives once. The register `bytes` has the number of bytes to expect (`expect_tx`); the destination receives the
    /// state, which is the number of the phase.
    Arrive { to: Slot, bytes: Option<Slot> },
    /// Sets a predicate to whether the phase with a parity is complete. The flag is true for `try_wait`, which may wait
    /// for it.
    Wait { to: Slot, parity: Slot, blocks: bool },
}

#[derive(Clone, Copy, Debug)]
pub struct Copies {
    pub to: Address,
    pub from: Address,
    pub bytes: Slot,
    pub mbarrier: Address,
    /// The register with the policy of the second-level cache (`createpolicy`), which does not change the result.
    pub policy: Option<Slot>,
}

/// The policy of data that are the first to be evicted from the second-level cache (`L2::evict_first`).
pub const EVICT_FIRST: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    All,
    Any,
    /// Whether the predicate is the same in all lanes.
    Uniform,
    /// The mask of the lanes in which the predicate is true.
    Ballot,
}

impl Operation {
    /// Returns whether the operation costs no machine instruction: moves between registers and conversions between
    /// integers.
    pub fn is_free(&self) -> bool {
        use Function::{HighHalf, LowHalf, Move, Pack};
        match self {
            Self::Compute { function, .. } => matches!(function, Move | Pack | LowHalf | HighHalf),
            Self::Convert { conversion: Conversion { from, to, .. }, .. } => {
                !matches!(from, Number::Float(_)) && !matches!(to, Number::Float(_))
            }
            _ => false,
        }
    }

    /// Returns the CUDA name of an operation for which lanes of a warp wait for each other; `None` for others.
    pub fn meeting(&self) -> Option<&'static str> {
        let Self::Collective { collective, .. } = self else {
            return matches!(self, Self::Barrier(_)).then_some("__syncthreads");
        };
        Some(match collective {
            Collective::Shuffle { source: Source::Up, .. } => "__shfl_up_sync",
            Collective::Shuffle { source: Source::Down, .. } => "__shfl_down_sync",
            Collective::Shuffle { source: Source::Butterfly, .. } => "__shfl_xor_sync",
            Collective::Shuffle { source: Source::Index, .. } => "__shfl_sync",
            Collective::Vote { vote: Vote::All, .. } => "__all_sync",
            Collective::Vote { vote: Vote::Any, .. } => "__any_sync",
            Collective::Vote { vote: Vote::Uniform, .. } => "vote.sync.uni",
            Collective::Vote { vote: Vote::Ballot, .. } => "__ballot_sync",
            Collective::Match { all: Some(_), .. } => "__match_all_sync",
            Collective::Match { all: None, .. } => "__match_any_sync",
            Collective::Reduce { update: Update::Add, .. } => "__reduce_add_sync",
            Collective::Reduce { update: Update::Min, .. } => "__reduce_min_sync",
            Collective::Reduce { update: Update::Max, .. } => "__reduce_max_sync",
            Collective::Reduce { update: Update::And, .. } => "__reduce_and_sync",
            Collective::Reduce { update: Update::Or, .. } => "__reduce_or_sync",
            Collective::Reduce { .. } => "__reduce_xor_sync",
            Collective::Multiply { .. } => "mma.sync",
            Collective::Barrier => "__syncwarp",
        })
    }

    pub fn accesses_memory(&self) -> bool {
        matches!(self, Self::Load(_) | Self::Store(_) | Self::Atomic(_) | Self::Mbarrier(_) | Self::Copy(_))
    }

    /// Returns whether the next instruction may be another one than that behind it.
    pub fn jumps(&self) -> bool {
        matches!(self, Self::Branch { .. } | Self::Exit | Self::Trap)
    }
}
