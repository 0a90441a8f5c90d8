//! Decoding of the statements that access memory.

use super::decode::{Decoder, Reason, miscounted, misfit, unknown};
use super::names::Symbol;
use super::{Access, Address, Atomic, Bank, Constant, Operation, Order, Space, Update};
use crate::arithmetic::{self, Type};
use crate::convert::Number;
use crate::ptx::{Base, Operand};

/// The modifiers of an access.
struct Modifiers {
    /// The state space; `None` for parameters.
    space: Option<Space>,
    order: Order,
    past_l1: bool,
    once: bool,
    count: u8,
    /// All other modifiers.
    rest: Vec<String>,
}

impl Modifiers {
    fn read(parts: &[&str]) -> Self {
        let mut read = Self {
            space: Some(Space::Generic),
            order: Order::Weak,
            past_l1: false,
            once: false,
            count: 1,
            rest: Vec::new(),
        };
        for part in parts {
            match *part {
                "global" => read.space = Some(Space::Global),
                "const" => read.space = Some(Space::Constant),
                "shared" | "shared::cta" => read.space = Some(Space::Shared),
                "local" => read.space = Some(Space::Local),
                "param" | "param::entry" => read.space = None,
                "volatile" | "relaxed" => read.order = Order::Relaxed,
                "acquire" => read.order = Order::Acquire,
                "release" | "acq_rel" => read.order = Order::Release,
                "nc" => read.order = Order::ReadOnly,
                "v2" => read.count = 2,
                "v4" => read.count = 4,
                // Scopes and cache hints do not change the result.
                "weak" | "cta" | "cluster" | "gpu" | "sys" => (),
                "cg" | "cv" => read.past_l1 = true,
                "cs" | "lu" => read.once = true,
                "ca" | "wb" | "wt" => (),
                hint if hint.starts_with("L1::") || hint.starts_with("L2::") => (),
                other => read.rest.push(other.to_owned()),
            }
        }
        read
    }
}

impl Update {
    /// Returns the update with a PTX name.
    pub fn find(name: &str) -> Option<Self> {
        Some(match name {
            "add" => Self::Add,
            "min" => Self::Min,
            "max" => Self::Max,
            "and" => Self::And,
            "or" => Self::Or,
            "xor" => Self::Xor,
            "exch" => Self::Exchange,
            "cas" => Self::CompareAndSwap,
            "inc" => Self::Increment,
            "dec" => Self::Decrement,
            _ => return None,
        })
    }

    /// Returns whether several updates of integers give the same result in every order.
    pub fn reduces(self) -> bool {
        matches!(self, Self::Add | Self::Min | Self::Max | Self::And | Self::Or | Self::Xor)
    }
}

impl<'a> Decoder<'a> {
    /// Decodes `ld` from memory or from the parameters.
    pub fn load(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Result<(), Reason> {
        let [to, address] = operands else { return Err(miscounted()) };
        let (modifiers, number) = split(parts)?;
        let Some(space) = modifiers.space else { return self.load_parameter(number, to, address) };
        let access = self.access(space, &modifiers, number, to, address, true)?;
        self.push(Operation::Load(access));
        Ok(())
    }

    /// Decodes `st`.
    pub fn store(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Result<Operation, Reason> {
        let [address, of] = operands else { return Err(miscounted()) };
        let (modifiers, number) = split(parts)?;
        let space = modifiers.space.ok_or_else(unknown)?;
        Ok(Operation::Store(self.access(space, &modifiers, number, of, address, false)?))
    }

    fn access(
        &mut self,
        space: Space,
        modifiers: &Modifiers,
        number: Number,
        values: &Operand<'a>,
        address: &Operand<'a>,
        loads: bool,
    ) -> Result<Access, Reason> {
        let values = match values {
            Operand::Vector(values) => &values[..],
            _ => std::slice::from_ref(values),
        };
        if !modifiers.rest.is_empty() {
            return Err(unknown());
        }
        if values.len() != usize::from(modifiers.count) {
            return Err(miscounted());
        }
        let mut registers = [0; 4];
        let mut wide = number.bits() == 64;
        for (register, value) in registers.iter_mut().zip(values) {
            (*register, wide) = match loads && *value == Operand::Name("_") {
                true => (self.result(value, wide)?, wide),
                false => self.any_width(value, number.bits() == 64)?,
            };
        }
        Ok(Access {
            space,
            address: self.address(address)?,
            bytes: (number.bits() / 8) as u8,
            count: modifiers.count,
            wide,
            signed: matches!(number, Number::Signed(_)),
            registers,
            order: modifiers.order,
            past_l1: modifiers.past_l1,
            once: modifiers.once,
        })
    }

    /// Decodes `ld.param` as a move from a register that contains the parameter from the start of the kernel.
    fn load_parameter(
        &mut self,
        number: Number,
        to: &Operand<'a>,
        address: &Operand<'a>,
    ) -> Result<(), Reason> {
        let &Operand::Address(Base::Name(name), offset) = address else { return Err(unknown()) };
        let Some(Symbol::Parameter(at, size)) = self.names.symbol(name) else {
            return Err("parameters can only be loaded by their names".into());
        };
        let targets = match to {
            Operand::Vector(targets) => &targets[..],
            _ => std::slice::from_ref(to),
        };
        let bytes = number.bits() as usize / 8;
        for (k, target) in targets.iter().enumerate() {
            let offset = usize::try_from(offset).map_err(|_| unknown())? + k * bytes;
            if offset + bytes > size {
                return Err(format!("the parameter {name} has only {size} bytes"));
            }
            let (to, wide) = self.any_width(target, bytes == 8)?;
            let signed = matches!(number, Number::Signed(_));
            let constant = Constant::Argument(at + offset, bytes as u8, signed);
            let of = self.names.constant(Bank::of(wide), constant);
            let kind = if wide { Type::u64 } else { Type::u32 };
            let function = arithmetic::find("mov", kind).ok_or_else(unknown)?;
            let wide = super::Wide { to: wide, count: 1, of: u8::from(wide) };
            self.push(Operation::Compute { function, kind, wide, to, of: [of, 0, 0, 0] });
        }
        Ok(())
    }

    /// Decodes `atom`, and `red`, which does not return the old value.
    pub fn atomic(
        &mut self,
        parts: &[&str],
        operands: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
        let (last, parts) = parts.split_last().expect("at least one part");
        let modifiers = Modifiers::read(&parts[1..]);
        let [update] = &modifiers.rest[..] else { return Err(unknown()) };
        let update = Update::find(update).ok_or_else(unknown)?;
        let kind = Type::find(last).ok_or_else(unknown)?;
        if matches!(kind, Type::u16 | Type::i16) {
            return Err(unknown());
        }
        let wide = kind.is_wide();
        let (to, operands) = match (parts[0], operands) {
            ("atom", [to, rest @ ..]) => (Some(self.result(to, wide)?), rest),
            (_, rest) => (None, rest),
        };
        let (address, of) = match (update, operands) {
            (Update::CompareAndSwap, [address, compared, new]) => (address, [compared, new]),
            (_, [address, of]) if update != Update::CompareAndSwap => (address, [of, of]),
            _ => return Err(miscounted()),
        };
        let of = [self.value(of[0], wide)?, self.value(of[1], wide)?];
        let order = match modifiers.order {
            Order::Weak => Order::Relaxed,
            order => order,
        };
        let space = modifiers.space.ok_or_else(unknown)?;
        let address = self.address(address)?;
        Ok(Operation::Atomic(Atomic { space, address, update, kind, wide, to, of, order }))
    }

    pub fn address(&mut self, operand: &Operand<'a>) -> Result<Address, Reason> {
        let &Operand::Address(base, offset) = operand else { return Err(unknown()) };
        let name = match base {
            Base::Number(bits) => {
                let register = self.names.constant(Bank::Double, Constant::Bits(bits));
                return Ok(Address { register, wide: true, offset });
            }
            Base::Name(name) => name,
        };
        match self.names.register(name) {
            Some((Bank::Predicate, _)) => return Err(misfit(name)),
            Some((bank, register)) => {
                return Ok(Address { register, wide: bank == Bank::Double, offset });
            }
            None => (),
        }
        let register = self.value(&Operand::Name(name), true)?;
        Ok(Address { register, wide: true, offset })
    }
}

/// Returns the modifiers between an instruction's name and its type, and the type.
fn split(parts: &[&str]) -> Result<(Modifiers, Number), Reason> {
    let (last, parts) = parts.split_last().ok_or_else(unknown)?;
    let number = Number::find(last).ok_or_else(unknown)?;
    Ok((Modifiers::read(&parts[1..]), number))
}
