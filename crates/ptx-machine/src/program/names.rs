//! Name resolution in a kernel: registers, special registers, variables and parameters.

use std::collections::HashMap;

use super::{Bank, Constant, Parameter, Special, Variable};
use crate::lanes::Slot;
use crate::ptx;

/// The minimum gap between two shared arrays in bytes. No access may touch it.
const GAP: usize = 256;
/// The size of one row of all banks of shared memory in bytes. The gaps do not change the bank of an element.
const BANKS: usize = 128;

/// The location of a variable or parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// An offset in shared memory.
    Shared(usize),
    /// An offset in local memory.
    Local(usize),
    /// A variable of the module, by its number.
    Module(usize),
    /// A parameter: its offset in the arguments and its size in bytes.
    Parameter(usize, usize),
}

/// The names of a kernel, and the registers that have been assigned so far.
pub struct Names<'a> {
    declared: HashMap<&'a str, (Bank, Option<u64>)>,
    registers: HashMap<&'a str, (Bank, Slot)>,
    constants: HashMap<(Bank, Constant), Slot>,
    symbols: HashMap<&'a str, Symbol>,
    /// The number of registers in each bank.
    pub counts: [usize; 3],
    /// The arrays in shared memory.
    pub shared: Vec<Variable>,
    /// The offset of dynamic shared memory.
    pub shared_end: usize,
    /// The size of the shared arrays without gaps, in bytes.
    pub shared_bytes: usize,
    /// The size of local memory per thread, in bytes.
    pub local_bytes: usize,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
}

impl<'a> Names<'a> {
    /// Collects the names of a kernel of `module`.
    ///
    /// # Errors
    /// Returns an error if a declared register type is not supported.
    pub fn new(module: &ptx::Module<'a>, entry: &ptx::Entry<'a>) -> Result<Self, String> {
        let mut names = Self {
            declared: HashMap::new(),
            registers: HashMap::new(),
            constants: HashMap::new(),
            symbols: HashMap::new(),
            counts: [0; 3],
            shared: Vec::new(),
            shared_end: 0,
            shared_bytes: 0,
            local_bytes: 0,
            parameters: Vec::new(),
        };
        for declared in &entry.registers {
            let bank = match declared.kind {
                ".pred" => Bank::Predicate,
                ".b16" | ".u16" | ".s16" | ".f16" | ".b32" | ".u32" | ".s32" | ".f32" => Bank::Word,
                ".b64" | ".u64" | ".s64" | ".f64" => Bank::Double,
                kind => return Err(format!("registers of the type {kind} are not supported")),
            };
            names.declared.insert(declared.name, (bank, declared.count));
        }
        names.place_parameters(entry);
        let outside = module.variables.iter().filter(|variable| variable.space != "shared");
        for (number, variable) in outside.enumerate() {
            names.symbols.insert(variable.name, Symbol::Module(number));
        }
        names.place_arrays(module, entry);
        Ok(names)
    }

    fn place_parameters(&mut self, entry: &ptx::Entry<'a>) {
        let mut end: usize = 0;
        for parameter in &entry.parameters {
            let offset = end.next_multiple_of(parameter.alignment);
            end = offset + parameter.bytes;
            let is_float = matches!(parameter.kind, ".f32" | ".f64");
            self.parameters.push(Parameter { offset, bytes: parameter.bytes, is_float });
            self.symbols.insert(parameter.name, Symbol::Parameter(offset, parameter.bytes));
        }
    }

    fn place_arrays(&mut self, module: &ptx::Module<'a>, entry: &ptx::Entry<'a>) {
        for variable in &entry.variables {
            if variable.space == "local" {
                let offset = self.local_bytes.next_multiple_of(variable.alignment);
                self.symbols.insert(variable.name, Symbol::Local(offset));
                self.local_bytes = offset + variable.bytes;
                continue;
            }
            let packed = self.shared_bytes.next_multiple_of(variable.alignment);
            self.shared_bytes = packed + variable.bytes;
            // The array starts in the same bank as without the gap.
            let offset = (self.shared_end + GAP).next_multiple_of(BANKS) + packed % BANKS;
            self.shared_end = offset + variable.bytes;
            self.symbols.insert(variable.name, Symbol::Shared(offset));
            self.shared.push(Variable {
                name: variable.name.to_owned(),
                offset,
                bytes: variable.bytes,
                initial: Vec::new(),
            });
        }
        // All shared variables outside kernels are names of the dynamic shared memory.
        let packed = self.shared_bytes.next_multiple_of(16);
        self.shared_end = (self.shared_end + GAP).next_multiple_of(BANKS) + packed % BANKS;
        for variable in module.variables.iter().filter(|variable| variable.space == "shared") {
            self.symbols.insert(variable.name, Symbol::Shared(self.shared_end));
        }
    }

    /// Returns the register with a name, if it is declared.
    pub fn register(&mut self, name: &'a str) -> Option<(Bank, Slot)> {
        if let Some(&known) = self.registers.get(name) {
            return Some(known);
        }
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let exact = self.declared.get(name).filter(|(_, count)| count.is_none());
        let numbered = self.declared.get(stem).filter(|(_, count)| {
            let number = name[stem.len()..].parse::<u64>();
            count.is_some_and(|count| number.is_ok_and(|number| number < count))
        });
        let &(bank, _) = exact.or(numbered)?;
        let slot = self.new_register(bank);
        self.registers.insert(name, (bank, slot));
        Some((bank, slot))
    }

    /// Returns a new register without a name. If there are more than [`Slot`] can number, the decoder rejects the
    /// kernel.
    pub fn new_register(&mut self, bank: Bank) -> Slot {
        let count = &mut self.counts[bank as usize];
        *count += 1;
        (*count - 1) as Slot
    }

    /// Returns the register of a constant.
    pub fn constant(&mut self, bank: Bank, constant: Constant) -> Slot {
        match self.constants.get(&(bank, constant)) {
            Some(&slot) => slot,
            None => {
                let slot = self.new_register(bank);
                self.constants.insert((bank, constant), slot);
                slot
            }
        }
    }

    /// Returns the location of the variable with a name.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    /// Returns all constants with their registers, sorted by register.
    pub fn constants(&self) -> Vec<(Bank, Slot, Constant)> {
        let constants = self.constants.iter();
        let mut constants: Vec<_> =
            constants.map(|(&(bank, constant), &slot)| (bank, slot, constant)).collect();
        constants.sort_by_key(|&(bank, slot, _)| (bank, slot));
        constants
    }
}

/// Returns the special register with a name.
pub fn special(name: &str) -> Option<Special> {
    let dimension = |last: &str| ["x", "y", "z"].iter().position(|d| *d == last).map(|d| d as u8);
    if let Some((register, last)) = name.split_once('.') {
        let dimension = dimension(last)?;
        return Some(match register {
            "%tid" => Special::Thread(dimension),
            "%ntid" => Special::BlockShape(dimension),
            "%ctaid" => Special::Block(dimension),
            "%nctaid" => Special::GridShape(dimension),
            _ => return None,
        });
    }
    Some(match name {
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%lanemask_eq" => Special::LaneMask,
        "%lanemask_lt" => Special::LowerLanes,
        "%lanemask_le" => Special::LowerLanesAndThis,
        "%lanemask_gt" => Special::HigherLanes,
        "%lanemask_ge" => Special::HigherLanesAndThis,
        "%dynamic_smem_size" => Special::DynamicShared,
        _ => return None,
    })
}
