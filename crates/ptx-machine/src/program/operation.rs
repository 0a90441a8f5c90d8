//! The operations of instructions, with registers resolved to indices of banks.

use crate::arithmetic::{Function, Type};
use crate::compare::Relation;
use crate::convert::Conversion;
use crate::lanes::Slot;

/// The operation of an instruction.
#[allow(missing_docs)] // the types of the fields are documented; `to` is the result and `of` are the operands
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// An arithmetic or logical function of numbers.
    Compute { function: Function, kind: Type, wide: Wide, to: Slot, of: [Slot; 4] },
    /// A conversion. The flags are true for registers of 64 bits.
    Convert { conversion: Conversion, to: (Slot, bool), of: (Slot, bool) },
    /// A comparison of two numbers, whose result is a predicate (`setp`).
    Compare { relation: Relation, kind: Type, of: [Slot; 2], result: Comparison },
    /// The selection of one of two values by a predicate (`selp`).
    Select { wide: bool, to: Slot, of: [Slot; 2], by: (Slot, bool) },
    /// A logical operation on two predicates.
    Logic { logic: Logic, to: Slot, of: [(Slot, bool); 2] },
    /// A load from memory into registers.
    Load(Access),
    /// A store of registers to memory.
    Store(Access),
    /// An atomic operation on memory.
    Atomic(Atomic),
    /// An exchange of values between lanes.
    Shuffle(Shuffle),
    /// A vote on a predicate of all member lanes (`vote.sync`).
    Vote { vote: Vote, to: Slot, of: (Slot, bool), members: Slot },
    /// The lanes with equal values (`match.sync`): for each lane the mask of those with its value. With `all`, it is
    /// the mask of all members if all values are equal, else 0, and the inner register receives whether they are.
    Match { all: Option<Option<Slot>>, wide: bool, to: Slot, of: Slot, members: Slot },
    /// A reduction of the values of all member lanes (`redux.sync`).
    Reduce { update: Update, kind: Type, to: Slot, of: Slot, members: Slot },
    /// The product of two matrices of doubles, which all lanes hold together (`mma.sync.m8n8k4`).
    Multiply(Matrices),
    /// The mask of the active lanes.
    ActiveMask { to: Slot },
    /// A barrier of the lanes of a warp (`__syncwarp`).
    WarpBarrier { members: Slot },
    /// A barrier of a block, or of a number of its threads.
    Barrier(Barrier),
    /// An operation on an mbarrier.
    Mbarrier(Mbarrier),
    /// An asynchronous copy from global to shared memory (`cp.async.bulk`).
    Copy(Copies),
    /// A memory fence.
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
    /// Ends the launch with an error.
    Trap,
}

/// A barrier of threads of a block.
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

/// The reduction of a predicate over all threads at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The kind of reduction: [`Vote::All`], [`Vote::Any`], or [`Vote::Ballot`] for the number of threads.
    pub vote: Vote,
    /// The predicate, and whether it is negated.
    pub of: (Slot, bool),
    /// The destination: a predicate, or a word for the number of threads.
    pub to: Slot,
}

/// The register sizes of an [`Operation::Compute`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    /// Whether the result has 64 bits.
    pub to: bool,
    /// The number of operands.
    pub count: u8,
    /// One bit for each operand: whether it has 64 bits.
    pub of: u8,
}

/// The destinations of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The predicate for the result.
    pub to: Slot,
    /// The predicate for the negated result.
    pub negated: Option<Slot>,
    /// The operation that combines the result with another predicate, this predicate, and whether it is negated.
    pub with: Option<(Logic, Slot, bool)>,
}

/// A logical operation on two predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// True if both predicates are true.
    And,
    /// True if at least one of them is true.
    Or,
    /// True if exactly one of them is true.
    Xor,
    /// The first predicate; the second one is ignored.
    First,
}

/// The state space of an access (PTX ISA, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Global memory, which all threads share.
    Global,
    /// Constant memory, which no kernel writes.
    Constant,
    /// The shared memory of a block.
    Shared,
    /// The local memory of a thread.
    Local,
    /// Global, shared or local memory, depending on the address.
    Generic,
}

/// An address: a register plus a constant offset.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// The base register.
    pub register: Slot,
    /// Whether the base register has 64 bits.
    pub wide: bool,
    /// The offset in bytes.
    pub offset: i64,
}

/// The memory order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Weak: a data race with another thread is an error.
    Weak,
    /// A weak read of data that no thread writes while the kernel runs (`ld.global.nc`).
    ReadOnly,
    /// Strong but without ordering of other accesses (`.volatile`, `.relaxed`).
    Relaxed,
    /// Strong; accesses after it see what the writer released (`.acquire`).
    Acquire,
    /// Strong; threads that acquire it see what was written before it (`.release`).
    Release,
}

/// A load or a store of up to four contiguous elements per lane.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The state space.
    pub space: Space,
    /// The address of the first element.
    pub address: Address,
    /// The size of an element in bytes.
    pub bytes: u8,
    /// The number of elements per lane: 1, 2 or 4.
    pub count: u8,
    /// Whether the registers have 64 bits.
    pub wide: bool,
    /// Whether an element is sign-extended in its register.
    pub signed: bool,
    /// The registers, one for each element.
    pub registers: [Slot; 4],
    /// The memory order.
    pub order: Order,
    /// Whether the access bypasses the first-level cache (`.cg`, `.cv`), which does not change the result.
    pub past_l1: bool,
    /// Whether the data are expected to be used once (`.cs`, `.lu`), which does not change the result.
    pub once: bool,
}

impl Operation {
    /// Returns the CUDA name of a collective operation, which lanes of a warp execute together; `None` for others.
    pub fn together(&self) -> Option<&'static str> {
        Some(match self {
            Self::Shuffle(shuffle) => match shuffle.source {
                Source::Up => "__shfl_up_sync",
                Source::Down => "__shfl_down_sync",
                Source::Butterfly => "__shfl_xor_sync",
                Source::Index => "__shfl_sync",
            },
            Self::Vote { vote, .. } => match vote {
                Vote::All => "__all_sync",
                Vote::Any => "__any_sync",
                Vote::Uniform => "vote.sync.uni",
                Vote::Ballot => "__ballot_sync",
            },
            Self::Match { all: Some(_), .. } => "__match_all_sync",
            Self::Match { all: None, .. } => "__match_any_sync",
            Self::Reduce { update, .. } => match update {
                Update::Add => "__reduce_add_sync",
                Update::Min => "__reduce_min_sync",
                Update::Max => "__reduce_max_sync",
                Update::And => "__reduce_and_sync",
                Update::Or => "__reduce_or_sync",
                _ => "__reduce_xor_sync",
            },
            Self::Multiply(_) => "mma.sync",
            Self::WarpBarrier { .. } => "__syncwarp",
            Self::Barrier(_) => "__syncthreads",
            _ => return None,
        })
    }

    /// Returns whether the operation reads or writes memory.
    pub fn accesses_memory(&self) -> bool {
        matches!(
            self,
            Self::Load(_) | Self::Store(_) | Self::Atomic(_) | Self::Mbarrier(_) | Self::Copy(_)
        )
    }
}

impl Order {
    /// Returns whether the access is strong, so that it does not race with other strong accesses.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Relaxed | Self::Acquire | Self::Release)
    }
}

impl Access {
    /// Returns the size of all elements of a lane in bytes.
    pub fn size(&self) -> usize {
        usize::from(self.bytes) * usize::from(self.count)
    }
}

/// The function of an atomic operation, which computes the new value from the old one and the operand.
#[allow(missing_docs)] // the names are those of PTX
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
    /// The state space: shared, global or generic.
    pub space: Space,
    /// The address of the element.
    pub address: Address,
    /// The function.
    pub update: Update,
    /// The type of the element.
    pub kind: Type,
    /// Whether the element has 64 bits.
    pub wide: bool,
    /// The register for the old value, if the operation returns it.
    pub to: Option<Slot>,
    /// The operand twice; for [`Update::CompareAndSwap`] the compared value and the new value.
    pub of: [Slot; 2],
    /// The memory order.
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

/// An exchange of values between lanes (PTX ISA, section 9.7.9.6).
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    /// The source lane.
    pub source: Source,
    /// The destination register.
    pub to: Slot,
    /// The predicate that receives whether the source lane is in range.
    pub in_range: Option<Slot>,
    /// The register that is read.
    pub of: Slot,
    /// The register with the number of the lane, the distance or the mask.
    pub by: Slot,
    /// The register with the segment mask and the limit.
    pub clamp: Slot,
    /// The register with the mask of the member lanes.
    pub members: Slot,
}

/// The registers of C + A B, of 64 bits, where A has 8 × 4 elements, B has 4 × 8, and C has 8 × 8.
#[derive(Clone, Copy, Debug)]
pub struct Matrices {
    /// The destination registers.
    pub to: [Slot; 2],
    /// The register with the elements of A.
    pub left: Slot,
    /// The register with the elements of B.
    pub right: Slot,
    /// The registers with the elements of C.
    pub of: [Slot; 2],
}

/// An operation on an mbarrier, a barrier in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Mbarrier {
    /// The address of the mbarrier in shared memory.
    pub address: Address,
    /// What is done.
    pub action: MbarrierAction,
}

/// What an operation on an mbarrier does.
#[allow(missing_docs)] // `to` is the result
#[derive(Clone, Copy, Debug)]
pub enum MbarrierAction {
    /// Initialises it. The register has the number of arrivals that complete a phase.
    Init(Slot),
    /// Arrives once. The register `bytes` has the number of bytes to expect (`expect_tx`); the destination receives the
    /// state, which is the number of the phase.
    Arrive { to: Slot, bytes: Option<Slot> },
    /// Sets a predicate to whether the phase with a parity is complete. The flag is true for `try_wait`, which may wait
    /// for it.
    Wait { to: Slot, parity: Slot, blocks: bool },
}

/// An asynchronous copy from global to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    /// The destination in shared memory.
    pub to: Address,
    /// The source in global memory.
    pub from: Address,
    /// The register with the number of bytes.
    pub bytes: Slot,
    /// The address of the mbarrier that counts the copied bytes.
    pub mbarrier: Address,
    /// The register with the policy of the second-level cache (`createpolicy`), which does not change the result.
    pub policy: Option<Slot>,
}

/// The policy of data that are the first to be evicted from the second-level cache (`L2::evict_first`).
pub const EVICT_FIRST: u64 = 1;

/// The kind of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Whether the predicate is true in all lanes.
    All,
    /// Whether the predicate is true in any lane.
    Any,
    /// Whether the predicate is the same in all lanes.
    Uniform,
    /// The mask of the lanes in which the predicate is true.
    Ballot,
}
