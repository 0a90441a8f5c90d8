//! A kernel as the machine executes it: instructions with registers resolved to places in their banks.

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
    Access, Address, Atomic, Barrier, Comparison, Logic, Operation, Order, Question, Shuffle,
    Source, Space, Update, Vote, Wide,
};

/// A program: all that a PTX text defines.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Kernels.
    pub kernels: Vec<Kernel>,
    /// Variables in global and constant memory.
    pub variables: Vec<Variable>,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its symbol.
    pub name: String,
    /// Where it begins in its space; in global and constant memory the module's loading decides.
    pub offset: usize,
    /// Its size.
    pub bytes: usize,
    /// What it holds at the beginning, followed by zeros.
    pub initial: Vec<u8>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Where it lies among the bytes of the arguments.
    pub offset: usize,
    /// Its size.
    pub bytes: usize,
    /// Whether it is a floating-point number, and no integer, pointer or structure.
    pub is_float: bool,
}

impl Parameter {
    /// Where it ends among the bytes of the arguments.
    pub fn end(&self) -> usize {
        self.offset + self.bytes
    }
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Instructions in order; the last one does not fall through.
    pub code: Vec<Instruction>,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The most threads that a block may have, where the kernel says it.
    pub max_threads: Option<usize>,
    /// Registers in each bank: predicates, words, doubles.
    pub registers: [usize; 3],
    /// Registers that hold the same value throughout.
    pub constants: Vec<(Bank, Slot, Constant)>,
    /// Arrays in shared memory, by their offsets, which leave gaps that no access may touch.
    pub shared: Vec<Variable>,
    /// The end of the shared arrays; dynamic shared memory begins here.
    pub shared_end: usize,
    /// Bytes of shared memory that the arrays take on a GPU, without the gaps.
    pub shared_bytes: usize,
    /// Bytes of local memory of a thread.
    pub local_bytes: usize,
    /// Places in the source, as [`Instruction::place`] numbers them.
    pub places: Vec<String>,
}

/// The three sizes of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bank {
    /// One bit.
    Predicate,
    /// At most 32 bits.
    Word,
    /// 64 bits.
    Double,
}

/// What a register holds that no instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// These bits.
    Bits(u64),
    /// Bytes of the arguments, from an offset: how many, and whether the sign fills those above.
    Argument(usize, u8, bool),
    /// The address of a variable of the module.
    Address(usize),
    /// A special register.
    Special(Special),
}

/// A special register that does not change while a block runs (PTX ISA, section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// The thread's index in its block, by dimension.
    Thread(u8),
    /// The shape of a block.
    BlockShape(u8),
    /// The block's index in the grid.
    Block(u8),
    /// The shape of the grid.
    GridShape(u8),
    /// The lane.
    Lane,
    /// The warp in its block.
    Warp,
    /// Bit `lane`.
    LaneMask,
    /// The bits of lower lanes.
    LowerLanes,
    /// The bits of lower lanes and of this one.
    LowerLanesAndThis,
    /// The bits of higher lanes.
    HigherLanes,
    /// The bits of higher lanes and of this one.
    HigherLanesAndThis,
    /// Bytes of dynamic shared memory.
    DynamicShared,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// The predicate that says which lanes execute it, and whether it is negated.
    pub guard: Option<(Slot, bool)>,
    /// Whether a basic block begins here.
    pub leads: bool,
    /// Where a stretch begins: how many instructions it has; 0 elsewhere. A warp that begins a stretch
    /// executes all of it with the same lanes, as only its last instruction may change what follows.
    pub stretch: u32,
    /// Where it comes from: see [`Kernel::places`].
    pub place: u32,
    /// Its line in the PTX text.
    pub line: u32,
    /// The order in which diverged lanes go on: those at the lowest rank first, so that they meet where
    /// their paths join.
    pub rank: u32,
}

impl Program {
    /// The kernels of a PTX text.
    ///
    /// # Errors
    /// What is no PTX, and the first instruction or declaration that the machine does not know.
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
    /// By instruction: whether it uses a register that a load from global memory may still be bringing.
    pub fn waits(&self) -> Vec<bool> {
        waits::waits(&self.code)
    }

    /// The stretches of its code, by their first and the number of their instructions.
    pub fn stretches(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let begin = self.code.iter().enumerate().filter(|(_, instruction)| instruction.stretch > 0);
        begin.map(|(at, instruction)| at..at + instruction.stretch as usize)
    }

    /// Whether it uses that variable of its program.
    pub fn uses(&self, variable: usize) -> bool {
        self.constants.iter().any(|(_, _, constant)| *constant == Constant::Address(variable))
    }

    /// The file and the line that an instruction stands in, wherever it was inlined.
    pub fn line(&self, instruction: usize) -> (&str, usize) {
        let place = self.place(instruction);
        let place = place.split(' ').next().unwrap_or(place);
        let (file, line) = place.split_once(':').unwrap_or((place, ""));
        (file, line.parse().unwrap_or(0))
    }

    /// Where an instruction comes from: `merge.cu:42`, with the call through which it was inlined.
    pub fn place(&self, instruction: usize) -> &str {
        &self.places[self.code[instruction].place as usize]
    }
}

/// A place in words.
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
