//! Kernels in the form that the machine executes: instructions whose registers are resolved to indices of banks.

mod collective;
mod decode;
mod flow;
mod memory;
mod names;
mod operands;
mod operation;
mod predicate;
mod schedule;
mod slots;
mod waits;

use crate::lanes::Slot;
use crate::ptx;
pub use names::{Constant, Special};
pub use operands::Bank;
pub use operation::*;
pub(crate) use waits::{loads, waits};

/// A program: the kernels and variables of a PTX text.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub kernels: Vec<Kernel>,
    /// The variables in global and constant memory.
    pub variables: Vec<Variable>,
}

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

impl Program {
    /// Parses a PTX text. Fails for the first instruction or declaration that is not supported.
    pub fn parse(text: &str) -> Result<Self, String> {
        let module = ptx::parse(text)?;
        let variables = module.variables_in_memory().map(|variable| Variable {
            name: variable.name.to_owned(),
            offset: 0,
            bytes: variable.bytes,
            initial: variable.initial.clone(),
        });
        let kernels = module.entries.iter().map(|entry| decode::kernel(&module, entry));
        Ok(Self { kernels: kernels.collect::<Result<_, _>>()?, variables: variables.collect() })
    }
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
