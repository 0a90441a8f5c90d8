//! The decoder: converts PTX statements into instructions of the machine.

use std::collections::HashMap;

use super::names::Symbol;
use super::{
    Bank, Comparison, Constant, EVICT_FIRST, Instruction, Kernel, Logic, Operation, flow,
    predicate, schedule, slots,
};
use crate::arithmetic::{self, Relation, Type};
use crate::convert::{Conversion, Number, Rounding};
use crate::lanes::Slot;
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::ptx::{Entry, Module, Operand, Place, Statement, error_at};

#[derive(Default)]
pub(super) struct Decoder<'a> {
    pub(super) kernel: Kernel,
    pub(super) declared: HashMap<&'a str, (Bank, Option<u64>)>,
    pub(super) registers: HashMap<&'a str, (Bank, Slot)>,
    pub(super) constants: HashMap<(Bank, Constant), Slot>,
    pub(super) symbols: HashMap<&'a str, Symbol>,
    /// The numbers of the places in the source.
    places: HashMap<Place, u32>,
    /// The guard and the source place of the current statement.
    current: (Option<(Slot, bool)>, u32),
    /// The branches: the index of the instruction, the label, and the line.
    branches: Vec<(usize, &'a str, usize)>,
}

/// The result of decoding, or the reason why an instruction is rejected.
pub(super) type Decoded<T = Operation> = Result<T, String>;

/// Decodes a kernel. Fails for the first instruction that is not supported.
pub(super) fn kernel<'a>(module: &Module<'a>, entry: &Entry<'a>) -> Decoded<Kernel> {
    let error = |line: usize| move |why: String| error_at(module.text, line, &why);
    let first_line = entry.statements.first().map_or(1, |statement| statement.line);
    let mut decoder = Decoder::default();
    decoder.declare(module, entry).map_err(error(first_line))?;
    let mut starts = Vec::new();
    for statement in &entry.statements {
        starts.push(decoder.kernel.code.len());
        decoder.statement(module, statement).map_err(error(statement.line))?;
    }
    starts.push(decoder.kernel.code.len());
    // A kernel may end with a label or without `ret`.
    decoder.current = (None, 0);
    decoder.push(Operation::Exit);
    let labels: HashMap<_, _> =
        entry.labels.iter().map(|&(name, statement)| (name, starts[statement])).collect();
    let Decoder { mut kernel, constants, branches, .. } = decoder;
    for (branch, label, line) in branches {
        let undefined = || error(line)("this label is not defined".into());
        let target = *labels.get(label).ok_or_else(undefined)? as u32;
        kernel.code[branch].operation = Operation::Branch { target };
    }
    if kernel.registers.iter().any(|&count| count > usize::from(Slot::MAX)) {
        return Err(error(first_line)("this kernel has too many registers".into()));
    }
    let constants = constants.into_iter().map(|((bank, constant), slot)| (bank, slot, constant));
    kernel.constants = constants.collect();
    kernel.constants.sort_by_key(|&(bank, slot, _)| (bank, slot));
    kernel.name = entry.name.to_owned();
    kernel.max_threads = entry.max_threads;
    predicate::predicate(&mut kernel.code);
    let blocks = flow::blocks(&kernel.code);
    schedule::schedule(&mut kernel.code, &blocks);
    flow::mark(&mut kernel.code, &blocks);
    slots::allocate(&mut kernel, &blocks);
    Ok(kernel)
}

impl<'a> Decoder<'a> {
    fn statement(&mut self, module: &Module, statement: &Statement<'a>) -> Decoded<()> {
        let guard = statement.guard.as_ref().map(|guard| self.predicate(guard)).transpose()?;
        let place = *self.places.entry(statement.place).or_insert_with(|| {
            self.kernel.places.push(place_name(module, statement.place));
            self.kernel.places.len() as u32 - 1
        });
        self.current = (guard, place);
        let parts: Vec<_> = statement.opcode.split('.').collect();
        let operands = &statement.operands[..];
        let operation = match (parts[0], operands) {
            ("ld" | "ldu", _) => self.load(&parts, operands)?,
            ("st", _) => self.store(&parts, operands)?,
            ("atom" | "red", _) => self.atomic(&parts, operands)?,
            ("mov", [to, of]) => self.mov(&parts, to, of)?,
            ("cvta", [to, of]) => self.convert_address(&parts, to, of)?,
            ("cvt", [to, of]) => self.convert(&parts, to, of)?,
            ("setp", _) => self.compare(&parts, operands)?,
            ("selp", [to, x, y, by]) => {
                let wide = kind(&parts)?.is_wide();
                let of = [self.value(x, wide)?, self.value(y, wide)?];
                Operation::Select { wide, to: self.result(to, wide)?, of, by: self.predicate(by)? }
            }
            ("and" | "or" | "xor" | "not", _) if parts[1..] == ["pred"] => {
                self.logic(parts[0], operands)?
            }
            ("shfl", _) => self.shuffle(&parts, operands)?,
            ("vote", [_, _, _]) => self.vote(&parts, operands)?,
            ("match", [_, _, _]) => self.match_values(&parts, operands)?,
            ("redux", [_, _, _]) => self.reduce(&parts, operands)?,
            ("mma", [_, _, _, _]) => self.multiply(&parts, operands)?,
            ("activemask", [to]) => Operation::ActiveMask { to: self.result(to, false)? },
            ("bar" | "barrier", _) => self.barrier(&parts, operands)?,
            ("membar", []) => Operation::Fence,
            ("mbarrier", _) => self.mbarrier(&parts, operands)?,
            ("cp", [_, _, _, _, ..]) => self.copy(&parts, operands)?,
            // A policy of the second-level cache for all accesses that use it.
            ("createpolicy", [to]) if parts[1..] == ["fractional", "L2::evict_first", "b64"] => {
                self.compute("mov", Type::u64, to, &[Operand::Number(EVICT_FIRST)])?
            }
            ("fence", []) if parts[1..].starts_with(&["proxy", "async"]) => Operation::ProxyFence,
            // It makes an initialised mbarrier visible to copies.
            ("fence", []) if parts[1..] == ["mbarrier_init", "release", "cluster"] => {
                Operation::ProxyFence
            }
            ("fence", []) if parts.get(1) != Some(&"proxy") => Operation::Fence,
            ("bra", [Operand::Name(label)]) => {
                self.branches.push((self.kernel.code.len(), label, statement.line));
                Operation::Branch { target: 0 }
            }
            ("ret" | "exit", []) => Operation::Exit,
            ("nanosleep", [_]) => Operation::Sleep,
            ("trap", []) => Operation::Trap,
            ("griddepcontrol", []) if parts[1..] == ["wait"] => Operation::WaitForEarlier,
            // A dependent launch is assumed to overlap anyway.
            ("griddepcontrol", []) if parts[1..] == ["launch_dependents"] => return Ok(()),
            // These are only hints for caches.
            ("prefetch" | "prefetchu" | "applypriority" | "discard", _) => return Ok(()),
            ("call", _) => return Err("calls of functions are not supported".into()),
            _ => self.arithmetic(&parts, operands)?,
        };
        self.push(operation);
        Ok(())
    }

    pub(super) fn push(&mut self, operation: Operation) {
        let (guard, place) = self.current;
        self.kernel.code.push(Instruction { guard, place, ..operation.into() });
    }

    fn arithmetic(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let (last, modifiers) = parts.split_last().expect("at least one part");
        let exact = Type::find(last).ok_or_else(unknown)?;
        let single = exact == Type::f32;
        let floating = single || exact == Type::f64;
        let flushes = single && modifiers.contains(&"ftz");
        let divides = matches!(parts[0], "div" | "rcp" | "sqrt");
        let counts = |part: &&str| match *part {
            "ftz" => !flushes,
            "rn" => !floating,
            "approx" | "full" => !divides,
            _ => true,
        };
        let mut name = modifiers.iter().copied().filter(counts).collect::<Vec<_>>().join(".");
        if floating && name == "mad" {
            name = "fma".into();
        }
        let kind = if flushes { Type::Flushed } else { exact };
        arithmetic::find(&name, kind).ok_or_else(unknown)?;
        let [to, of @ ..] = operands else { return Err(miscounted()) };
        self.compute(&name, kind, to, of)
    }

    fn compute(
        &mut self,
        name: &str,
        kind: Type,
        to: &Operand<'a>,
        operands: &[Operand<'a>],
    ) -> Decoded {
        let function = arithmetic::find(name, kind).ok_or_else(unknown)?;
        let (result, widths) = arithmetic::widths(function, kind);
        if operands.len() != widths.len() {
            return Err(miscounted());
        }
        let mut of = [0; 4];
        for ((register, operand), &wide) in of.iter_mut().zip(operands).zip(widths) {
            *register = self.value(operand, wide)?;
        }
        Ok(Operation::Compute { function, kind, to: self.result(to, result)?, of })
    }

    /// Decodes `mov`, which can also split a register into halves and join them.
    fn mov(&mut self, parts: &[&str], to: &Operand<'a>, of: &Operand<'a>) -> Decoded {
        if let Operand::Name("%clock" | "%clock_hi" | "%clock64" | "%globaltimer") = of {
            let wide = kind(parts)?.is_wide();
            return Ok(Operation::Clock { wide, to: self.result(to, wide)? });
        }
        if parts.last() == Some(&"pred") {
            let of = [self.predicate(of)?; 2];
            let to = self.target(to, Bank::Predicate)?;
            return Ok(Operation::Logic { logic: Logic::First, to, of });
        }
        let kind = kind(parts)?;
        let half = if kind.is_wide() { Type::u64 } else { Type::u32 };
        match (to, of) {
            (Operand::Vector(halves), _) => {
                let [low, high] = &halves[..] else { return Err(unknown()) };
                let low = self.compute("low", half, low, of.elements())?;
                self.push(low);
                self.compute("high", half, high, of.elements())
            }
            (_, Operand::Vector(halves)) => self.compute("pack", half, to, halves),
            _ => self.compute("mov", kind, to, of.elements()),
        }
    }

    /// Decodes `cvta`, which converts between the addresses of a state space and generic addresses.
    fn convert_address(&mut self, parts: &[&str], to: &Operand<'a>, of: &Operand<'a>) -> Decoded {
        let (name, space) = match parts {
            [_, "to", space, "u64"] => ("sub", *space),
            [_, space, "u64"] => ("add", *space),
            _ => return Err(unknown()),
        };
        let window = match space {
            "global" | "const" => 0,
            "shared" | "shared::cta" => SHARED_WINDOW,
            "local" => LOCAL_WINDOW,
            _ => return Err(unknown()),
        };
        self.compute(name, Type::u64, to, &[of.clone(), Operand::Number(window)])
    }

    fn convert(&mut self, parts: &[&str], to: &Operand<'a>, of: &Operand<'a>) -> Decoded {
        let [_, modifiers @ .., to_type, of_type] = parts else { return Err(unknown()) };
        let (Some(from), Some(to_number)) = (Number::find(of_type), Number::find(to_type)) else {
            return Err(unknown());
        };
        let mut rounding = "";
        let (mut saturates, mut flushes) = (false, false);
        for modifier in modifiers {
            match *modifier {
                "sat" => saturates = true,
                "ftz" => flushes = true,
                other if rounding.is_empty() => rounding = other,
                _ => return Err(unknown()),
            }
        }
        let whole = rounding.ends_with('i');
        let rounding = match rounding.trim_end_matches('i') {
            "" | "rn" => Rounding::Nearest,
            "rz" => Rounding::Zero,
            "rm" => Rounding::Down,
            "rp" => Rounding::Up,
            _ => return Err(unknown()),
        };
        let conversion = Conversion { from, to: to_number, rounding, whole, saturates, flushes };
        let of = self.any_width(of, from.bits() == 64)?;
        let to = self.any_width(to, to_number.bits() == 64)?;
        Ok(Operation::Convert { conversion, to, of })
    }

    fn compare(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let [_, relation, modifiers @ .., last] = parts else { return Err(unknown()) };
        let relation = Relation::find(relation).ok_or_else(unknown)?;
        let mut kind = Type::find(last).ok_or_else(unknown)?;
        let mut logic = None;
        for modifier in modifiers {
            match *modifier {
                "ftz" if kind == Type::f32 => kind = Type::Flushed,
                "and" => logic = Some(Logic::And),
                "or" => logic = Some(Logic::Or),
                "xor" => logic = Some(Logic::Xor),
                _ => return Err(unknown()),
            }
        }
        let [to, x, y, rest @ ..] = operands else { return Err(miscounted()) };
        let with = match (logic, rest) {
            (None, []) => None,
            (Some(logic), [other]) => Some((logic, self.predicate(other)?)),
            _ => return Err(miscounted()),
        };
        let of = [self.value(x, kind.is_wide())?, self.value(y, kind.is_wide())?];
        let (to, negated) = self.pair(to, Bank::Predicate)?;
        Ok(Operation::Compare(Comparison { relation, kind, of, to, negated, with }))
    }

    fn logic(&mut self, name: &str, operands: &[Operand<'a>]) -> Decoded {
        let (to, of, logic) = match (name, operands) {
            ("not", [to, of]) => {
                let (predicate, negated) = self.predicate(of)?;
                (to, [(predicate, !negated); 2], Logic::First)
            }
            (_, [to, x, y]) => {
                let logic = match name {
                    "and" => Logic::And,
                    "or" => Logic::Or,
                    _ => Logic::Xor,
                };
                (to, [self.predicate(x)?, self.predicate(y)?], logic)
            }
            _ => return Err(miscounted()),
        };
        Ok(Operation::Logic { logic, to: self.target(to, Bank::Predicate)?, of })
    }
}

pub(super) fn kind(parts: &[&str]) -> Decoded<Type> {
    parts.last().and_then(|last| Type::find(last)).ok_or_else(unknown)
}

pub(super) fn unknown() -> String {
    "this instruction is not supported".into()
}

pub(super) fn miscounted() -> String {
    "this instruction has the wrong number of operands".into()
}

pub(super) fn misfit(name: &str) -> String {
    format!("the register {name} has the wrong size")
}

fn place_name(module: &Module, place: Place) -> String {
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
