//! A decoded kernel: its instructions, parameters, registers and arrays.

use super::operands::Bank;
use super::operation::Instruction;
use crate::arithmetic::Relation;
use crate::lanes::Slot;

#[derive(Clone, Debug)]
pub struct Variable {
    /// The symbol in PTX.
    pub name: String,
    /// The offset in the state space; unused for variables in global and constant memory, which are placed when the
    /// module is loaded.
    pub offset: usize,
    pub bytes: usize,
    /// The first bytes of the initial value; the others are zero.
    pub initial: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The offset in the bytes of the arguments.
    pub offset: usize,
    pub bytes: usize,
    /// Whether the parameter is a floating-point number, not an integer, pointer or structure.
    pub is_float: bool,
}

impl Parameter {
    pub fn end(&self) -> usize {
        self.offset + self.bytes
    }
}

/// A decoded kernel, ready to be executed.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    pub name: String,
    /// The instructions in order; the last one does not fall through.
    pub code: Vec<Instruction>,
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

/// The value of a constant register, which no instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// A literal value.
    Bits(u64),
    /// Bytes of the arguments: their offset, their number, and whether they are sign-extended.
    Argument(usize, u8, bool),
    /// The address of a variable of the module, by its number.
    Address(usize),
    Special(Special),
}

/// A special register that is constant while a block runs (PTX ISA, section 10). The numbers are dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    Thread(u8),
    BlockShape(u8),
    Block(u8),
    GridShape(u8),
    Lane,
    Warp,
    /// The lanes whose numbers are in this relation to that of the lane.
    LaneMask(Relation),
    /// The size of the dynamic shared memory in bytes.
    DynamicShared,
}

impl Kernel {
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
