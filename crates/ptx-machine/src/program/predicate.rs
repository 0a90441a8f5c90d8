//! Short branches become guards, as the assembler makes them: a branch around a few loads and computations would end a
//! basic block, so that the loads after it could not be scheduled before what waits for those in front of it.

use super::operands::{Bank, Use};
use super::operation::{Access, Instruction, Operation, Order};
use crate::lanes::Slot;

/// The largest number of instructions that get a guard in the place of a branch.
const MAX_GUARDED: usize = 7;

/// Replaces each branch over at most [`MAX_GUARDED`] instructions by guards of these.
pub fn predicate(code: &mut Vec<Instruction>) {
    let mut is_target = vec![false; code.len()];
    for instruction in code.iter() {
        if let Operation::Branch { target } = instruction.operation {
            is_target[target as usize] = true;
        }
    }
    let mut is_removed = vec![false; code.len()];
    for at in 0..code.len() {
        let Some((end, (predicate, negated))) = skips(code, &is_target, at) else { continue };
        is_removed[at] = true;
        for instruction in &mut code[at + 1..end] {
            instruction.guard = Some((predicate, !negated));
        }
    }
    remove(code, &is_removed);
}

/// Returns the end of the instructions that a branch skips, and its guard, if these instructions can have it.
fn skips(code: &[Instruction], is_target: &[bool], at: usize) -> Option<(usize, (Slot, bool))> {
    let Operation::Branch { target } = code[at].operation else { return None };
    let end = target as usize;
    let guard = code[at].guard?;
    let is_short = (at + 2..=at + 1 + MAX_GUARDED).contains(&end);
    let changes = |it: &Instruction| it.uses().contains(&((Bank::Predicate, guard.0), Use::Write));
    let between = code.get(at + 1..end).filter(|_| is_short)?;
    let can = |it: &Instruction| it.guard.is_none() && is_plain(&it.operation) && !changes(it);
    (between.iter().all(can) && !is_target[at + 1..end].contains(&true)).then_some((end, guard))
}

/// Whether an operation only computes or loads.
fn is_plain(operation: &Operation) -> bool {
    match operation {
        Operation::Load(Access { order, .. }) => matches!(order, Order::Weak | Order::ReadOnly),
        Operation::Compute { .. }
        | Operation::Convert { .. }
        | Operation::Compare(_)
        | Operation::Select { .. }
        | Operation::Logic { .. } => true,
        _ => false,
    }
}

/// Removes instructions, and corrects the targets of branches. Those of a removed one become the next instruction.
fn remove(code: &mut Vec<Instruction>, is_removed: &[bool]) {
    let mut places = Vec::with_capacity(code.len());
    let mut kept = 0;
    for &removed in is_removed {
        places.push(kept);
        kept += u32::from(!removed);
    }
    let mut removed = is_removed.iter();
    code.retain(|_| removed.next() == Some(&false));
    for instruction in code {
        if let Operation::Branch { target } = &mut instruction.operation {
            *target = places[*target as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{Instruction, Operation, Program};

    /// Returns the instructions of a kernel whose predicate is true for the first thread.
    fn code(statements: &str) -> Vec<Instruction> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<3>;\n\
             .reg .b32 %r<9>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n\
             setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 7;\n{statements}\nst.global.u32 [%rd1], %r2;\nret;\n}}\n"
        );
        Program::parse(&text).unwrap().kernels.remove(0).code
    }

    fn branches(code: &[Instruction]) -> usize {
        code.iter().filter(|it| matches!(it.operation, Operation::Branch { .. })).count()
    }

    #[test]
    fn branches_over_a_few_loads_and_computations_become_guards() {
        let adds = "add.u32 %r2, %r2, 1;\n".repeat(8);
        for (skipped, guards) in [
            ("ld.global.u32 %r2, [%rd1+4];\nadd.u32 %r2, %r2, 1;", 2),
            // Too many instructions, a store, and an instruction with a guard of its own.
            (&adds[..], 0),
            ("st.global.u32 [%rd1+4], %r2;", 0),
            ("@%p2 add.u32 %r2, %r2, 1;", 0),
            // The predicate changes.
            ("setp.eq.u32 %p1, %r2, 3;\nadd.u32 %r2, %r2, 1;", 0),
            // Another branch leads there.
            ("M: add.u32 %r2, %r2, 1;", 0),
        ] {
            let other = if skipped.starts_with('M') { "@%p2 bra M;\n" } else { "" };
            let code = code(&format!("setp.eq.u32 %p2, %r1, 5;\n{other}@%p1 bra L;\n{skipped}\nL:"));
            assert_eq!(branches(&code) == 0, guards > 0, "{skipped}");
            let negated = code.iter().filter(|it| it.guard.is_some_and(|(_, negated)| negated));
            assert_eq!(negated.count(), guards, "{skipped}: where the branch is not taken");
        }
    }
}
