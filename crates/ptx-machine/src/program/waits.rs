//! The loads that an instruction waits for: a dataflow analysis of the registers whose values may still be on their
//! way.

use std::collections::{BTreeSet, HashMap};

use super::flow::blocks;
use super::operands::{Bank, Use};
use super::operation::{Instruction, Operation, Space};
use crate::lanes::Slot;

/// For each register: the loads that may not have written it yet.
type Pending = HashMap<(Bank, Slot), BTreeSet<usize>>;

/// Returns for each instruction the loads from global memory, as indices of instructions, that may be outstanding on
/// some path to it and whose results it uses. A move between registers waits for nothing: an assembler renames the
/// register.
pub fn waits(code: &[Instruction]) -> Vec<Vec<usize>> {
    let blocks = blocks(code);
    let mut waits = vec![BTreeSet::new(); code.len()];
    let mut entering = vec![Pending::new(); blocks.len()];
    let mut left: Vec<usize> = (0..blocks.len()).collect();
    while let Some(number) = left.pop() {
        let block = &blocks[number];
        let mut pending = entering[number].clone();
        for at in block.start..block.end {
            waits[at].extend(pass(at, &code[at], &mut pending));
        }
        for &next in &block.next {
            if join(&mut entering[next], &pending) && !left.contains(&next) {
                left.push(next);
            }
        }
    }
    waits.into_iter().map(|loads| loads.into_iter().collect()).collect()
}

/// Updates the registers for the instruction with the index `at`. Returns the loads that it waits for.
fn pass(at: usize, instruction: &Instruction, pending: &mut Pending) -> BTreeSet<usize> {
    let uses = instruction.uses();
    let operation = &instruction.operation;
    let mut taken = BTreeSet::new();
    for (register, _) in &uses {
        taken.extend(pending.remove(register).unwrap_or_default());
    }
    if operation.is_free() && instruction.guard.is_none() {
        if !taken.is_empty() {
            pending.extend(uses.iter().map(|(register, _)| (*register, taken.clone())));
        }
        return BTreeSet::new();
    }
    if loads(operation) {
        let written = uses.iter().filter(|(_, purpose)| *purpose == Use::Write);
        pending.extend(written.map(|(register, _)| (*register, BTreeSet::from([at]))));
    }
    taken
}

/// Returns whether an instruction loads from global memory.
pub fn loads(operation: &Operation) -> bool {
    match operation {
        Operation::Load(access) => !matches!(access.space, Space::Shared | Space::Local),
        Operation::Atomic(atomic) => atomic.space != Space::Shared && atomic.to.is_some(),
        _ => false,
    }
}

/// Adds to what may be outstanding at the entry of a block. Returns whether that has changed.
fn join(entering: &mut Pending, pending: &Pending) -> bool {
    let mut changed = false;
    for (register, loads) in pending {
        let before = entering.entry(*register).or_default();
        let count = before.len();
        before.extend(loads);
        changed |= before.len() > count;
    }
    changed
}
