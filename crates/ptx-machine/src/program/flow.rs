//! Basic blocks, and the order in which diverged lanes execute them.
//!
//! Lanes of a warp that diverge at a branch reconverge where their paths join. The machine uses thread frontiers
//! (Diamos et al., SIMD re-convergence at thread frontiers, MICRO 2011): every basic block has a rank, a block comes
//! before its successors except at the back edges of loops, and the blocks of a loop have consecutive ranks. Of the
//! lanes that can run, those at the lowest rank run first, so that no lane passes a join while others have not
//! reached it. The order is Bourdoncle's weak topological order: each strongly connected component is a loop, whose
//! blocks are ordered again without its head.

use super::operation::{Instruction, Operation};

/// A basic block: a range of instructions and its successors.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub start: usize,
    pub end: usize,
    pub next: Vec<usize>,
}

pub fn blocks(code: &[Instruction]) -> Vec<Block> {
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    for (at, instruction) in code.iter().enumerate() {
        leads[at + 1] |= instruction.operation.jumps();
        if let Operation::Branch { target } = instruction.operation {
            leads[target as usize] = true;
        }
    }
    let starts: Vec<_> = (0..code.len()).filter(|&at| leads[at]).collect();
    let number = |at: usize| starts.partition_point(|&start| start <= at) - 1;
    let ends = starts[1..].iter().copied().chain([code.len()]);
    let mut blocks = Vec::new();
    for (&start, end) in starts.iter().zip(ends) {
        let last = &code[end - 1];
        let mut next = Vec::new();
        if let Operation::Branch { target } = last.operation {
            next.push(number(target as usize));
        }
        if (!last.operation.jumps() || last.guard.is_some()) && end < code.len() {
            next.push(number(end));
        }
        blocks.push(Block { start, end, next });
    }
    blocks
}

/// Marks the first instruction of each basic block and the stretches, and sets the rank of every instruction.
pub fn mark(code: &mut [Instruction], blocks: &[Block]) {
    for (rank, &block) in order(blocks).iter().enumerate() {
        let Block { start, end, .. } = blocks[block];
        code[start].leads = true;
        code[start..end].iter_mut().for_each(|instruction| instruction.rank = rank as u32);
    }
    mark_stretches(code);
}

/// Sets the lengths of the stretches within the marked blocks (see [`Instruction::stretch`]).
fn mark_stretches(code: &mut [Instruction]) {
    let mut end = code.len();
    for at in (0..code.len()).rev() {
        let follows = at > 0 && !code[at].leads && !ends_stretch(&code[at - 1].operation);
        // The lanes may arrive at a collective instruction one after another, so it is a stretch of its own.
        if !follows || code[at].operation.meeting().is_some() {
            code[at].stretch = (end - at) as u32;
            end = at;
        }
    }
}

/// Returns whether other lanes or warps may run after the operation, or the recorder is notified of its accesses.
fn ends_stretch(operation: &Operation) -> bool {
    let pauses = matches!(operation, Operation::Sleep) || operation.meeting().is_some();
    operation.jumps() || pauses || operation.accesses_memory()
}

/// Returns all blocks in the order of their ranks. Unreachable blocks come last.
fn order(blocks: &[Block]) -> Vec<usize> {
    let mut within = vec![true; blocks.len()];
    let mut order = Vec::new();
    arrange(blocks, &[0], &mut within, &mut order);
    order.extend((0..blocks.len()).filter(|&block| within[block]));
    order
}

/// Appends the blocks of `within` that are reachable from the roots, and removes them from `within`.
fn arrange(blocks: &[Block], roots: &[usize], within: &mut [bool], order: &mut Vec<usize>) {
    // The components are in reverse order.
    for component in components(blocks, roots, within).into_iter().rev() {
        let (&head, rest) = component.split_first().expect("a component is not empty");
        order.push(head);
        let mut inside = vec![false; blocks.len()];
        rest.iter().for_each(|&block| inside[block] = true);
        // In a loop with several heads, some blocks are not reachable from the first one.
        let roots: Vec<_> = blocks[head].next.iter().chain(rest).copied().collect();
        arrange(blocks, &roots, &mut inside, order);
    }
}

/// Returns the strongly connected components that are reachable from the roots within `within`. The first block of
/// each is the one that was visited first. A component comes after its successors.
fn components(blocks: &[Block], roots: &[usize], within: &mut [bool]) -> Vec<Vec<usize>> {
    let mut search = Search { numbers: vec![0; blocks.len()], ..Search::default() };
    for &root in roots {
        if within[root] && search.numbers[root] == 0 {
            search.visit(root, blocks, within);
        }
    }
    search.components.iter().flatten().for_each(|&block| within[block] = false);
    search.components
}

/// A depth-first search for strongly connected components (Tarjan, Depth-first search and linear graph algorithms,
/// 1972).
#[derive(Default)]
struct Search {
    count: usize,
    /// The number of each block in the order of the visits; 0 before its visit, and the largest after its component.
    numbers: Vec<usize>,
    /// The visited blocks whose component is not known yet.
    open: Vec<usize>,
    components: Vec<Vec<usize>>,
}

impl Search {
    /// Visits a block and its successors. Returns the lowest number of an open block that they lead to.
    fn visit(&mut self, block: usize, blocks: &[Block], within: &[bool]) -> usize {
        self.count += 1;
        let number = self.count;
        self.numbers[block] = number;
        let place = self.open.len();
        self.open.push(block);
        let mut lowest = number;
        for &next in blocks[block].next.iter().filter(|&&next| within[next]) {
            lowest = lowest.min(match self.numbers[next] {
                0 => self.visit(next, blocks, within),
                number => number,
            });
        }
        if lowest == number {
            let component = self.open.split_off(place);
            component.iter().for_each(|&member| self.numbers[member] = usize::MAX);
            self.components.push(component);
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Collective;

    fn ordered(next: &[&[usize]]) -> Vec<usize> {
        let block = |next: &&[usize]| Block { start: 0, end: 0, next: next.to_vec() };
        order(&next.iter().map(block).collect::<Vec<_>>())
    }

    #[test]
    fn blocks_are_in_the_order_of_their_ranks() {
        // A join comes after both branches.
        assert_eq!(ordered(&[&[2, 1], &[3], &[3], &[]]), [0, 1, 2, 3]);
        // In the text, the join precedes one of the branches.
        assert_eq!(ordered(&[&[3, 1], &[2], &[], &[2]]).last(), Some(&2));
        // A loop comes before what follows it: 0 → 1 ⇄ 2, 1 → 3.
        assert_eq!(ordered(&[&[1], &[3, 2], &[1], &[]]), [0, 1, 2, 3]);
        assert_eq!(ordered(&[&[1], &[2, 3], &[1], &[]]), [0, 1, 2, 3]);
        // Block 1 is the head of the outer loop of 1, 2, 3 and 4; 2 is the head of the inner loop of 2 and 3.
        let order = ordered(&[&[1], &[5, 2], &[4, 3], &[2], &[1], &[]]);
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
        // An unreachable block.
        assert_eq!(ordered(&[&[], &[0]]), [0, 1]);
        // A loop with two heads.
        let order = ordered(&[&[1, 2], &[2, 3], &[1, 3], &[]]);
        assert_eq!((order.len(), order[0], order[3]), (4, 0, 3));
    }

    #[test]
    fn stretches_end_where_other_lanes_or_warps_may_run() {
        use Operation::{Branch, Exit, Fence, Sleep};
        let stretches = |operations: &[Operation], leads: usize| {
            let mut code: Vec<_> = operations.iter().map(|&it| Instruction::from(it)).collect();
            code[leads].leads = true;
            mark_stretches(&mut code);
            code.iter().map(|instruction| instruction.stretch).collect::<Vec<_>>()
        };
        let branch = Branch { target: 0 };
        assert_eq!(stretches(&[Fence, Fence, branch, Fence, Exit], 0), [3, 0, 0, 2, 0]);
        assert_eq!(stretches(&[Fence, Fence, Sleep, Exit], 1), [1, 2, 0, 1], "a block starts");
        let barrier = Operation::Collective { collective: Collective::Barrier, members: 0 };
        assert_eq!(stretches(&[Fence, barrier, barrier, Exit], 0), [1, 1, 1, 1], "lanes meet");
    }
}
