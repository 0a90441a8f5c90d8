//! A warp: its registers, and where its lanes are.

mod access;
mod atomic;
mod checks;
mod collective;
mod run;

pub use run::{Engine, Pause};

use crate::lanes::{LANES, Mask, Registers, each};
use crate::program::{Bank, Constant, Instruction, Kernel, Question, Special, Vote};
use crate::race;

/// Jumps back after which lanes that wait for their turn get it: a loop may wait for them.
const PATIENCE: u32 = 256;
/// As many jumps back as a look at what others may change counts for.
const POLL: u32 = 32;

/// A warp of a resident block.
#[derive(Default)]
pub struct Warp {
    /// Its number in the block.
    pub number: u16,
    /// What its lanes compute with.
    pub registers: Registers,
    /// The next instruction of the lanes that go on now.
    pub at: usize,
    /// The lanes that go on now.
    pub mask: Mask,
    /// All others that have not exited.
    others: Vec<Group>,
    /// The lanes that there are: fewer than 32 in a block's last warp.
    pub exists: Mask,
    /// The lanes that have ended.
    pub exited: Mask,
    /// What orders its accesses.
    pub clock: race::Clock,
    /// Whether it has begun before, in the same place and launch.
    begun: bool,
    /// Local memory, a lane's after the other's.
    local: Vec<u8>,
    /// What it has asked at the barrier that it waits at.
    question: Option<Question>,
    /// Jumps back until others get their turn.
    patience: u32,
    /// Blocks for which the order of ranks does not count, as these lanes have waited long.
    favour: u32,
}

/// Lanes that are at the same instruction and do not go on now.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    at: usize,
    mask: Mask,
    /// Whether they wait there for others to come.
    waits: bool,
}

/// What a block's registers begin with.
pub struct Start<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The bytes of its arguments.
    pub arguments: &'a [u8],
    /// Addresses of the module's variables.
    pub variables: &'a [u64],
    /// The shape of the grid.
    pub grid: [u32; 3],
    /// The shape of a block.
    pub shape: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: usize,
}

impl Warp {
    /// Begins anew as a warp of a block, with the constants of the launch in its registers.
    pub fn begin(&mut self, number: u16, block: [u32; 3], start: &Start) {
        let kernel = start.kernel;
        let threads = start.shape.iter().product::<u32>() as usize;
        let lanes = (threads - usize::from(number) * LANES).min(LANES);
        let exists = Mask::MAX >> (LANES - lanes);
        self.registers.predicates.resize(kernel.registers[Bank::Predicate as usize], 0);
        self.registers.words.resize(kernel.registers[Bank::Word as usize], [0; LANES]);
        self.registers.doubles.resize(kernel.registers[Bank::Double as usize], [0; LANES]);
        self.local.clear();
        self.local.resize(kernel.local_bytes * LANES, crate::memory::POISON);
        (self.number, self.at, self.mask) = (number, 0, exists);
        (self.exists, self.exited) = (exists, 0);
        (self.patience, self.favour) = (PATIENCE, 0);
        self.others.clear();
        self.clock = race::Clock::default();
        // Nothing writes to the others, and the warps of a place have the same number in every block.
        let again = std::mem::replace(&mut self.begun, true);
        let changes = |constant| !again || matches!(constant, Constant::Special(Special::Block(_)));
        for &(bank, slot, constant) in kernel.constants.iter().filter(|(.., c)| changes(*c)) {
            let slot = usize::from(slot);
            let values = self.constant(constant, block, start);
            match bank {
                Bank::Predicate => {
                    let lanes = values.iter().enumerate();
                    self.registers.predicates[slot] =
                        lanes.fold(0, |mask, (lane, &value)| mask | Mask::from(value != 0) << lane);
                }
                Bank::Word => self.registers.words[slot] = each(|lane| values[lane] as u32),
                Bank::Double => self.registers.doubles[slot] = values,
            }
        }
    }

    fn constant(&self, constant: Constant, block: [u32; 3], start: &Start) -> [u64; LANES] {
        let value = match constant {
            Constant::Bits(bits) => bits,
            Constant::Argument(offset, bytes, signed) => {
                element(&start.arguments[offset..], bytes.into(), signed)
            }
            Constant::Address(variable) => start.variables[variable],
            Constant::Special(special) => {
                return each(|lane| u64::from(self.special(special, lane, block, start)));
            }
        };
        [value; LANES]
    }

    fn special(&self, special: Special, lane: usize, block: [u32; 3], start: &Start) -> u32 {
        let lower = (1u32 << lane) - 1;
        match special {
            Special::Thread(d) => thread_index(self.thread(lane), start.shape)[usize::from(d)],
            Special::BlockShape(d) => start.shape[usize::from(d)],
            Special::Block(d) => block[usize::from(d)],
            Special::GridShape(d) => start.grid[usize::from(d)],
            Special::Lane => lane as u32,
            Special::Warp => self.number.into(),
            Special::LaneMask => 1 << lane,
            Special::LowerLanes => lower,
            Special::LowerLanesAndThis => lower | 1 << lane,
            Special::HigherLanes => !lower & !(1 << lane),
            Special::HigherLanesAndThis => !lower,
            Special::DynamicShared => start.dynamic_shared as u32,
        }
    }

    /// The barrier that it waits at opens: how many threads were asked, and for how many it holds.
    pub fn answer(&mut self, asked: u32, hold: u32) {
        let Some(Question { vote, to, .. }) = self.question.take() else { return };
        let to = usize::from(to);
        if vote == Vote::Ballot {
            self.registers.words[to] = [hold; LANES];
            return;
        }
        let holds = if vote == Vote::All { hold == asked } else { hold > 0 };
        self.registers.predicates[to] = if holds { Mask::MAX } else { 0 };
    }

    /// The number of a lane's thread in the block.
    pub fn thread(&self, lane: usize) -> u16 {
        self.number * LANES as u16 + lane as u16
    }

    /// At the beginning of a block: lanes that are there too go on together with these, and lanes at a
    /// lower rank go first. Whether others go on now.
    fn converge(&mut self, code: &[Instruction]) -> bool {
        let here = self.at;
        let mut k = 0;
        while k < self.others.len() {
            let other = self.others[k];
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

    /// Of the lanes that could go on, those at the lowest rank: their group and the rank.
    fn lowest(&self, code: &[Instruction]) -> Option<(usize, u32)> {
        let ready = self.others.iter().enumerate().filter(|(_, group)| !group.waits);
        ready.map(|(k, group)| (k, code[group.at].rank)).min_by_key(|&(_, rank)| rank)
    }

    /// Lets a group go on in place of the present lanes.
    fn switch(&mut self, k: usize) {
        let Group { at, mask, .. } = self.others[k];
        self.others[k] = Group { at: self.at, mask: self.mask, waits: false };
        (self.at, self.mask) = (at, mask);
    }

    /// Steps over an instruction that looks at what others may change.
    fn polled(&mut self) {
        self.at += 1;
        self.patience = self.patience.saturating_sub(POLL);
    }

    /// When a loop has taken long: lanes that wait for their turn get it, those that waited longest first.
    fn tire(&mut self) {
        self.patience = self.patience.saturating_sub(1);
        if self.patience > 0 {
            return;
        }
        (self.patience, self.favour) = (PATIENCE, PATIENCE);
        if let Some(k) = self.others.iter().position(|group| !group.waits) {
            self.switch(k);
            // What went on until now goes to the end.
            self.others[k..].rotate_left(1);
        }
    }
}

/// A thread's index by dimensions, from its number in a block of that shape.
pub fn thread_index(thread: u16, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let thread = u32::from(thread);
    [thread % x, thread / x % y, thread / x / y]
}

/// An element of memory as the bits of a register.
#[inline(always)]
pub fn element(memory: &[u8], bytes: usize, signed: bool) -> u64 {
    let mut bits = [0; 8];
    bits[..bytes].copy_from_slice(&memory[..bytes]);
    let bits = u64::from_le_bytes(bits);
    let unused = 64 - 8 * bytes as u32;
    if signed { ((bits << unused) as i64 >> unused) as u64 } else { bits }
}
