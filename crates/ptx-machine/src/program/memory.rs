//! Decoding of the statements that access memory: loads, stores, atomic operations, asynchronous copies, and the
//! operations on their mbarriers.

use super::decoder::{Decoded, Decoder, Symbol, miscounted, unknown};
use super::kernel::Constant;
use super::operands::Bank;
use super::operation::{Access, Address, Atomic, Copies, Mbarrier, MbarrierAction, Operation, Order, Space, Update};
use crate::arithmetic::{self, Type};
use crate::convert::Number;
use crate::ptx::Operand;

struct Modifiers<'p> {
    /// The state space; `None` for parameters.
    space: Option<Space>,
    order: Order,
    past_l1: bool,
    once: bool,
    count: u8,
    rest: Vec<&'p str>,
}

impl<'p> Modifiers<'p> {
    fn read(parts: &[&'p str]) -> Self {
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
                "cg" | "cv" => read.past_l1 = true,
                "cs" | "lu" => read.once = true,
                // Scopes and cache hints do not change the result.
                "weak" | "cta" | "cluster" | "gpu" | "sys" | "ca" | "wb" | "wt" => (),
                hint if hint.starts_with("L1::") || hint.starts_with("L2::") => (),
                other => read.rest.push(other),
            }
        }
        read
    }
}

impl Update {
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
    pub fn memory_operation(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        match parts[0] {
            "ld" | "ldu" => self.load(parts, operands),
            "st" => self.store(parts, operands),
            "mbarrier" => self.mbarrier(parts, operands),
            "cp" => self.copy(parts, operands),
            _ => self.atomic(parts, operands),
        }
    }

    fn load(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let [to, address] = operands else { return Err(miscounted()) };
        let (modifiers, number) = split(parts)?;
        match modifiers.space {
            Some(space) => Ok(Operation::Load(self.access(space, &modifiers, number, to, address, true)?)),
            None => self.load_parameter(number, to, address),
        }
    }

    fn store(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
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
    ) -> Decoded<Access> {
        let values = values.elements();
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

    /// Decodes `ld.param` as moves from registers that contain the parameter from the start of the kernel. The last one
    /// is returned.
    fn load_parameter(&mut self, number: Number, to: &Operand<'a>, from: &Operand<'a>) -> Decoded {
        let Operand::Address(base, offset) = from else { return Err(unknown()) };
        let Operand::Name(name) = **base else { return Err(unknown()) };
        let Some(&Symbol::Parameter(at, size)) = self.symbols.get(name) else {
            return Err("parameters can only be loaded by their names".into());
        };
        let bytes = number.bits() as usize / 8;
        let signed = matches!(number, Number::Signed(_));
        let mut last = None;
        for (k, target) in to.elements().iter().enumerate() {
            let offset = usize::try_from(*offset).map_err(|_| unknown())? + k * bytes;
            if offset + bytes > size {
                return Err(format!("the parameter {name} has only {size} bytes"));
            }
            let (to, wide) = self.any_width(target, bytes == 8)?;
            let constant = Constant::Argument(at + offset, bytes as u8, signed);
            let of = [self.constant(Bank::of(wide), constant), 0, 0, 0];
            let kind = if wide { Type::u64 } else { Type::u32 };
            let function = arithmetic::find("mov", kind).ok_or_else(unknown)?;
            if let Some(before) = last.replace(Operation::Compute { function, kind, to, of }) {
                self.push(before);
            }
        }
        last.ok_or_else(miscounted)
    }

    /// Decodes `atom`, and `red`, which does not return the old value.
    fn atomic(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let (last, parts) = parts.split_last().expect("at least one part");
        let modifiers = Modifiers::read(&parts[1..]);
        let [update] = modifiers.rest[..] else { return Err(unknown()) };
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
        Ok(Operation::Atomic(Atomic { space, address, update, kind, to, of, order }))
    }

    /// Decodes `mbarrier`. The scope and the default order of an operation may be written.
    fn mbarrier(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        use MbarrierAction::{Arrive, Init, Wait};
        let defaults = |part: &&str| !matches!(*part, "cta" | "release" | "acquire");
        let named: Vec<_> = parts[1..].iter().copied().filter(defaults).collect();
        let [name @ .., "shared" | "shared::cta", "b64"] = &named[..] else {
            return Err(unknown());
        };
        let (address, action) = match (name, operands) {
            (["init"], [address, count]) => (address, Init(self.value(count, false)?)),
            (["arrive"], [to, address]) => (address, Arrive { to: self.result(to, true)?, bytes: None }),
            (["arrive", "expect_tx"], [to, address, bytes]) => {
                let bytes = Some(self.value(bytes, false)?);
                (address, Arrive { to: self.result(to, true)?, bytes })
            }
            ([wait @ ("try_wait" | "test_wait"), "parity"], [to, address, parity]) => {
                let to = self.target(to, Bank::Predicate)?;
                let parity = self.value(parity, false)?;
                (address, Wait { to, parity, blocks: *wait == "try_wait" })
            }
            (["init" | "arrive", ..] | ["try_wait" | "test_wait", "parity"], _) => {
                return Err(miscounted());
            }
            _ => return Err(unknown()),
        };
        Ok(Operation::Mbarrier(Mbarrier { address: self.address(address)?, action }))
    }

    /// Decodes `cp.async.bulk`, a copy from global to shared memory that an mbarrier counts.
    fn copy(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        // Since PTX 8.6, the destination may also be called `shared::cta`.
        let ["async", "bulk", "shared::cluster" | "shared::cta", rest @ ..] = &parts[1..] else {
            return Err(unknown());
        };
        let [to, from, bytes, mbarrier, policy @ ..] = operands else { return Err(miscounted()) };
        let policy = match (rest, policy) {
            (["global", "mbarrier::complete_tx::bytes"], []) => None,
            (["global", "mbarrier::complete_tx::bytes", "L2::cache_hint"], [policy]) => Some(self.value(policy, true)?),
            _ => return Err(unknown()),
        };
        Ok(Operation::Copy(Copies {
            to: self.address(to)?,
            from: self.address(from)?,
            bytes: self.value(bytes, false)?,
            mbarrier: self.address(mbarrier)?,
            policy,
        }))
    }

    fn address(&mut self, operand: &Operand<'a>) -> Decoded<Address> {
        let Operand::Address(base, offset) = operand else { return Err(unknown()) };
        let named = if let Operand::Name(name) = **base { self.register(name) } else { None };
        let (register, wide) = match named {
            Some((Bank::Word, register)) => (register, false),
            _ => (self.value(base, true)?, true),
        };
        Ok(Address { register, wide, offset: *offset })
    }
}

/// Returns the modifiers between an instruction's name and its type, and the type.
fn split<'p>(parts: &[&'p str]) -> Decoded<(Modifiers<'p>, Number)> {
    let (last, parts) = parts.split_last().ok_or_else(unknown)?;
    let number = Number::find(last).ok_or_else(unknown)?;
    Ok((Modifiers::read(&parts[1..]), number))
}
