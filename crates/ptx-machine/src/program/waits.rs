//! The instructions at which a warp must wait for its loads.

use std::collections::HashSet;

use super::operands::Use;
use super::{Bank, Instruction, Operation, Space, flow};
use crate::lanes::Slot;

/// Returns for each instruction whether, on some path to it, it uses a register for which a load from global memory
/// may be outstanding (a forward dataflow analysis).
pub fn waits(code: &[Instruction]) -> Vec<bool> {
    let blocks = flow::blocks(code);
    let mut code = code.to_vec();
    let mut waits = vec![false; code.len()];
    let mut entering: Vec<HashSet<(Bank, Slot)>> = vec![HashSet::new(); blocks.len()];
    let mut left: Vec<usize> = (0..blocks.len()).collect();
    while let Some(number) = left.pop() {
        let block = &blocks[number];
        let mut pending = entering[number].clone();
        for at in block.start..block.end {
            let loads = loads(&code[at].operation);
            let mut registers = Vec::new();
            code[at].registers(&mut |bank, slot, purpose| registers.push(((bank, *slot), purpose)));
            if registers.iter().any(|(register, _)| pending.contains(register)) {
                waits[at] = true;
                // The wait is for all outstanding loads.
                pending.clear();
            }
            if loads {
                let written = registers.iter().filter(|(_, purpose)| *purpose == Use::Write);
                pending.extend(written.map(|(register, _)| *register));
            }
        }
        for &next in &block.next {
            let before = entering[next].len();
            entering[next].extend(&pending);
            if entering[next].len() > before && !left.contains(&next) {
                left.push(next);
            }
        }
    }
    waits
}

fn loads(operation: &Operation) -> bool {
    match operation {
        Operation::Load(access) => !matches!(access.space, Space::Shared | Space::Local),
        Operation::Atomic(atomic) => atomic.space != Space::Shared,
        _ => false,
    }
}
