//! Kernels in the form that the machine executes: instructions whose registers are resolved to indices of banks.

mod bulk;
mod decode;
mod flow;
mod memory;
mod names;
mod operands;
mod operation;
mod schedule;
mod slots;
mod together;
mod values;
mod waits;

use crate::lanes::Slot;
use crate::ptx::{self, Place};
pub use operation::{
    Access, Address, Atomic, Barrier, Comparison, Copies, EVICT_FIRST, Logic, Matrices, Mbarrier,
    MbarrierAction, Operation, Order, Question, Shuffle, Source, Space, Update, Vote, Wide,
};

/// A program: the kernels and variables of a PTX text.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The variables in global and constant memory.
    pub variables: Vec<Variable>,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The symbol in PTX.
    pub name: String,
    /// The offset in the state space; unused for variables in global and constant memory, which are placed when the
    /// module is loaded.
    pub offset: usize,
    /// The size in bytes.
    pub bytes: usize,
    /// The first bytes of the initial value; the others are zero.
    pub initial: Vec<u8>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The offset in the bytes of the arguments.
    pub offset: usize,
    /// The size in bytes.
    pub bytes: usize,
    /// Whether the parameter is a floating-point number, not an integer, pointer or structure.
    pub is_float: bool,
}

impl Parameter {
    /// Returns the offset after the parameter in the bytes of the arguments.
    pub fn end(&self) -> usize {
        self.offset + self.bytes
    }
}

/// A decoded kernel, ready to be executed.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The name of the kernel.
    pub name: String,
    /// The instructions in order; the last one does not fall through.
    pub code: Vec<Instruction>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The maximum number of threads per block, if the kernel declares it.
    pub max_threads: Option<usize>,
    /// The number of registers in each bank: predicates, words, doubles.
    pub registers: [usize; 3],
    /// The registers that are constant during the execution.
    pub constants: Vec<(Bank, Slot, Constant)>,
    /// The arrays in shared memory. Their offsets leave gaps that no access may touch.
    pub shared: Vec<Variable>,
    /// The offset of dynamic shared memory, after the arrays.
    pub shared_end: usize,
    /// The size of the arrays in shared memory without the gaps, as on a GPU, in bytes.
    pub shared_bytes: usize,
    /// The size of the local memory of a thread in bytes.
    pub local_bytes: usize,
    /// The places in the source, indexed by [`Instruction::place`].
    pub places: Vec<String>,
}

/// The bank of a register, which depends on its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bank {
    /// Predicates: one bit for each lane.
    Predicate,
    /// Registers of at most 32 bits.
    Word,
    /// Registers of 64 bits.
    Double,
}

/// The value of a constant register, which no instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// A literal value.
    Bits(u64),
    /// Bytes of the arguments: their offset, their number, and whether they are sign-extended.
    Argument(usize, u8, bool),
    /// The address of a variable of the module, by its number.
    Address(usize),
    /// A special register.
    Special(Special),
}

/// A special register that is constant while a block runs (PTX ISA, section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// The thread's index in its block, by dimension.
    Thread(u8),
    /// The number of threads per block, by dimension.
    BlockShape(u8),
    /// The block's index in the grid.
    Block(u8),
    /// The number of blocks, by dimension.
    GridShape(u8),
    /// The lane in its warp.
    Lane,
    /// The index of the warp in its block.
    Warp,
    /// The mask of this lane.
    LaneMask,
    /// The mask of the lower lanes.
    LowerLanes,
    /// The mask of the lower lanes and this one.
    LowerLanesAndThis,
    /// The mask of the higher lanes.
    HigherLanes,
    /// The mask of the higher lanes and this one.
    HigherLanesAndThis,
    /// The size of the dynamic shared memory in bytes.
    DynamicShared,
}

/// A decoded instruction of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// The operation.
    pub operation: Operation,
    /// The predicate that selects the lanes, and whether it is negated.
    pub guard: Option<(Slot, bool)>,
    /// Whether a basic block starts here.
    pub leads: bool,
    /// The number of instructions of the stretch that starts here; 0 if none does. A stretch is a sequence of
    /// instructions that a warp executes with the same active lanes, because only its last instruction can branch, wait
    /// or access memory.
    pub stretch: u32,
    /// The index of its place in the source: see [`Kernel::places`].
    pub place: u32,
    /// The line in the PTX text, from 1.
    pub line: u32,
    /// The priority of diverged lanes: those at the lowest rank run first, so that lanes reconverge where their paths
    /// join.
    pub rank: u32,
}

impl Program {
    /// Parses a PTX text.
    ///
    /// # Errors
    /// Returns an error if the text is not PTX, or for the first instruction or declaration that is not supported.
    pub fn parse(text: &str) -> Result<Self, ptx::Error> {
        let module = ptx::parse(text)?;
        let mut program = Self::default();
        for variable in module.variables.iter().filter(|variable| variable.space != "shared") {
            program.variables.push(Variable {
                name: variable.name.to_owned(),
                offset: 0,
                bytes: variable.bytes,
                initial: variable.initial.clone(),
            });
        }
        for entry in &module.entries {
            program.kernels.push(decode::kernel(&module, entry)?);
        }
        Ok(program)
    }
}

impl Kernel {
    /// Returns for each instruction whether it uses a register for which a load from global memory may be outstanding.
    pub fn waits(&self) -> Vec<bool> {
        waits::waits(&self.code)
    }

    /// Returns the stretches of the code as ranges of instructions.
    pub fn stretches(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let begin = self.code.iter().enumerate().filter(|(_, instruction)| instruction.stretch > 0);
        begin.map(|(at, instruction)| at..at + instruction.stretch as usize)
    }

    /// Returns whether the kernel uses a variable of its program.
    pub fn uses(&self, variable: usize) -> bool {
        self.constants.iter().any(|(_, _, constant)| *constant == Constant::Address(variable))
    }

    /// Returns the file and the line of an instruction's source, without the call through which it was inlined.
    pub fn line(&self, instruction: usize) -> (&str, usize) {
        let place = self.place(instruction);
        let place = place.split(' ').next().unwrap_or(place);
        let (file, line) = place.split_once(':').unwrap_or((place, ""));
        (file, line.parse().unwrap_or(0))
    }

    /// Returns the place of an instruction in the source, for example `merge.cu:42`, with the call through which it was
    /// inlined.
    pub fn place(&self, instruction: usize) -> &str {
        &self.places[self.code[instruction].place as usize]
    }
}

/// Formats a place in the source.
fn place_name(module: &ptx::Module, place: Place) -> String {
    let name = |(file, line): (u64, u64)| {
        let path = module.files.iter().find(|(number, _)| *number == file);
        let file = path.map_or("?", |(_, path)| path.rsplit('/').next().unwrap_or(path));
        format!("{file}:{line}")
    };
    match place.inlined_at {
        None => name(place.at),
        Some(call) => format!("{} (inlined at {})", name(place.at), name(call)),
    }
}
