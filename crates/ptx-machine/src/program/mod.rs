//! Kernels in the form that the machine executes: instructions whose registers are resolved to indices of banks.

mod collective;
mod decode;
mod decoder;
mod flow;
mod kernel;
mod memory;
mod operands;
mod operation;
mod predicate;
mod schedule;
mod slots;
mod waits;

use crate::ptx;
pub use kernel::{Constant, Kernel, Parameter, Special, Variable};
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
