//! What instructions do, with registers resolved to places in their banks.

use crate::arithmetic::{Function, Type};
use crate::compare::Relation;
use crate::convert::Conversion;
use crate::lanes::Slot;

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Arithmetic or logic on numbers.
    Compute { function: Function, kind: Type, wide: Wide, to: Slot, of: [Slot; 4] },
    /// A conversion; the flags say whether a register has 64 bits.
    Convert { conversion: Conversion, to: (Slot, bool), of: (Slot, bool) },
    /// A comparison of two numbers, whose result is a predicate (`setp`).
    Compare { relation: Relation, kind: Type, of: [Slot; 2], result: Comparison },
    /// One of two values, by a predicate.
    Select { wide: bool, to: Slot, of: [Slot; 2], by: (Slot, bool) },
    /// A logical operation on two predicates.
    Logic { logic: Logic, to: Slot, of: [(Slot, bool); 2] },
    /// Each active lane loads from memory into its registers.
    Load(Access),
    /// Each active lane stores its registers to memory.
    Store(Access),
    /// An operation on memory that nothing comes between.
    Atomic(Atomic),
    /// An exchange of values between lanes.
    Shuffle(Shuffle),
    /// A question to all lanes.
    Vote { vote: Vote, to: Slot, of: (Slot, bool), members: Slot },
    /// Whose values are the same: for each lane those that have its own, or all if all have it.
    Match { all: Option<Option<Slot>>, wide: bool, to: Slot, of: Slot, members: Slot },
    /// One value from those of all lanes.
    Reduce { update: Update, kind: Type, to: Slot, of: Slot, members: Slot },
    /// The lanes that are executing this.
    ActiveMask { to: Slot },
    /// A barrier of lanes.
    WarpBarrier { members: Slot },
    /// A barrier of a block, or of as many threads of it as said.
    Barrier(Barrier),
    /// Orders the accesses to memory before it and after it.
    Fence,
    /// Goes on elsewhere: the number of an instruction.
    Branch { target: u32 },
    /// The threads of the active lanes end.
    Exit,
    /// The warp lets other warps run (`nanosleep`).
    Sleep,
    /// A clock that never stands still.
    Clock { wide: bool, to: Slot },
    /// Ends the launch with an error.
    Trap,
}

/// A barrier of threads of a block.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    /// The register of its number.
    pub number: Slot,
    /// The register of how many threads meet; `None` for the whole block.
    pub threads: Option<Slot>,
    /// Whether the threads wait for each other.
    pub waits: bool,
    /// A question to all threads that meet.
    pub question: Option<Question>,
}

/// A question to all threads that meet at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// [`Vote::All`], [`Vote::Any`], or [`Vote::Ballot`] for how many.
    pub vote: Vote,
    /// The predicate that is asked for, and whether it is negated.
    pub of: (Slot, bool),
    /// The register of the answer: a predicate, or a word for how many.
    pub to: Slot,
}

/// Which registers of a [`Operation::Compute`] have 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    /// Whether the result's register has 64 bits.
    pub to: bool,
    /// How many operands there are.
    pub count: u8,
    /// One bit for each operand.
    pub of: u8,
}

/// What becomes of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The predicate that it is written to.
    pub to: Slot,
    /// The predicate that its negation is written to.
    pub negated: Option<Slot>,
    /// What it is combined with before: the operation, a predicate and whether that is negated.
    pub with: Option<(Logic, Slot, bool)>,
}

/// The logical operations on two predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// True where both predicates are.
    And,
    /// True where at least one of them is.
    Or,
    /// True where exactly one of them is.
    Xor,
    /// The first predicate, whatever the second one is.
    First,
}

/// The memory that an access names (PTX ISA, state spaces).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The memory of the device, which all threads share.
    Global,
    /// Memory of the device that no kernel writes.
    Constant,
    /// The shared memory of a block.
    Shared,
    /// Memory of a single thread.
    Local,
    /// Global, shared or local memory, whichever the address lies in.
    Generic,
}

/// An address: a register, or a constant one, and the bytes that are added.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// The register that the address is counted from.
    pub register: Slot,
    /// Whether it has 64 bits.
    pub wide: bool,
    /// The bytes that are added.
    pub offset: i64,
}

/// How an access to memory is ordered among those of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Not at all; a race with another thread is an error.
    Weak,
    /// The same, and nobody writes there while the kernel runs (`ld.global.nc`).
    ReadOnly,
    /// Seen by others at some time (`.volatile`, `.relaxed`).
    Relaxed,
    /// The same, and what the writer released before is seen afterwards (`.acquire`).
    Acquire,
    /// The same, and what was written before is seen by those that acquire it (`.release`).
    Release,
}

/// A load or a store of up to four elements that lie side by side.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Which memory it accesses.
    pub space: Space,
    /// The address, by lane.
    pub address: Address,
    /// Bytes of an element.
    pub bytes: u8,
    /// How many elements a lane accesses, from 1 to 4.
    pub count: u8,
    /// Whether registers have 64 bits.
    pub wide: bool,
    /// Whether the sign fills the bits of the register above the element.
    pub signed: bool,
    /// The registers that are loaded or stored, one for each element.
    pub registers: [Slot; 4],
    /// See [`Order`].
    pub order: Order,
    /// Whether it passes by the first-level cache (`.cg`, `.cv`), which changes no result.
    pub past_l1: bool,
}

impl Operation {
    /// What lanes do together, as CUDA calls it.
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
            Self::WarpBarrier { .. } => "__syncwarp",
            Self::Barrier(_) => "__syncthreads",
            _ => return None,
        })
    }

    /// Whether it reads or writes memory.
    pub fn accesses_memory(&self) -> bool {
        matches!(self, Self::Load(_) | Self::Store(_) | Self::Atomic(_))
    }
}

impl Order {
    /// Whether it is ordered among those of other threads.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Relaxed | Self::Acquire | Self::Release)
    }
}

impl Access {
    /// Bytes of all elements.
    pub fn size(&self) -> usize {
        usize::from(self.bytes) * usize::from(self.count)
    }
}

/// What an atomic operation does with the old value and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// Exchanges where the old value is the second operand.
    CompareAndSwap,
    /// One more, and 0 beyond the operand.
    Increment,
    /// One less, and the operand below 0 or beyond it.
    Decrement,
}

/// An atomic operation on one element.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// Shared, global or generic.
    pub space: Space,
    /// The address, by lane.
    pub address: Address,
    /// What becomes of the old value.
    pub update: Update,
    /// The type of the element.
    pub kind: Type,
    /// Whether the element has 64 bits.
    pub wide: bool,
    /// The register of the old value, where it is asked for.
    pub to: Option<Slot>,
    /// The operand; for [`Update::CompareAndSwap`] first what is compared, then what is written.
    pub of: [Slot; 2],
    /// See [`Order`].
    pub order: Order,
}

/// The lane that a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// So many lanes lower.
    Up,
    /// So many lanes higher.
    Down,
    /// With these bits flipped.
    Butterfly,
    /// The lane of this number.
    Index,
}

/// An exchange of values between lanes (PTX ISA, section 9.7.9.6).
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    /// The lane that is read.
    pub source: Source,
    /// The register that receives the value.
    pub to: Slot,
    /// The predicate that says whether that lane was in range.
    pub in_range: Option<Slot>,
    /// The register whose value is exchanged.
    pub of: Slot,
    /// The lane, or the distance to it.
    pub by: Slot,
    /// The mask of segments and the limit.
    pub clamp: Slot,
    /// The lanes that take part.
    pub members: Slot,
}

/// A question to all lanes that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Whether it holds for all.
    All,
    /// Whether it holds for one.
    Any,
    /// Whether it is the same for all.
    Uniform,
    /// For which it holds.
    Ballot,
}
