//! The state of the decoder: the names in a kernel, and the registers of operands, which are declared and special
//! registers, literals, and addresses of variables.

use std::collections::HashMap;

use super::kernel::{Constant, Kernel, Parameter, Special, Variable};
use super::operands::Bank;
use super::operation::{Instruction, Operation};
use crate::arithmetic::{Relation, Type};
use crate::lanes::{LANES, Slot};
use crate::ptx::{Entry, Module, Operand, Place};

/// The minimum gap between two shared arrays in bytes. No access may touch it.
const GAP: usize = 256;
/// The size of one row of all banks of shared memory in bytes. The gaps do not change the bank of an element.
const BANKS: usize = 128;

#[derive(Default)]
pub struct Decoder<'a> {
    pub kernel: Kernel,
    declared: HashMap<&'a str, (Bank, Option<u64>)>,
    registers: HashMap<&'a str, (Bank, Slot)>,
    constants: HashMap<(Bank, Constant), Slot>,
    pub symbols: HashMap<&'a str, Symbol>,
    /// The statement after each label.
    pub labels: HashMap<&'a str, usize>,
    /// The numbers of the places in the source.
    pub places: HashMap<Place, u32>,
    /// The guard of the current statement.
    pub guard: Option<(Slot, bool)>,
    /// The place of the current statement.
    pub place: u32,
}

/// The result of decoding, or the reason why an instruction is rejected.
pub type Decoded<T = Operation> = Result<T, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// An offset in shared or local memory.
    Offset(usize),
    /// A variable of the module, by its number.
    Module(usize),
    /// A parameter: its offset in the arguments and its size in bytes.
    Parameter(usize, usize),
}

impl<'a> Decoder<'a> {
    pub fn declare(&mut self, module: &Module<'a>, entry: &Entry<'a>) -> Decoded<()> {
        self.kernel.name = entry.name.to_owned();
        self.kernel.max_threads = entry.max_threads;
        self.labels = entry.labels.iter().copied().collect();
        for declared in &entry.registers {
            let bank = match declared.kind {
                ".pred" => Bank::Predicate,
                ".b16" | ".u16" | ".s16" | ".f16" | ".b32" | ".u32" | ".s32" | ".f32" => Bank::Word,
                ".b64" | ".u64" | ".s64" | ".f64" => Bank::Double,
                kind => return Err(format!("registers of the type {kind} are not supported")),
            };
            self.declared.insert(declared.name, (bank, declared.count));
        }
        for parameter in &entry.parameters {
            let end = self.kernel.parameters.last().map_or(0, Parameter::end);
            let offset = end.next_multiple_of(parameter.alignment);
            let bytes = parameter.bytes;
            let is_float = matches!(parameter.kind, ".f32" | ".f64");
            self.kernel.parameters.push(Parameter { offset, bytes, is_float });
            self.symbols.insert(parameter.name, Symbol::Parameter(offset, bytes));
        }
        for (number, variable) in module.variables_in_memory().enumerate() {
            self.symbols.insert(variable.name, Symbol::Module(number));
        }
        self.place_arrays(module, entry);
        Ok(())
    }

    fn place_arrays(&mut self, module: &Module<'a>, entry: &Entry<'a>) {
        let Kernel { shared, shared_end, shared_bytes, local_bytes, .. } = &mut self.kernel;
        // An array starts in the same bank as without the gap before it.
        let behind = |end: usize, packed: usize| (end + GAP).next_multiple_of(BANKS) + packed % BANKS;
        for variable in &entry.variables {
            let bytes = variable.bytes;
            let offset = if variable.space == "local" {
                let offset = local_bytes.next_multiple_of(variable.alignment);
                *local_bytes = offset + bytes;
                offset
            } else {
                let packed = shared_bytes.next_multiple_of(variable.alignment);
                *shared_bytes = packed + bytes;
                let offset = behind(*shared_end, packed);
                *shared_end = offset + bytes;
                shared.push(Variable { name: variable.name.to_owned(), offset, bytes, initial: Vec::new() });
                offset
            };
            self.symbols.insert(variable.name, Symbol::Offset(offset));
        }
        *shared_end = behind(*shared_end, shared_bytes.next_multiple_of(16));
        // All shared variables outside kernels are names of the dynamic shared memory.
        for variable in module.variables.iter().filter(|variable| variable.space == "shared") {
            self.symbols.insert(variable.name, Symbol::Offset(*shared_end));
        }
    }

    /// Appends an instruction with the guard and the place of the current statement.
    pub fn push(&mut self, operation: Operation) {
        let Self { guard, place, .. } = *self;
        self.kernel.code.push(Instruction { guard, place, ..operation.into() });
    }

    pub fn finish(self) -> Kernel {
        let constants = self.constants.into_iter();
        let mut constants: Vec<_> = constants.map(|((bank, constant), slot)| (bank, slot, constant)).collect();
        constants.sort_by_key(|&(bank, slot, _)| (bank, slot));
        Kernel { constants, ..self.kernel }
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
    fn new_register(&mut self, bank: Bank) -> Slot {
        let count = &mut self.kernel.registers[bank as usize];
        *count += 1;
        (*count - 1) as Slot
    }

    pub fn constant(&mut self, bank: Bank, constant: Constant) -> Slot {
        if let Some(&slot) = self.constants.get(&(bank, constant)) {
            return slot;
        }
        let slot = self.new_register(bank);
        self.constants.insert((bank, constant), slot);
        slot
    }

    /// Returns the register of an operand of 64 bits (`wide`) or 32 bits.
    pub fn value(&mut self, operand: &Operand<'a>, wide: bool) -> Decoded<Slot> {
        let bank = Bank::of(wide);
        let name = match *operand {
            Operand::Number(bits) => {
                let bits = if wide { bits } else { u64::from(bits as u32) };
                return Ok(self.constant(bank, Constant::Bits(bits)));
            }
            Operand::Name(name) => name,
            _ => return Err(unknown()),
        };
        if let Some((found, slot)) = self.register(name) {
            return if found == bank { Ok(slot) } else { Err(misfit(name)) };
        }
        let constant = match (special(name), self.symbols.get(name)) {
            (Some(special), _) => Constant::Special(special),
            (_, Some(&Symbol::Offset(at))) => Constant::Bits(at as u64),
            (_, Some(&Symbol::Module(number))) => Constant::Address(number),
            (_, Some(Symbol::Parameter(..))) => {
                return Err(format!("the address of the parameter {name} is not supported"));
            }
            (_, None) if name == "WARP_SZ" => Constant::Bits(LANES as u64),
            (_, None) => return Err(format!("{name} is not declared")),
        };
        Ok(self.constant(bank, constant))
    }

    /// Returns the destination register of a result of 64 bits (`wide`) or 32 bits.
    pub fn result(&mut self, operand: &Operand<'a>, wide: bool) -> Decoded<Slot> {
        self.target(operand, Bank::of(wide))
    }

    /// Returns the destination register of a result. `_` is a new register that is never read.
    pub fn target(&mut self, operand: &Operand<'a>, bank: Bank) -> Decoded<Slot> {
        match *operand {
            Operand::Name("_") => Ok(self.new_register(bank)),
            Operand::Name(name) => match self.register(name) {
                Some((found, slot)) if found == bank => Ok(slot),
                Some(_) => Err(misfit(name)),
                None => Err(format!("{name} is not a register")),
            },
            _ => Err("the result is not a register".into()),
        }
    }

    /// Returns the destination registers of a result and, if the operand is a pair, of a predicate.
    pub fn pair(&mut self, both: &Operand<'a>, bank: Bank) -> Decoded<(Slot, Option<Slot>)> {
        let Operand::Pair(to, predicate) = both else {
            return Ok((self.target(both, bank)?, None));
        };
        let predicate = self.target(&Operand::Name(predicate), Bank::Predicate)?;
        Ok((self.target(&Operand::Name(to), bank)?, Some(predicate)))
    }

    /// Returns the register of an operand, which may be wider than its type, and whether it has 64 bits.
    pub fn any_width(&mut self, operand: &Operand<'a>, wide: bool) -> Decoded<(Slot, bool)> {
        if let Operand::Name(name) = operand
            && let Some((bank, slot)) = self.register(name)
        {
            return match bank {
                Bank::Double => Ok((slot, true)),
                Bank::Word if !wide => Ok((slot, false)),
                _ => Err(misfit(name)),
            };
        }
        Ok((self.value(operand, wide)?, wide))
    }

    /// Returns the register of a predicate and whether it is negated. The constants 0 and 1 are valid predicates.
    pub fn predicate(&mut self, operand: &Operand<'a>) -> Decoded<(Slot, bool)> {
        let (name, negated) = match *operand {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            Operand::Number(bits) => {
                return Ok((self.constant(Bank::Predicate, Constant::Bits(bits)), false));
            }
            _ => return Err(unknown()),
        };
        match self.register(name) {
            Some((Bank::Predicate, slot)) => Ok((slot, negated)),
            _ => Err(format!("{name} is not a predicate")),
        }
    }
}

fn special(name: &str) -> Option<Special> {
    if let Some((register, last)) = name.split_once('.') {
        let dimension = ["x", "y", "z"].iter().position(|d| *d == last)? as u8;
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
        "%dynamic_smem_size" => Special::DynamicShared,
        _ => Special::LaneMask(Relation::find(name.strip_prefix("%lanemask_")?)?),
    })
}

pub fn kind(parts: &[&str]) -> Decoded<Type> {
    parts.last().and_then(|last| Type::find(last)).ok_or_else(unknown)
}

pub fn unknown() -> String {
    "this instruction is not supported".into()
}

pub fn miscounted() -> String {
    "this instruction has the wrong number of operands".into()
}

pub fn misfit(name: &str) -> String {
    format!("the register {name} has the wrong size")
}
