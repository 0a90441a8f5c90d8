//! Register allocation. PTX uses a new register for almost every value. Registers that are never live at the same
//! time share a slot, so that the registers of a warp stay in the cache of the host processor.

use super::flow::Block;
use super::kernel::Kernel;
use super::operands::{Bank, Use};
use super::operation::Instruction;
use crate::lanes::Slot;

/// The numbers of the registers of an instruction, which count all banks.
type Uses = Vec<(usize, Use)>;

/// Assigns slots to the registers, and sets the number of slots in each bank (linear scan).
pub fn allocate(kernel: &mut Kernel, blocks: &[Block]) {
    let [predicates, words, doubles] = kernel.registers;
    let first = [0, predicates, predicates + words, predicates + words + doubles];
    let number = |bank: Bank, slot: Slot| first[bank as usize] + usize::from(slot);
    let numbered = |instruction: &Instruction| -> Uses {
        let uses = instruction.uses().into_iter();
        uses.map(|((bank, slot), purpose)| (number(bank, slot), purpose)).collect()
    };
    let uses: Vec<_> = kernel.code.iter().map(numbered).collect();
    let live = live(&kernel.code, &uses, blocks, first[3]);
    let mut ranges = ranges(&uses, blocks, &live);
    // Constant registers are live everywhere.
    for &(bank, slot, _) in &kernel.constants {
        ranges[number(bank, slot)] = Some((0, usize::MAX));
    }
    let mut slots = vec![0; ranges.len()];
    for bank in 0..3 {
        let registers = first[bank]..first[bank + 1];
        let mut order: Vec<_> = registers.filter_map(|register| Some((ranges[register]?, register))).collect();
        order.sort();
        // For each slot: the end of the last live range in it.
        let mut ends: Vec<usize> = Vec::new();
        for ((start, end), register) in order {
            let slot = ends.iter().position(|&end| end < start).unwrap_or_else(|| {
                ends.push(0);
                ends.len() - 1
            });
            ends[slot] = end;
            slots[register] = slot as Slot;
        }
        kernel.registers[bank] = ends.len();
    }
    for instruction in &mut kernel.code {
        instruction.visit(|bank, slot, _| *slot = slots[number(bank, *slot)]);
    }
    for (bank, slot, _) in &mut kernel.constants {
        *slot = slots[number(*bank, *slot)];
    }
}

/// Returns the live range of each register in the order of the code. The positions are twice the index of the
/// instruction for reads, plus one for writes.
fn ranges(uses: &[Uses], blocks: &[Block], live: &[Vec<bool>]) -> Vec<Option<(usize, usize)>> {
    let mut ranges: Vec<Option<(usize, usize)>> = vec![None; live[0].len()];
    let mut extend = |register: usize, at: usize| {
        let (start, end) = ranges[register].unwrap_or((at, at));
        ranges[register] = Some((start.min(at), end.max(at)));
    };
    for (block, entering) in blocks.iter().zip(live) {
        let leaving = block.next.iter().map(|&next| (&live[next], block.end));
        for (set, at) in std::iter::once((entering, block.start)).chain(leaving) {
            (0..set.len()).filter(|&it| set[it]).for_each(|register| extend(register, 2 * at));
        }
        for (at, uses) in (block.start..).zip(&uses[block.start..block.end]) {
            for &(register, purpose) in uses {
                extend(register, 2 * at + usize::from(purpose == Use::Write));
            }
        }
    }
    ranges
}

/// Returns whether each of `count` registers is live at the start of each block. A guarded instruction does not end a
/// live range, because the lanes that do not execute it keep the old value.
fn live(code: &[Instruction], uses: &[Uses], blocks: &[Block], count: usize) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; count]; blocks.len()];
    loop {
        let mut changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            let mut set = vec![false; count];
            for &next in &block.next {
                set.iter_mut().zip(&live[next]).for_each(|(live, next)| *live |= next);
            }
            for at in (block.start..block.end).rev() {
                // Backwards: an instruction reads before it writes.
                for &(register, purpose) in uses[at].iter().rev() {
                    set[register] = purpose == Use::Read || code[at].guard.is_some();
                }
            }
            changed |= set != live[number];
            live[number] = set;
        }
        if !changed {
            return live;
        }
    }
}
