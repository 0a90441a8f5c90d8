//! The state of a warp: its registers, and the groups of its lanes with their next instructions.
//!
//! Lanes diverge at branches. One group of lanes runs at a time. The group at the lowest rank runs first, so that
//! groups reconverge where their paths join (see [`Instruction::rank`]).

use crate::block::{Launch, index};
use crate::lanes::{LANES, Mask, Registers, each, extended, which};
use crate::memory::POISON;
use crate::program::{Bank, Constant, Instruction, Question, Special, Vote};
use crate::race;

/// The number of backward jumps after which another group of lanes runs, because a loop may wait for it.
const PATIENCE: u32 = 256;

#[derive(Default)]
pub struct Warp {
    pub number: u16,
    pub registers: Registers,
    pub at: usize,
    pub mask: Mask,
    /// The groups of the other lanes that have not exited.
    pub others: Vec<Group>,
    /// The lanes that have a thread; the last warp of a block may have fewer than 32.
    pub exists: Mask,
    pub exited: Mask,
    pub clock: race::Clock,
    /// Whether this object has already been used for a warp of the same launch.
    begun: bool,
    /// The local memory of all lanes, one lane after another.
    pub local: Vec<u8>,
    /// The lanes that have waited for the end of earlier launches.
    pub waited: Mask,
    /// The reduction at the barrier where the warp waits (`barrier.red`).
    pub question: Option<Question>,
    /// The mbarrier of the last wait, if its phase was not complete.
    pub awaited: Option<u64>,
    /// Whether the warp executes an instruction again, whose execution has been recorded.
    pub again: bool,
    /// The number of backward jumps until another group runs.
    pub patience: u32,
    /// The number of basic blocks for which the running lanes keep running whatever the ranks are, because they have
    /// waited long.
    favour: u32,
}

/// A group of lanes at the same instruction that does not run now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    pub at: usize,
    pub mask: Mask,
    /// Whether the lanes wait there for other lanes of the warp.
    pub waits: bool,
}

impl Warp {
    pub fn begin(&mut self, number: u16, block: [u32; 3], launch: &Launch) {
        let kernel = launch.kernel;
        let lanes = (launch.threads() - usize::from(number) * LANES).min(LANES);
        let exists = Mask::MAX >> (LANES - lanes);
        self.registers.predicates.resize(kernel.registers[Bank::Predicate as usize], 0);
        self.registers.words.resize(kernel.registers[Bank::Word as usize], [0; LANES]);
        self.registers.doubles.resize(kernel.registers[Bank::Double as usize], [0; LANES]);
        self.local.clear();
        self.local.resize(kernel.local_bytes * LANES, POISON);
        (self.number, self.at, self.mask) = (number, 0, exists);
        (self.exists, self.exited, self.waited) = (exists, 0, 0);
        (self.patience, self.favour) = (PATIENCE, 0);
        (self.awaited, self.again) = (None, false);
        self.others.clear();
        self.clock = race::Clock::default();
        // Only the block's index changes: no instruction writes constant registers, and this object always has the same
        // warp index.
        let again = std::mem::replace(&mut self.begun, true);
        let changes = |constant| !again || matches!(constant, Constant::Special(Special::Block(_)));
        for &(bank, slot, constant) in kernel.constants.iter().filter(|(.., c)| changes(*c)) {
            let slot = usize::from(slot);
            let values = self.constant(constant, block, launch);
            match bank {
                Bank::Predicate => {
                    self.registers.predicates[slot] = which(|lane| values[lane] != 0);
                }
                Bank::Word => self.registers.words[slot] = each(|lane| values[lane] as u32),
                Bank::Double => self.registers.doubles[slot] = values,
            }
        }
    }

    fn constant(&self, constant: Constant, block: [u32; 3], launch: &Launch) -> [u64; LANES] {
        let value = match constant {
            Constant::Bits(bits) => bits,
            Constant::Argument(offset, bytes, signed) => element(&launch.arguments[offset..], bytes.into(), signed),
            Constant::Address(variable) => launch.variables[variable],
            Constant::Special(special) => {
                return each(|lane| u64::from(self.special(special, lane, block, launch)));
            }
        };
        [value; LANES]
    }

    fn special(&self, special: Special, lane: usize, block: [u32; 3], launch: &Launch) -> u32 {
        match special {
            Special::Thread(d) => index(self.thread(lane).into(), launch.shape)[usize::from(d)],
            Special::BlockShape(d) => launch.shape[usize::from(d)],
            Special::Block(d) => block[usize::from(d)],
            Special::GridShape(d) => launch.grid[usize::from(d)],
            Special::Lane => lane as u32,
            Special::Warp => self.number.into(),
            Special::LaneMask(relation) => relation.lanes::<u32>(&each(|other| other as u32), &[lane as u32; LANES]),
            Special::DynamicShared => launch.dynamic_shared as u32,
        }
    }

    /// Writes the result of a barrier's reduction: `asked` threads took part, and the predicate of `hold` of them is
    /// true.
    pub fn answer(&mut self, asked: u32, hold: u32) {
        let Some(Question { vote, to, .. }) = self.question.take() else { return };
        let holds = if vote == Vote::All { hold == asked } else { hold > 0 };
        match vote {
            Vote::Ballot => self.registers.words[usize::from(to)] = [hold; LANES],
            _ => self.registers.set_predicate(to, Mask::MAX, if holds { Mask::MAX } else { 0 }),
        }
    }

    /// Returns the first running lane, or 0 if all have exited.
    pub fn first_lane(&self) -> usize {
        self.mask.trailing_zeros() as usize % LANES
    }

    /// Returns the linear index of a lane's thread in the block.
    pub fn thread(&self, lane: usize) -> u16 {
        self.number * LANES as u16 + lane as u16
    }

    /// Called at the start of a basic block. Merges the groups at the same instruction into the running lanes, and
    /// switches to a group with a lower rank. Returns whether it has switched.
    pub fn converge(&mut self, code: &[Instruction]) -> bool {
        let here = self.at;
        let mut k = 0;
        while let Some(&other) = self.others.get(k) {
            if other.at == here && !other.waits {
                self.mask |= other.mask;
                self.others.swap_remove(k);
            } else {
                k += 1;
            }
        }
        if self.favour > 0 {
            self.favour -= 1;
            return false;
        }
        match self.lowest(code) {
            Some((k, rank)) if rank < code[here].rank => {
                self.switch(k);
                true
            }
            _ => false,
        }
    }

    /// Returns the index and the rank of the group with the lowest rank among those that do not wait.
    pub fn lowest(&self, code: &[Instruction]) -> Option<(usize, u32)> {
        let ready = self.others.iter().enumerate().filter(|(_, group)| !group.waits);
        ready.map(|(k, group)| (k, code[group.at].rank)).min_by_key(|&(_, rank)| rank)
    }

    fn switch(&mut self, k: usize) {
        let Group { at, mask, .. } = self.others[k];
        self.others[k] = Group { at: self.at, mask: self.mask, waits: false };
        (self.at, self.mask) = (at, mask);
    }

    /// Called at backward jumps while other groups exist. After many jumps it switches to the group that has waited
    /// longest.
    pub fn tire(&mut self) {
        self.patience = self.patience.saturating_sub(1);
        if self.patience > 0 {
            return;
        }
        (self.patience, self.favour) = (PATIENCE, PATIENCE);
        if let Some(k) = self.others.iter().position(|group| !group.waits) {
            self.switch(k);
            // The lanes that ran until now go to the end of the queue.
            self.others[k..].rotate_left(1);
        }
    }
}

/// Returns the element at the start of `memory` as the bits of a register.
#[inline(always)]
pub fn element(memory: &[u8], bytes: usize, signed: bool) -> u64 {
    let mut bits = [0; 8];
    bits[..bytes].copy_from_slice(&memory[..bytes]);
    let bits = u64::from_le_bytes(bits);
    if signed { extended(bits, 8 * bytes as u32) as u64 } else { bits }
}
