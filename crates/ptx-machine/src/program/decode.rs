//! The decoder: converts PTX statements into instructions of the machine.

use std::collections::HashMap;

use super::names::Names;
use super::{
    Bank, Comparison, Instruction, Kernel, Logic, Operation, Update, Vote, Wide, flow, place_name,
    schedule, slots,
};
use crate::arithmetic::{self, Type};
use crate::compare::Relation;
use crate::convert::{Conversion, Number, Rounding};
use crate::lanes::Slot;
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::ptx::{Entry, Error, Module, Operand, Place, Statement};

/// Converts the statements of one kernel.
pub(super) struct Decoder<'a> {
    pub names: Names<'a>,
    /// The instructions so far.
    code: Vec<Instruction>,
    /// The guard, source place and line of the current statement.
    current: (Option<(Slot, bool)>, u32, u32),
    /// The branches: the index of the instruction, the label, and the line.
    branches: Vec<(usize, &'a str, usize)>,
}

/// The reason why an instruction is rejected.
pub(super) type Reason = String;

/// Decodes a kernel.
///
/// # Errors
/// Returns an error for the first instruction that is not supported.
pub(super) fn kernel<'a>(module: &Module<'a>, entry: &Entry<'a>) -> Result<Kernel, Error> {
    let first_line = entry.statements.first().map_or(1, |statement| statement.line);
    let names = Names::new(module, entry).map_err(|why| Error::at(module.text, first_line, why))?;
    let mut decoder =
        Decoder { names, code: Vec::new(), current: (None, 0, 0), branches: Vec::new() };
    let mut places = Places::default();
    let mut starts = Vec::new();
    for statement in &entry.statements {
        starts.push(decoder.code.len());
        let place = places.number(module, statement.place);
        decoder
            .statement(statement, place)
            .map_err(|why| Error::at(module.text, statement.line, why))?;
    }
    starts.push(decoder.code.len());
    // A kernel may end with a label or without `ret`.
    decoder.current = (None, 0, entry.statements.last().map_or(0, |last| last.line as u32));
    decoder.push(Operation::Exit);
    let labels: HashMap<_, _> =
        entry.labels.iter().map(|&(name, statement)| (name, starts[statement])).collect();
    for (branch, label, line) in std::mem::take(&mut decoder.branches) {
        let target = labels.get(label);
        let target =
            target.ok_or_else(|| Error::at(module.text, line, "this label is not defined"))?;
        decoder.code[branch].operation = Operation::Branch { target: *target as u32 };
    }
    let names = &decoder.names;
    if names.counts.iter().any(|&count| count > usize::from(Slot::MAX)) {
        return Err(Error::at(module.text, first_line, "this kernel has too many registers"));
    }
    let mut kernel = Kernel {
        name: entry.name.to_owned(),
        parameters: names.parameters.clone(),
        max_threads: entry.max_threads,
        registers: names.counts,
        constants: names.constants(),
        shared: names.shared.clone(),
        shared_end: names.shared_end,
        shared_bytes: names.shared_bytes,
        local_bytes: names.local_bytes,
        places: places.names,
        code: decoder.code,
    };
    let blocks = flow::blocks(&kernel.code);
    schedule::schedule(&mut kernel.code, &blocks);
    flow::mark(&mut kernel.code, &blocks);
    flow::mark_stretches(&mut kernel.code);
    slots::allocate(&mut kernel, &blocks);
    Ok(kernel)
}

/// The table of places in the source, which assigns them numbers.
#[derive(Default)]
struct Places {
    numbers: HashMap<Place, u32>,
    names: Vec<String>,
}

impl Places {
    fn number(&mut self, module: &Module, place: Place) -> u32 {
        *self.numbers.entry(place).or_insert_with(|| {
            self.names.push(place_name(module, place));
            self.names.len() as u32 - 1
        })
    }
}

impl<'a> Decoder<'a> {
    fn statement(&mut self, statement: &Statement<'a>, place: u32) -> Result<(), Reason> {
        let guard = match statement.guard {
            Some((name, negated)) => Some((self.predicate_named(name)?, negated)),
            None => None,
        };
        self.current = (guard, place, statement.line as u32);
        let parts: Vec<_> = statement.opcode.split('.').collect();
        let operands = &statement.operands[..];
        let operation = match (parts[0], operands) {
            ("ld" | "ldu", _) => return self.load(&parts, operands),
            ("st", _) => self.store(&parts, operands)?,
            ("atom" | "red", _) => self.atomic(&parts, operands)?,
            ("mov", [to, of]) => return self.mov(&parts, to, of),
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
            ("vote", [to, of, members]) => {
                let (vote, bank) = match parts[1..] {
                    ["sync", "all", "pred"] => (Vote::All, Bank::Predicate),
                    ["sync", "any", "pred"] => (Vote::Any, Bank::Predicate),
                    ["sync", "uni", "pred"] => (Vote::Uniform, Bank::Predicate),
                    ["sync", "ballot", "b32"] => (Vote::Ballot, Bank::Word),
                    _ => return Err(unknown()),
                };
                let (of, members) = (self.predicate(of)?, self.value(members, false)?);
                Operation::Vote { vote, to: self.target(to, bank)?, of, members }
            }
            ("match", [to, of, members]) => self.match_values(&parts, to, of, members)?,
            ("redux", [to, of, members]) => {
                let (["sync", name, _], kind) = (&parts[1..], kind(&parts)?) else {
                    return Err(unknown());
                };
                let update = Update::find(name).filter(|update| update.reduces());
                let (of, members) = (self.value(of, false)?, self.value(members, false)?);
                let (update, to) = (update.ok_or_else(unknown)?, self.result(to, false)?);
                Operation::Reduce { update, kind, to, of, members }
            }
            ("mma", [to, left, right, of]) => self.multiply(&parts, [to, left, right, of])?,
            ("activemask", [to]) => Operation::ActiveMask { to: self.result(to, false)? },
            ("bar" | "barrier", _) => self.barrier(&parts, operands)?,
            ("membar", []) => Operation::Fence,
            ("mbarrier", _) => self.mbarrier(&parts, operands)?,
            ("cp", [to, from, bytes, mbarrier, policy @ ..]) => {
                self.copy(&parts, [to, from, mbarrier], bytes, policy)?
            }
            ("createpolicy", [to]) => return self.create_policy(&parts, to),
            ("fence", []) if parts[1..].starts_with(&["proxy", "async"]) => Operation::ProxyFence,
            // It makes an initialised mbarrier visible to copies.
            ("fence", []) if parts[1..] == ["mbarrier_init", "release", "cluster"] => {
                Operation::ProxyFence
            }
            ("fence", []) if parts.get(1) != Some(&"proxy") => Operation::Fence,
            ("bra", [Operand::Name(label)]) => {
                self.branches.push((self.code.len(), label, statement.line));
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
        let (guard, place, line) = self.current;
        self.code.push(Instruction {
            operation,
            guard,
            leads: false,
            stretch: 0,
            place,
            line,
            rank: 0,
        });
    }

    /// Decodes an instruction in the table of [`arithmetic`].
    fn arithmetic(
        &mut self,
        parts: &[&str],
        operands: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
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
        let function = arithmetic::find(&name, kind).ok_or_else(unknown)?;
        let [to, of @ ..] = operands else { return Err(miscounted()) };
        self.compute(function, kind, to, of)
    }

    fn compute(
        &mut self,
        function: arithmetic::Function,
        kind: Type,
        to: &Operand<'a>,
        of: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
        let shape = arithmetic::shape(function, kind);
        if of.len() != shape.operands.len() {
            return Err(miscounted());
        }
        let mut wide = Wide { to: shape.result, count: of.len() as u8, of: 0 };
        let mut registers = [0; 4];
        for (k, (operand, is_wide)) in of.iter().zip(shape.operands).enumerate() {
            wide.of |= u8::from(is_wide) << k;
            registers[k] = self.value(operand, is_wide)?;
        }
        let to = self.result(to, shape.result)?;
        Ok(Operation::Compute { function, kind, wide, to, of: registers })
    }

    /// Decodes `mov`, which can also split a register into halves and join them.
    pub(super) fn mov(
        &mut self,
        parts: &[&str],
        to: &Operand<'a>,
        of: &Operand<'a>,
    ) -> Result<(), Reason> {
        if let Operand::Name("%clock" | "%clock_hi" | "%clock64" | "%globaltimer") = of {
            let wide = kind(parts)?.is_wide();
            let to = self.result(to, wide)?;
            self.push(Operation::Clock { wide, to });
            return Ok(());
        }
        if parts.last() == Some(&"pred") {
            let of = self.predicate(of)?;
            let to = self.target(to, Bank::Predicate)?;
            self.push(Operation::Logic { logic: Logic::First, to, of: [of; 2] });
            return Ok(());
        }
        let kind = kind(parts)?;
        let half = if kind.is_wide() { Type::u64 } else { Type::u32 };
        let find = |name, kind| arithmetic::find(name, kind).ok_or_else(unknown);
        let operation = match (to, of) {
            (Operand::Vector(halves), _) => {
                let [low, high] = &halves[..] else { return Err(unknown()) };
                let low = self.compute(find("low", half)?, half, low, std::slice::from_ref(of))?;
                self.push(low);
                self.compute(find("high", half)?, half, high, std::slice::from_ref(of))?
            }
            (_, Operand::Vector(halves)) => self.compute(find("pack", half)?, half, to, halves)?,
            _ => self.compute(find("mov", kind)?, kind, to, std::slice::from_ref(of))?,
        };
        self.push(operation);
        Ok(())
    }

    /// Decodes `cvta`, which converts between the addresses of a state space and generic addresses.
    fn convert_address(
        &mut self,
        parts: &[&str],
        to: &Operand<'a>,
        of: &Operand<'a>,
    ) -> Result<Operation, Reason> {
        let (to_space, space) = match parts {
            [_, "to", space, "u64"] => (true, *space),
            [_, space, "u64"] => (false, *space),
            _ => return Err(unknown()),
        };
        let window = match space {
            "global" | "const" => 0,
            "shared" | "shared::cta" => SHARED_WINDOW,
            "local" => LOCAL_WINDOW,
            _ => return Err(unknown()),
        };
        let name = if to_space { "sub" } else { "add" };
        let function = arithmetic::find(name, Type::u64).ok_or_else(unknown)?;
        self.compute(function, Type::u64, to, &[of.clone(), Operand::Number(window)])
    }

    fn convert(
        &mut self,
        parts: &[&str],
        to: &Operand<'a>,
        of: &Operand<'a>,
    ) -> Result<Operation, Reason> {
        let [_, modifiers @ .., to_type, of_type] = parts else { return Err(unknown()) };
        let (Some(from), Some(to_number)) = (Number::find(of_type), Number::find(to_type)) else {
            return Err(unknown());
        };
        let mut conversion = Conversion {
            from,
            to: to_number,
            rounding: Rounding::Nearest,
            whole: false,
            saturates: false,
            flushes: false,
        };
        for modifier in modifiers {
            match *modifier {
                "sat" => conversion.saturates = true,
                "ftz" => conversion.flushes = true,
                rounding => {
                    conversion.whole = rounding.ends_with('i');
                    conversion.rounding = match rounding.trim_end_matches('i') {
                        "rn" => Rounding::Nearest,
                        "rz" => Rounding::Zero,
                        "rm" => Rounding::Down,
                        "rp" => Rounding::Up,
                        _ => return Err(unknown()),
                    };
                }
            }
        }
        let of = self.any_width(of, from.bits() == 64)?;
        let to = self.any_width(to, to_number.bits() == 64)?;
        Ok(Operation::Convert { conversion, to, of })
    }

    fn compare(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Result<Operation, Reason> {
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
            (Some(logic), [other]) => {
                let (predicate, negated) = self.predicate(other)?;
                Some((logic, predicate, negated))
            }
            _ => return Err(miscounted()),
        };
        let of = [self.value(x, kind.is_wide())?, self.value(y, kind.is_wide())?];
        let (to, negated) = match to {
            Operand::Pair(to, negated) => (
                self.target(&Operand::Name(to), Bank::Predicate)?,
                Some(self.target(&Operand::Name(negated), Bank::Predicate)?),
            ),
            _ => (self.target(to, Bank::Predicate)?, None),
        };
        Ok(Operation::Compare { relation, kind, of, result: Comparison { to, negated, with } })
    }

    fn logic(&mut self, name: &str, operands: &[Operand<'a>]) -> Result<Operation, Reason> {
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

/// Returns the type at the end of an instruction's name.
pub(super) fn kind(parts: &[&str]) -> Result<Type, Reason> {
    parts.last().and_then(|last| Type::find(last)).ok_or_else(unknown)
}

pub(super) fn unknown() -> Reason {
    "this instruction is not supported".into()
}

pub(super) fn miscounted() -> Reason {
    "this instruction has the wrong number of operands".into()
}

pub(super) fn misfit(name: &str) -> Reason {
    format!("the register {name} has the wrong size")
}
