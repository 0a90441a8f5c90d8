//! The names in a kernel, and the registers of operands: declared and special registers, literals, and addresses of
//! variables.

use super::decode::{Decoded, Decoder, misfit, unknown};
use super::{Bank, Kernel, Parameter, Variable};
use crate::arithmetic::Relation;
use crate::lanes::{LANES, Slot};
use crate::ptx::{Entry, Module, Operand};

/// The minimum gap between two shared arrays in bytes. No access may touch it.
const GAP: usize = 256;
/// The size of one row of all banks of shared memory in bytes. The gaps do not change the bank of an element.
const BANKS: usize = 128;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// An offset in shared or local memory.
    Offset(usize),
    /// A variable of the module, by its number.
    Module(usize),
    /// A parameter: its offset in the arguments and its size in bytes.
    Parameter(usize, usize),
}

impl<'a> Decoder<'a> {
    pub(super) fn declare(&mut self, module: &Module<'a>, entry: &Entry<'a>) -> Decoded<()> {
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
            let (offset, bytes) = (end.next_multiple_of(parameter.alignment), parameter.bytes);
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
        let behind =
            |end: usize, packed: usize| (end + GAP).next_multiple_of(BANKS) + packed % BANKS;
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
                let (name, initial) = (variable.name.to_owned(), Vec::new());
                shared.push(Variable { name, offset, bytes, initial });
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

    /// Returns the register with a name, if it is declared.
    pub(super) fn register(&mut self, name: &'a str) -> Option<(Bank, Slot)> {
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

    pub(super) fn constant(&mut self, bank: Bank, constant: Constant) -> Slot {
        if let Some(&slot) = self.constants.get(&(bank, constant)) {
            return slot;
        }
        let slot = self.new_register(bank);
        self.constants.insert((bank, constant), slot);
        slot
    }

    /// Returns the register of an operand of 64 bits (`wide`) or 32 bits.
    pub(super) fn value(&mut self, operand: &Operand<'a>, wide: bool) -> Decoded<Slot> {
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
    pub(super) fn result(&mut self, operand: &Operand<'a>, wide: bool) -> Decoded<Slot> {
        self.target(operand, Bank::of(wide))
    }

    /// Returns the destination register of a result. `_` is a new register that is never read.
    pub(super) fn target(&mut self, operand: &Operand<'a>, bank: Bank) -> Decoded<Slot> {
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
    pub(super) fn pair(&mut self, both: &Operand<'a>, bank: Bank) -> Decoded<(Slot, Option<Slot>)> {
        let Operand::Pair(to, predicate) = both else {
            return Ok((self.target(both, bank)?, None));
        };
        let predicate = self.target(&Operand::Name(predicate), Bank::Predicate)?;
        Ok((self.target(&Operand::Name(to), bank)?, Some(predicate)))
    }

    /// Returns the register of an operand, which may be wider than its type, and whether it has 64 bits.
    pub(super) fn any_width(&mut self, operand: &Operand<'a>, wide: bool) -> Decoded<(Slot, bool)> {
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
    pub(super) fn predicate(&mut self, operand: &Operand<'a>) -> Decoded<(Slot, bool)> {
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
