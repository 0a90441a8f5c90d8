//! Register allocation. PTX uses a new register for almost every value. Registers that are never live at the same
//! time share a slot, so that the registers of a warp stay in the cache of the host processor.

use super::flow::Block;
use super::operands::Use;
use super::{Bank, Instruction, Kernel};
use crate::lanes::Slot;

/// A set of registers of all banks.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, register: usize) {
        self.0[register / 64] |= 1 << (register % 64);
    }

    fn remove(&mut self, register: usize) {
        self.0[register / 64] &= !(1 << (register % 64));
    }

    fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    fn members(&self) -> impl Iterator<Item = usize> {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        let words = self.0.iter().enumerate();
        words.flat_map(move |(k, &word)| bits(word).map(move |bit| 64 * k + bit))
    }
}

/// The numbering of the registers of all banks.
struct Numbers {
    /// The first number of each bank, and the total number.
    first: [usize; 4],
}

impl Numbers {
    fn of(&self, bank: Bank, slot: Slot) -> usize {
        self.first[bank as usize] + usize::from(slot)
    }
}

/// Assigns slots to the registers, and sets the number of slots in each bank (linear scan).
pub fn allocate(kernel: &mut Kernel, blocks: &[Block]) {
    let [predicates, words, doubles] = kernel.registers;
    let first = [0, predicates, predicates + words, predicates + words + doubles];
    let numbers = Numbers { first };
    let mut spans = spans(&mut kernel.code, blocks, &numbers);
    // Constant registers are live everywhere.
    for &(bank, slot, _) in &kernel.constants {
        spans[numbers.of(bank, slot)] = Some((0, usize::MAX));
    }
    let mut places = vec![0; spans.len()];
    for bank in 0..3 {
        let range = first[bank]..first[bank + 1];
        let mut order: Vec<_> =
            range.filter_map(|register| Some((spans[register]?, register))).collect();
        order.sort();
        // For each slot: the end of the last live range in it.
        let mut ends: Vec<usize> = Vec::new();
        for ((start, end), register) in order {
            let place = ends.iter().position(|&end| end < start).unwrap_or_else(|| {
                ends.push(0);
                ends.len() - 1
            });
            ends[place] = end;
            places[register] = place as Slot;
        }
        kernel.registers[bank] = ends.len();
    }
    for instruction in &mut kernel.code {
        instruction.registers(&mut |bank, slot, _| *slot = places[numbers.of(bank, *slot)]);
    }
    for (bank, slot, _) in &mut kernel.constants {
        *slot = places[numbers.of(*bank, *slot)];
    }
}

/// Returns the live range of each register in the order of the code. The positions are twice the index of the
/// instruction for reads, plus one for writes.
fn spans(
    code: &mut [Instruction],
    blocks: &[Block],
    numbers: &Numbers,
) -> Vec<Option<(usize, usize)>> {
    let count = numbers.first[3];
    let live = live(code, blocks, numbers);
    let mut spans: Vec<Option<(usize, usize)>> = vec![None; count];
    let mut extend = |register: usize, at: usize| {
        let (start, end) = spans[register].unwrap_or((at, at));
        spans[register] = Some((start.min(at), end.max(at)));
    };
    for (block, entering) in blocks.iter().zip(&live) {
        entering.members().for_each(|register| extend(register, 2 * block.start));
        for &next in &block.next {
            live[next].members().for_each(|register| extend(register, 2 * block.end));
        }
        for (at, instruction) in code.iter_mut().enumerate().take(block.end).skip(block.start) {
            instruction.registers(&mut |bank, slot, purpose| {
                extend(numbers.of(bank, *slot), 2 * at + usize::from(purpose == Use::Write));
            });
        }
    }
    spans
}

/// Returns the registers that are live at the start of each block.
fn live(code: &mut [Instruction], blocks: &[Block], numbers: &Numbers) -> Vec<Set> {
    let empty = Set(vec![0; numbers.first[3].div_ceil(64)]);
    let mut live = vec![empty.clone(); blocks.len()];
    loop {
        let mut changed = false;
        for number in (0..blocks.len()).rev() {
            let block = &blocks[number];
            let mut set = empty.clone();
            block.next.iter().for_each(|&next| set.unite(&live[next]));
            for instruction in code[block.start..block.end].iter_mut().rev() {
                step(instruction, &mut set, numbers);
            }
            changed |= set != live[number];
            live[number] = set;
        }
        if !changed {
            return live;
        }
    }
}

/// Updates the set of live registers from after an instruction to before it. A guarded instruction does not end a
/// live range, because the lanes that do not execute it keep the old value.
fn step(instruction: &mut Instruction, set: &mut Set, numbers: &Numbers) {
    let guarded = instruction.guard.is_some();
    for wanted in [Use::Write, Use::Read] {
        instruction.registers(&mut |bank, slot, purpose| {
            let register = numbers.of(bank, *slot);
            match purpose {
                _ if purpose != wanted => (),
                Use::Write if !guarded => set.remove(register),
                _ => set.insert(register),
            }
        });
    }
}
