//! The registers of an instruction: a visitor for the passes that read or replace them.

use super::{
    Address, Atomic, Bank, Barrier, Copies, Instruction, Matrices, Mbarrier, MbarrierAction,
    Operation, Question, Shuffle, Vote,
};
use crate::lanes::Slot;

/// The use of a register by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The instruction reads the register.
    Read,
    /// The instruction writes the register.
    Write,
}

impl Bank {
    /// Returns the bank of registers of 64 bits (`wide`) or 32 bits.
    pub fn of(wide: bool) -> Self {
        if wide { Self::Double } else { Self::Word }
    }
}

impl Address {
    fn visit(&mut self, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
        see(Bank::of(self.wide), &mut self.register, Use::Read);
    }
}

impl Instruction {
    /// Calls `see` for each register, first those that are read. `see` may replace the register.
    pub fn registers(&mut self, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
        use Bank::{Double, Predicate, Word};
        use Use::{Read, Write};
        if let Some((guard, _)) = &mut self.guard {
            see(Predicate, guard, Read);
        }
        match &mut self.operation {
            Operation::Compute { wide, to, of, .. } => {
                for (k, register) in of.iter_mut().enumerate().take(wide.count.into()) {
                    see(Bank::of(wide.of >> k & 1 == 1), register, Read);
                }
                see(Bank::of(wide.to), to, Write);
            }
            Operation::Convert { to, of, .. } => {
                see(Bank::of(of.1), &mut of.0, Read);
                see(Bank::of(to.1), &mut to.0, Write);
            }
            Operation::Compare { kind, of, result, .. } => {
                of.iter_mut().for_each(|register| see(Bank::of(kind.is_wide()), register, Read));
                if let Some((_, predicate, _)) = &mut result.with {
                    see(Predicate, predicate, Read);
                }
                see(Predicate, &mut result.to, Write);
                if let Some(negated) = &mut result.negated {
                    see(Predicate, negated, Write);
                }
            }
            Operation::Select { wide, to, of, by } => {
                of.iter_mut().for_each(|register| see(Bank::of(*wide), register, Read));
                see(Predicate, &mut by.0, Read);
                see(Bank::of(*wide), to, Write);
            }
            Operation::Logic { to, of, .. } => {
                of.iter_mut().for_each(|(predicate, _)| see(Predicate, predicate, Read));
                see(Predicate, to, Write);
            }
            Operation::Load(access) => {
                access.address.visit(see);
                let bank = Bank::of(access.wide);
                let registers = access.registers.iter_mut().take(access.count.into());
                registers.for_each(|register| see(bank, register, Write));
            }
            Operation::Store(access) => {
                access.address.visit(see);
                let bank = Bank::of(access.wide);
                let registers = access.registers.iter_mut().take(access.count.into());
                registers.for_each(|register| see(bank, register, Read));
            }
            Operation::Atomic(Atomic { address, wide, to, of, .. }) => {
                address.visit(see);
                of.iter_mut().for_each(|register| see(Bank::of(*wide), register, Read));
                if let Some(to) = to {
                    see(Bank::of(*wide), to, Write);
                }
            }
            Operation::Shuffle(Shuffle { to, in_range, of, by, clamp, members, .. }) => {
                [of, by, clamp, members].into_iter().for_each(|register| see(Word, register, Read));
                see(Word, to, Write);
                if let Some(in_range) = in_range {
                    see(Predicate, in_range, Write);
                }
            }
            Operation::Vote { vote, to, of, members } => {
                see(Predicate, &mut of.0, Read);
                see(Word, members, Read);
                see(if *vote == Vote::Ballot { Word } else { Predicate }, to, Write);
            }
            Operation::Match { all, wide, to, of, members } => {
                see(Bank::of(*wide), of, Read);
                see(Word, members, Read);
                see(Word, to, Write);
                if let Some(Some(same)) = all {
                    see(Predicate, same, Write);
                }
            }
            Operation::Reduce { to, of, members, .. } => {
                [of, members].into_iter().for_each(|register| see(Word, register, Read));
                see(Word, to, Write);
            }
            Operation::Multiply(Matrices { to, left, right, of }) => {
                [left, right]
                    .into_iter()
                    .chain(of)
                    .for_each(|register| see(Double, register, Read));
                to.iter_mut().for_each(|register| see(Double, register, Write));
            }
            Operation::ActiveMask { to } => see(Word, to, Write),
            Operation::WarpBarrier { members } => see(Word, members, Read),
            Operation::Barrier(Barrier { number, threads, question, .. }) => {
                see(Word, number, Read);
                if let Some(threads) = threads {
                    see(Word, threads, Read);
                }
                if let Some(Question { vote, of, to }) = question {
                    see(Predicate, &mut of.0, Read);
                    see(if *vote == Vote::Ballot { Word } else { Predicate }, to, Write);
                }
            }
            Operation::Clock { wide, to } => see(if *wide { Double } else { Word }, to, Write),
            Operation::Mbarrier(Mbarrier { address, action }) => {
                address.visit(see);
                match action {
                    MbarrierAction::Init(count) => see(Word, count, Read),
                    MbarrierAction::Arrive { to, bytes } => {
                        bytes.iter_mut().for_each(|bytes| see(Word, bytes, Read));
                        see(Double, to, Write);
                    }
                    MbarrierAction::Wait { to, parity, .. } => {
                        see(Word, parity, Read);
                        see(Predicate, to, Write);
                    }
                }
            }
            Operation::Copy(Copies { to, from, bytes, mbarrier, policy }) => {
                [to, from, mbarrier].into_iter().for_each(|address| address.visit(see));
                see(Word, bytes, Read);
                policy.iter_mut().for_each(|policy| see(Double, policy, Read));
            }
            Operation::Fence
            | Operation::ProxyFence
            | Operation::WaitForEarlier
            | Operation::Branch { .. }
            | Operation::Exit
            | Operation::Sleep
            | Operation::Trap => (),
        }
    }
}
