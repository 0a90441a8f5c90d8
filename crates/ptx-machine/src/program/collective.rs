//! Decoding of the statements that several lanes execute together.

use super::decoder::{Decoded, Decoder, kind, miscounted, unknown};
use super::operands::Bank;
use super::operation::{Barrier, Collective, Operation, Question, Source, Update, Vote};
use crate::ptx::Operand;

/// The modifiers of the only supported product of matrices.
const DOUBLES: [&str; 9] = ["sync", "aligned", "m8n8k4", "row", "col", "f64", "f64", "f64", "f64"];

impl<'a> Decoder<'a> {
    pub fn joint_operation(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        match parts[0] {
            "shfl" => self.shuffle(parts, operands),
            "vote" => self.vote(parts, operands),
            "match" => self.match_values(parts, operands),
            "redux" => self.reduce(parts, operands),
            "mma" => self.multiply(parts, operands),
            _ => self.barrier(parts, operands),
        }
    }

    fn together(&mut self, collective: Collective, members: &Operand<'a>) -> Decoded {
        Ok(Operation::Collective { collective, members: self.value(members, false)? })
    }

    fn shuffle(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let source = match parts[1..] {
            ["sync", "up", "b32"] => Source::Up,
            ["sync", "down", "b32"] => Source::Down,
            ["sync", "bfly", "b32"] => Source::Butterfly,
            ["sync", "idx", "b32"] => Source::Index,
            _ => return Err(unknown()),
        };
        let [to, of, by, clamp, members] = operands else { return Err(miscounted()) };
        let of = self.value(of, false)?;
        let by = self.value(by, false)?;
        let clamp = self.value(clamp, false)?;
        let (to, in_range) = self.pair(to, Bank::Word)?;
        self.together(Collective::Shuffle { source, to, in_range, of, by, clamp }, members)
    }

    fn vote(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let (vote, bank) = match parts[1..] {
            ["sync", "all", "pred"] => (Vote::All, Bank::Predicate),
            ["sync", "any", "pred"] => (Vote::Any, Bank::Predicate),
            ["sync", "uni", "pred"] => (Vote::Uniform, Bank::Predicate),
            ["sync", "ballot", "b32"] => (Vote::Ballot, Bank::Word),
            _ => return Err(unknown()),
        };
        let [to, of, members] = operands else { return Err(miscounted()) };
        let of = self.predicate(of)?;
        let to = self.target(to, bank)?;
        self.together(Collective::Vote { vote, to, of }, members)
    }

    fn match_values(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let (["sync", name, _] | [name, "sync", _]) = parts[1..] else { return Err(unknown()) };
        let [to, of, members] = operands else { return Err(miscounted()) };
        let wide = kind(parts)?.is_wide();
        let of = self.value(of, wide)?;
        let (to, same) = self.pair(to, Bank::Word)?;
        let all = match name {
            "all" => Some(same),
            "any" => None,
            _ => return Err(unknown()),
        };
        self.together(Collective::Match { all, wide, to, of }, members)
    }

    fn reduce(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let (["sync", name, _], kind) = (&parts[1..], kind(parts)?) else { return Err(unknown()) };
        let [to, of, members] = operands else { return Err(miscounted()) };
        let update = Update::find(name).filter(|update| update.reduces()).ok_or_else(unknown)?;
        let of = self.value(of, false)?;
        let to = self.result(to, false)?;
        self.together(Collective::Reduce { update, kind, to, of }, members)
    }

    fn multiply(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        if parts[1..] != DOUBLES {
            return Err(unknown());
        }
        let elements: Vec<_> = operands.iter().map(Operand::elements).collect();
        let &[[first, second], [left], [right], [one, other]] = &elements[..] else {
            return Err(miscounted());
        };
        let left = self.value(left, true)?;
        let right = self.value(right, true)?;
        let of = [self.value(one, true)?, self.value(other, true)?];
        let to = [self.result(first, true)?, self.result(second, true)?];
        let all = Operand::Number(u32::MAX.into());
        self.together(Collective::Multiply { to, left, right, of }, &all)
    }

    /// Decodes `bar` and `barrier`, also with a reduction of a predicate.
    fn barrier(&mut self, parts: &[&str], operands: &[Operand<'a>]) -> Decoded {
        let name: Vec<_> = parts[1..].iter().filter(|part| **part != "aligned").copied().collect();
        let name = name.strip_prefix(&["cta"]).unwrap_or(&name);
        let reduction = match name {
            ["warp", "sync"] => {
                let [members] = operands else { return Err(miscounted()) };
                return self.together(Collective::Barrier, members);
            }
            ["sync" | "arrive"] => None,
            ["red", "popc", _] => Some((Vote::Ballot, Bank::Word)),
            ["red", "and", _] => Some((Vote::All, Bank::Predicate)),
            ["red", "or", _] => Some((Vote::Any, Bank::Predicate)),
            _ => return Err(unknown()),
        };
        let waits = name != ["arrive"];
        let (question, operands) = match (reduction, operands) {
            (None, _) => (None, operands),
            (Some((vote, bank)), [to, operands @ .., of]) => {
                let of = self.predicate(of)?;
                let to = self.target(to, bank)?;
                (Some(Question { vote, of, to }), operands)
            }
            _ => return Err(miscounted()),
        };
        let (number, threads) = match operands {
            [number] if waits => (number, None),
            [number, threads] => (number, Some(self.value(threads, false)?)),
            _ => return Err(miscounted()),
        };
        let number = self.value(number, false)?;
        Ok(Operation::Barrier(Barrier { number, threads, waits, question }))
    }
}
