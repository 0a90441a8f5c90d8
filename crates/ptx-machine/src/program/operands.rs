//! The registers of an instruction: a visitor for the passes that read or replace them.

use super::operation::{
    Access, Address, Atomic, Barrier, Collective, Comparison, Copies, Instruction, Mbarrier, MbarrierAction, Operation,
    Question, Vote,
};
use crate::arithmetic::widths;
use crate::lanes::Slot;

/// The bank of a register, which depends on its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bank {
    /// One bit for each lane.
    Predicate,
    Word,
    Double,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Read,
    Write,
}

impl Bank {
    /// Returns the bank of registers of 64 bits (`wide`) or 32 bits.
    pub fn of(wide: bool) -> Self {
        if wide { Self::Double } else { Self::Word }
    }

    fn of_vote(vote: Vote) -> Self {
        if vote == Vote::Ballot { Self::Word } else { Self::Predicate }
    }
}

impl Instruction {
    /// Returns the registers with their uses, first those that are read.
    pub fn uses(mut self) -> Vec<((Bank, Slot), Use)> {
        let mut uses = Vec::new();
        self.visit(|bank, slot, purpose| uses.push(((bank, *slot), purpose)));
        uses
    }

    /// Calls `see` for each register, first those that are read. `see` may replace the register.
    pub fn visit(&mut self, mut see: impl FnMut(Bank, &mut Slot, Use)) {
        use Bank::{Predicate, Word};
        use Use::{Read, Write};
        if let Some((guard, _)) = &mut self.guard {
            see(Predicate, guard, Read);
        }
        match &mut self.operation {
            Operation::Compute { function, kind, to, of } => {
                let (result, operands) = widths(*function, *kind);
                for (register, &wide) in of.iter_mut().zip(operands) {
                    see(Bank::of(wide), register, Read);
                }
                see(Bank::of(result), to, Write);
            }
            Operation::Convert { to, of, .. } => {
                see(Bank::of(of.1), &mut of.0, Read);
                see(Bank::of(to.1), &mut to.0, Write);
            }
            Operation::Compare(comparison) => see_comparison(comparison, &mut see),
            Operation::Select { wide, to, of, by } => {
                of.iter_mut().for_each(|register| see(Bank::of(*wide), register, Read));
                see(Predicate, &mut by.0, Read);
                see(Bank::of(*wide), to, Write);
            }
            Operation::Logic { to, of, .. } => {
                of.iter_mut().for_each(|(predicate, _)| see(Predicate, predicate, Read));
                see(Predicate, to, Write);
            }
            Operation::Collective { collective, members } => {
                see(Word, members, Read);
                see_collective(collective, &mut see);
            }
            Operation::Barrier(barrier) => see_barrier(barrier, &mut see),
            Operation::ActiveMask { to } => see(Word, to, Write),
            Operation::Clock { wide, to } => see(Bank::of(*wide), to, Write),
            Operation::Load(access) => see_access(access, Write, &mut see),
            Operation::Store(access) => see_access(access, Read, &mut see),
            Operation::Atomic(atomic) => see_atomic(atomic, &mut see),
            Operation::Mbarrier(mbarrier) => see_mbarrier(mbarrier, &mut see),
            Operation::Copy(copy) => see_copy(copy, &mut see),
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

fn see_comparison(comparison: &mut Comparison, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    let Comparison { kind, of, to, negated, with, .. } = comparison;
    let bank = Bank::of(kind.is_wide());
    of.iter_mut().for_each(|register| see(bank, register, Use::Read));
    with.iter_mut().for_each(|(_, (other, _))| see(Bank::Predicate, other, Use::Read));
    see(Bank::Predicate, to, Use::Write);
    negated.iter_mut().for_each(|negated| see(Bank::Predicate, negated, Use::Write));
}

fn see_barrier(barrier: &mut Barrier, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    let Barrier { number, threads, question, .. } = barrier;
    see(Bank::Word, number, Use::Read);
    threads.iter_mut().for_each(|threads| see(Bank::Word, threads, Use::Read));
    if let Some(Question { vote, of, to }) = question {
        see(Bank::Predicate, &mut of.0, Use::Read);
        see(Bank::of_vote(*vote), to, Use::Write);
    }
}

fn see_access(access: &mut Access, purpose: Use, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    see_address(&mut access.address, see);
    let registers = access.registers.iter_mut().take(access.count.into());
    registers.for_each(|register| see(Bank::of(access.wide), register, purpose));
}

fn see_atomic(atomic: &mut Atomic, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    let Atomic { address, kind, to, of, .. } = atomic;
    let bank = Bank::of(kind.is_wide());
    see_address(address, see);
    of.iter_mut().for_each(|register| see(bank, register, Use::Read));
    to.iter_mut().for_each(|to| see(bank, to, Use::Write));
}

fn see_mbarrier(mbarrier: &mut Mbarrier, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    see_address(&mut mbarrier.address, see);
    match &mut mbarrier.action {
        MbarrierAction::Init(count) => see(Bank::Word, count, Use::Read),
        MbarrierAction::Arrive { to, bytes } => {
            bytes.iter_mut().for_each(|bytes| see(Bank::Word, bytes, Use::Read));
            see(Bank::Double, to, Use::Write);
        }
        MbarrierAction::Wait { to, parity, .. } => {
            see(Bank::Word, parity, Use::Read);
            see(Bank::Predicate, to, Use::Write);
        }
    }
}

fn see_copy(copy: &mut Copies, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    let Copies { to, from, bytes, mbarrier, policy } = copy;
    [to, from, mbarrier].into_iter().for_each(|address| see_address(address, see));
    see(Bank::Word, bytes, Use::Read);
    policy.iter_mut().for_each(|policy| see(Bank::Double, policy, Use::Read));
}

fn see_address(address: &mut Address, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    see(Bank::of(address.wide), &mut address.register, Use::Read);
}

fn see_collective(collective: &mut Collective, see: &mut impl FnMut(Bank, &mut Slot, Use)) {
    use Bank::{Double, Predicate, Word};
    use Use::{Read, Write};
    match collective {
        Collective::Shuffle { to, in_range, of, by, clamp, .. } => {
            [of, by, clamp].into_iter().for_each(|register| see(Word, register, Read));
            see(Word, to, Write);
            in_range.iter_mut().for_each(|in_range| see(Predicate, in_range, Write));
        }
        Collective::Vote { vote, to, of } => {
            see(Predicate, &mut of.0, Read);
            see(Bank::of_vote(*vote), to, Write);
        }
        Collective::Match { all, wide, to, of } => {
            see(Bank::of(*wide), of, Read);
            see(Word, to, Write);
            all.iter_mut().flatten().for_each(|same| see(Predicate, same, Write));
        }
        Collective::Reduce { to, of, .. } => {
            see(Word, of, Read);
            see(Word, to, Write);
        }
        Collective::Multiply { to, left, right, of } => {
            [left, right].into_iter().chain(of).for_each(|register| see(Double, register, Read));
            to.iter_mut().for_each(|register| see(Double, register, Write));
        }
        Collective::Barrier => (),
    }
}
