//! Decoding of collective statements: shuffles, barriers, matches and products of matrices.

use super::decode::{Decoder, Reason, kind, miscounted, unknown};
use super::{Bank, Barrier, Matrices, Operation, Question, Shuffle, Source, Vote};
use crate::ptx::Operand;

/// The modifiers of the only supported product of matrices.
const DOUBLES: [&str; 9] = ["sync", "aligned", "m8n8k4", "row", "col", "f64", "f64", "f64", "f64"];

impl<'a> Decoder<'a> {
    pub(super) fn shuffle(
        &mut self,
        parts: &[&str],
        operands: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
        let source = match parts[1..] {
            ["sync", "up", "b32"] => Source::Up,
            ["sync", "down", "b32"] => Source::Down,
            ["sync", "bfly", "b32"] => Source::Butterfly,
            ["sync", "idx", "b32"] => Source::Index,
            _ => return Err(unknown()),
        };
        let [to, of, by, clamp, members] = operands else { return Err(miscounted()) };
        let [of, by, clamp, members] = [of, by, clamp, members].map(|o| self.value(o, false));
        let (to, in_range) = match to {
            Operand::Pair(to, in_range) => (
                self.result(&Operand::Name(to), false)?,
                Some(self.target(&Operand::Name(in_range), Bank::Predicate)?),
            ),
            _ => (self.result(to, false)?, None),
        };
        let (of, by, clamp, members) = (of?, by?, clamp?, members?);
        Ok(Operation::Shuffle(Shuffle { source, to, in_range, of, by, clamp, members }))
    }

    pub(super) fn barrier(
        &mut self,
        parts: &[&str],
        operands: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
        let kinds: Vec<_> = parts[1..].iter().filter(|part| **part != "aligned").copied().collect();
        if let ["red", name, _] | ["cta", "red", name, _] = kinds[..] {
            return self.asking_barrier(name, operands);
        }
        let waits = match kinds[..] {
            ["warp", "sync"] => {
                let [members] = operands else { return Err(miscounted()) };
                return Ok(Operation::WarpBarrier { members: self.value(members, false)? });
            }
            ["sync"] | ["cta", "sync"] => true,
            ["arrive"] | ["cta", "arrive"] => false,
            _ => return Err(unknown()),
        };
        let (number, threads) = match operands {
            [number] if waits => (number, None),
            [number, threads] => (number, Some(self.value(threads, false)?)),
            _ => return Err(miscounted()),
        };
        let number = self.value(number, false)?;
        Ok(Operation::Barrier(Barrier { number, threads, waits, question: None }))
    }

    /// Decodes a barrier with a reduction of a predicate.
    fn asking_barrier(
        &mut self,
        name: &str,
        operands: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
        let (vote, bank) = match name {
            "popc" => (Vote::Ballot, Bank::Word),
            "and" => (Vote::All, Bank::Predicate),
            "or" => (Vote::Any, Bank::Predicate),
            _ => return Err(unknown()),
        };
        let (to, number, threads, of) = match operands {
            [to, number, of] => (to, number, None, of),
            [to, number, threads, of] => (to, number, Some(self.value(threads, false)?), of),
            _ => return Err(miscounted()),
        };
        let (number, of) = (self.value(number, false)?, self.predicate(of)?);
        let question = Some(Question { vote, of, to: self.target(to, bank)? });
        Ok(Operation::Barrier(Barrier { number, threads, waits: true, question }))
    }

    pub(super) fn match_values(
        &mut self,
        parts: &[&str],
        to: &Operand<'a>,
        of: &Operand<'a>,
        members: &Operand<'a>,
    ) -> Result<Operation, Reason> {
        let (["sync", name, _] | [name, "sync", _]) = parts[1..] else { return Err(unknown()) };
        let wide = kind(parts)?.is_wide();
        let (of, members) = (self.value(of, wide)?, self.value(members, false)?);
        let (to, same) = match to {
            Operand::Pair(to, same) => {
                (Operand::Name(to), Some(self.target(&Operand::Name(same), Bank::Predicate)?))
            }
            other => (other.clone(), None),
        };
        let all = match name {
            "all" => Some(same),
            "any" => None,
            _ => return Err(unknown()),
        };
        Ok(Operation::Match { all, wide, to: self.result(&to, false)?, of, members })
    }

    pub(super) fn multiply(
        &mut self,
        parts: &[&str],
        [to, left, right, of]: [&Operand<'a>; 4],
    ) -> Result<Operation, Reason> {
        let (Operand::Vector(to), Operand::Vector(left)) = (to, left) else {
            return Err(unknown());
        };
        let (Operand::Vector(right), Operand::Vector(of)) = (right, of) else {
            return Err(unknown());
        };
        let ([first, second], [left], [right], [one, other]) =
            (&to[..], &left[..], &right[..], &of[..])
        else {
            return Err(miscounted());
        };
        if parts[1..] != DOUBLES {
            return Err(unknown());
        }
        let (left, right) = (self.value(left, true)?, self.value(right, true)?);
        let of = [self.value(one, true)?, self.value(other, true)?];
        let to = [self.result(first, true)?, self.result(second, true)?];
        Ok(Operation::Multiply(Matrices { to, left, right, of }))
    }
}
