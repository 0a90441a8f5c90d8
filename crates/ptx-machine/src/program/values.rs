//! Decoding of operands to registers.

use super::decode::{Decoder, Reason, misfit, unknown};
use super::names::{Symbol, special};
use super::{Bank, Constant};
use crate::lanes::{LANES, Slot};
use crate::ptx::Operand;

impl<'a> Decoder<'a> {
    /// Returns the register of an operand of 64 bits (`wide`) or 32 bits.
    pub(super) fn value(&mut self, operand: &Operand<'a>, wide: bool) -> Result<Slot, Reason> {
        let bank = Bank::of(wide);
        match *operand {
            Operand::Number(bits) => {
                let bits = if wide { bits } else { u64::from(bits as u32) };
                Ok(self.names.constant(bank, Constant::Bits(bits)))
            }
            Operand::Name(name) => {
                if let Some((found, slot)) = self.names.register(name) {
                    return if found == bank { Ok(slot) } else { Err(misfit(name)) };
                }
                if let Some(special) = special(name) {
                    return Ok(self.names.constant(bank, Constant::Special(special)));
                }
                let constant = match self.names.symbol(name) {
                    None if name == "WARP_SZ" => Constant::Bits(LANES as u64),
                    Some(Symbol::Shared(at) | Symbol::Local(at)) => Constant::Bits(at as u64),
                    Some(Symbol::Module(number)) => Constant::Address(number),
                    Some(Symbol::Parameter(..)) => {
                        return Err(format!(
                            "the address of the parameter {name} is not supported"
                        ));
                    }
                    None => return Err(format!("{name} is not declared")),
                };
                Ok(self.names.constant(bank, constant))
            }
            _ => Err(unknown()),
        }
    }

    /// Returns the destination register of a result of 64 bits (`wide`) or 32 bits.
    pub(super) fn result(&mut self, operand: &Operand<'a>, wide: bool) -> Result<Slot, Reason> {
        self.target(operand, Bank::of(wide))
    }

    /// Returns the destination register of a result. `_` is a new register that is never read.
    pub(super) fn target(&mut self, operand: &Operand<'a>, bank: Bank) -> Result<Slot, Reason> {
        match *operand {
            Operand::Name("_") => Ok(self.names.new_register(bank)),
            Operand::Name(name) => match self.names.register(name) {
                Some((found, slot)) if found == bank => Ok(slot),
                Some(_) => Err(misfit(name)),
                None => Err(format!("{name} is not a register")),
            },
            _ => Err("the result is not a register".into()),
        }
    }

    /// Returns the register of an operand, which may be wider than its type, and whether it has 64 bits.
    pub(super) fn any_width(
        &mut self,
        operand: &Operand<'a>,
        wide: bool,
    ) -> Result<(Slot, bool), Reason> {
        if let Operand::Name(name) = operand
            && let Some((bank, slot)) = self.names.register(name)
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
    pub(super) fn predicate(&mut self, operand: &Operand<'a>) -> Result<(Slot, bool), Reason> {
        match *operand {
            Operand::Name(name) => Ok((self.predicate_named(name)?, false)),
            Operand::Not(name) => Ok((self.predicate_named(name)?, true)),
            Operand::Number(bits) => {
                Ok((self.names.constant(Bank::Predicate, Constant::Bits(bits)), false))
            }
            _ => Err(unknown()),
        }
    }

    pub(super) fn predicate_named(&mut self, name: &'a str) -> Result<Slot, Reason> {
        match self.names.register(name) {
            Some((Bank::Predicate, slot)) => Ok(slot),
            _ => Err(format!("{name} is not a predicate")),
        }
    }
}
