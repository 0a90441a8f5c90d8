//! The registers of an instruction: a visitor for the passes that read or replace them.

use super::{
    Address, Atomic, Barrier, Collective, Comparison, Copies, Instruction, Mbarrier,
    MbarrierAction, Operation, Question, Vote,
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
        use Bank::{Double, Predicate, Word};
        use Use::{Read, Write};
        if let Some((guard, _)) = &mut self.guard {
            see(Predicate, guard, Read);
        }
        let loads = matches!(self.operation, Operation::Load(_));
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
            Operation::Compare(Comparison { kind, of, to, negated, with, .. }) => {
                of.iter_mut().for_each(|register| see(Bank::of(kind.is_wide()), register, Read));
                with.iter_mut().for_each(|(_, (predicate, _))| see(Predicate, predicate, Read));
                see(Predicate, to, Write);
                negated.iter_mut().for_each(|negated| see(Predicate, negated, Write));
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
            Operation::Load(access) | Operation::Store(access) => {
                see_address(&mut access.address, &mut see);
                let purpose = if loads { Write } else { Read };
                let registers = access.registers.iter_mut().take(access.count.into());
                registers.for_each(|register| see(Bank::of(access.wide), register, purpose));
            }
            Operation::Atomic(Atomic { address, kind, to, of, .. }) => {
                see_address(address, &mut see);
                of.iter_mut().for_each(|register| see(Bank::of(kind.is_wide()), register, Read));
                to.iter_mut().for_each(|to| see(Bank::of(kind.is_wide()), to, Write));
            }
            Operation::Collective { collective, members } => {
                see(Word, members, Read);
                see_collective(collective, &mut see);
            }
            Operation::ActiveMask { to } => see(Word, to, Write),
            Operation::Barrier(Barrier { number, threads, question, .. }) => {
                see(Word, number, Read);
                threads.iter_mut().for_each(|threads| see(Word, threads, Read));
                if let Some(Question { vote, of, to }) = question {
                    see(Predicate, &mut of.0, Read);
                    see(Bank::of_vote(*vote), to, Write);
                }
            }
            Operation::Clock { wide, to } => see(Bank::of(*wide), to, Write),
            Operation::Mbarrier(Mbarrier { address, action }) => {
                see_address(address, &mut see);
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
                let addresses = [to, from, mbarrier].into_iter();
                addresses.for_each(|address| see_address(address, &mut see));
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
