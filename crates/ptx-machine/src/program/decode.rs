//! The decoder: converts PTX statements into instructions of the machine.

use std::collections::hash_map::Entry::{Occupied, Vacant};

use super::decoder::{Decoded, Decoder, kind, miscounted, unknown};
use super::kernel::Kernel;
use super::operands::Bank;
use super::operation::{Comparison, EVICT_FIRST, Logic, Operation};
use super::{flow, predicate, schedule, slots};
use crate::arithmetic::{self, Relation, Type};
use crate::convert::{Conversion, Number, Rounding};
use crate::lanes::Slot;
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::ptx::{Entry, Module, Operand, Place, Statement, error_at};

/// Decodes a kernel. Fails for the first instruction that is not supported.
pub fn kernel<'a>(module: &Module<'a>, entry: &Entry<'a>) -> Decoded<Kernel> {
    let error = |line: usize| move |why: String| error_at(module.text, line, &why);
    let first_line = entry.statements.first().map_or(1, |statement| statement.line);
    let mut decoder = Decoder::default();
    decoder.declare(module, entry).map_err(error(first_line))?;
    let mut starts = Vec::new();
    for statement in &entry.statements {
        starts.push(decoder.kernel.code.len() as u32);
        decoder.statement(module, statement).map_err(error(statement.line))?;
    }
    starts.push(decoder.kernel.code.len() as u32);
    // A kernel may end with a label or without `ret`.
    (decoder.guard, decoder.place) = (None, 0);
    decoder.push(Operation::Exit);
    for instruction in &mut decoder.kernel.code {
        if let Operation::Branch { target } = &mut instruction.operation {
            *target = starts[*target as usize];
        }
    }
    let mut kernel = decoder.finish();
    if kernel.registers.iter().any(|&count| count > usize::from(Slot::MAX)) {
        return Err(error(first_line)("this kernel has too many registers".into()));
    }
    arrange(&mut kernel);
    Ok(kernel)
}

/// Arranges the instructions and the registers of a kernel as an assembler does.
fn arrange(kernel: &mut Kernel) {
    predicate::predicate(&mut kernel.code);
    let blocks = flow::blocks(&kernel.code);
    schedule::schedule(&mut kernel.code, &blocks);
    flow::mark(&mut kernel.code, &blocks);
    slots::allocate(kernel, &blocks);
}

impl<'a> Decoder<'a> {
    fn statement(&mut self, module: &Module, statement: &Statement<'a>) -> Decoded<()> {
        self.guard = statement.guard.as_ref().map(|guard| self.predicate(guard)).transpose()?;
        self.place = self.number_of(module, statement.place);
        let parts: Vec<_> = statement.opcode.split('.').collect();
        if !changes_nothing(&parts) {
            let operation = self.operation(&parts, &statement.operands)?;
            self.push(operation);
        }
        Ok(())
    }

    /// Returns the number of a place in the source.
    fn number_of(&mut self, module: &Module, place: Place) -> u32 {
        match self.places.entry(place) {
            Occupied(known) => *known.get(),
            Vacant(new) => {
                self.kernel.places.push(place_name(module, place));
                *new.insert(self.kernel.places.len() as u32 - 1)
            }
        }
    }

    fn operation(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        match (parts[0], operands) {
            ("ld" | "ldu" | "st" | "atom" | "red" | "mbarrier" | "cp", _) => self.memory_operation(parts, operands),
            ("shfl" | "vote" | "match" | "redux" | "mma" | "bar" | "barrier", _) => {
                self.joint_operation(parts, operands)
            }
            ("mov", [to, of]) => self.mov(parts, to, of),
            ("cvta", [to, of]) => self.convert_address(parts, to, of),
            ("cvt", [to, of]) => self.convert(parts, to, of),
            ("setp", _) => self.compare(parts, operands),
            ("selp", [to, x, y, by]) => {
                let wide = kind(parts)?.is_wide();
                let of = [self.value(x, wide)?, self.value(y, wide)?];
                Ok(Operation::Select { wide, to: self.result(to, wide)?, of, by: self.predicate(by)? })
            }
            ("and" | "or" | "xor" | "not", _) if parts[1..] == ["pred"] => self.logic(parts[0], operands),
            ("activemask", [to]) => Ok(Operation::ActiveMask { to: self.result(to, false)? }),
            // A policy of the second-level cache for all accesses that use it.
            ("createpolicy", [to]) if parts[1..] == ["fractional", "L2::evict_first", "b64"] => {
                self.compute("mov", Type::u64, to, &[Operand::Number(EVICT_FIRST)])
            }
            ("membar", []) => Ok(Operation::Fence),
            ("fence", []) => fence(&parts[1..]),
            ("bra", [Operand::Name(label)]) => {
                let target = *self.labels.get(label).ok_or("this label is not defined")? as u32;
                Ok(Operation::Branch { target })
            }
            ("ret" | "exit", []) => Ok(Operation::Exit),
            ("nanosleep", [_]) => Ok(Operation::Sleep),
            ("trap", []) => Ok(Operation::Trap),
            ("griddepcontrol", []) if parts[1..] == ["wait"] => Ok(Operation::WaitForEarlier),
            ("call", _) => Err("calls of functions are not supported".into()),
            _ => self.arithmetic(parts, operands),
        }
    }

    /// Decodes an instruction in the table of `arithmetic`. Its name there has no modifiers that change no result.
    fn arithmetic(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let (last, modifiers) = parts.split_last().expect("at least one part");
        let exact = Type::find(last).ok_or_else(unknown)?;
        let floating = matches!(exact, Type::f32 | Type::f64);
        let flushes = exact == Type::f32 && modifiers.contains(&"ftz");
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
        let [to, of @ ..] = operands else { return Err(unknown()) };
        self.compute(&name, kind, to, of)
    }

    fn compute(&mut self, name: &str, kind: Type, to: &Operand<'a>, operands: &[Operand<'a>]) -> Decoded {
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
        let mut saturates = false;
        let mut flushes = false;
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

/// Returns whether a statement changes no result: hints for caches, and that a dependent launch may begin, which is
/// assumed anyway.
fn changes_nothing(parts: &[&str]) -> bool {
    matches!(parts[0], "prefetch" | "prefetchu" | "applypriority" | "discard")
        || parts == ["griddepcontrol", "launch_dependents"]
}

fn fence(modifiers: &[&str]) -> Decoded {
    match modifiers {
        // The second one makes an initialised mbarrier visible to copies.
        ["proxy", "async", ..] | ["mbarrier_init", "release", "cluster"] => Ok(Operation::ProxyFence),
        ["proxy", ..] => Err(unknown()),
        _ => Ok(Operation::Fence),
    }
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
