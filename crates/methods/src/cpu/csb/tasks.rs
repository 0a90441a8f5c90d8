//! The tasks of a product, which are created at setup: section 5 of the paper.

use std::iter::from_fn;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use super::format::{Blocks, SLACKNESS, morton};
use crate::cpu::rows::shares;
use spmv_matrix::scalar::Scalar;

/// A line of blocks is cut if it has more than this many times the average number of nonzeros per line. The
/// average assumes at least as many lines as the rules require.
const BALANCE: usize = 2;
/// The smallest number of nonzeros per output of a piece. With fewer, its temporaries cost more than the piece saves.
const BREAK_EVEN: usize = 4;

pub struct Task {
    pub outputs: Range<usize>,
    /// The index of the task's first temporary; `None` if it sums directly into y.
    pub temporary: Option<usize>,
    pub work: Work,
}

impl Task {
    pub fn nonzeros<T: Scalar>(&self, blocks: &Blocks<T>, transpose: bool) -> usize {
        let line = self.outputs.start >> blocks.log_beta;
        let of_block = |k| blocks.nonzeros(transpose, line, k).len();
        match &self.work {
            Work::Blocks(range) => range.clone().map(of_block).sum(),
            Work::Runs { nonzeros, .. } => nonzeros.iter().map(Range::len).sum(),
        }
    }
}

pub enum Work {
    Blocks(Range<usize>),
    Runs {
        block: usize,
        /// The runs of nonzeros, as ranges in the arrays of the format.
        nonzeros: Vec<Range<usize>>,
    },
}

/// A line of blocks that was cut between blocks: a block row, or for Aᵀ a block column.
pub struct BlockLine {
    pub outputs: Range<usize>,
    /// The temporaries of its pieces: as many for each piece as there are outputs, one piece after the other.
    pub temporaries: Range<usize>,
}

pub struct Schedule {
    pub tasks: Vec<Task>,
    /// The lines that were cut between blocks. Their temporaries follow each other.
    pub lines: Vec<BlockLine>,
    pub temporaries: usize,
    /// The tasks that each thread owns. All shares have about the same number of nonzeros.
    pub shares: Vec<Range<usize>>,
    /// The first task of each share that no thread has taken.
    next: Vec<CachePadded<AtomicUsize>>,
}

impl Schedule {
    pub fn new<T: Scalar>(blocks: &Blocks<T>, transpose: bool, outputs: usize, threads: usize) -> Self {
        let (lines, per_line) = if transpose { (blocks.cols, blocks.rows) } else { (blocks.rows, blocks.cols) };
        let average = blocks.values.len() / lines.max(SLACKNESS * threads);
        let most = match threads {
            // One thread needs no pieces.
            1 => usize::MAX,
            _ => (BALANCE * average).max(BREAK_EVEN * blocks.beta()),
        };
        let cutter = Cutter { blocks, transpose, most };
        let (mut tasks, mut cut_lines, mut temporaries) = (vec![], vec![], 0);
        for line in 0..lines {
            let start = line * blocks.beta();
            let outputs = start..outputs.min(start + blocks.beta());
            let first_temporary = temporaries;
            for (k, piece) in cutter.pieces(line, per_line).into_iter().enumerate() {
                let temporary = (k > 0).then_some(temporaries);
                tasks.extend(cutter.tasks(line, piece, &outputs, temporary));
                temporaries += if k > 0 { outputs.len() } else { 0 };
            }
            if temporaries > first_temporary {
                cut_lines.push(BlockLine { outputs, temporaries: first_temporary..temporaries });
            }
        }
        let sizes: Vec<_> = tasks.iter().map(|task| task.nonzeros(blocks, transpose)).collect();
        let shares = shares(&sizes, threads);
        let next = shares.iter().map(|_| CachePadded::default()).collect();
        Self { tasks, lines: cut_lines, temporaries, shares, next }
    }

    /// Resets the counters of the threads; called before each product.
    pub fn start(&self) {
        for (next, share) in self.next.iter().zip(&self.shares) {
            next.store(share.start, Ordering::Relaxed);
        }
    }

    /// Returns the tasks that a thread claims: first those of its own share, then those that remain in other shares.
    pub fn claims(&self, rank: usize) -> impl Iterator<Item = &Task> {
        let threads = self.shares.len();
        (rank..rank + threads).flat_map(move |rank| {
            let (next, end) = (&self.next[rank % threads], self.shares[rank % threads].end);
            from_fn(move || {
                let task = next.fetch_add(1, Ordering::Relaxed);
                (task < end).then(|| &self.tasks[task])
            })
        })
    }

    pub fn bytes(&self) -> usize {
        let runs = self.tasks.iter().map(|task| match &task.work {
            Work::Blocks(_) => 0,
            Work::Runs { nonzeros, .. } => size_of_val(&nonzeros[..]),
        });
        size_of_val(&self.tasks[..])
            + runs.sum::<usize>()
            + size_of_val(&self.lines[..])
            + size_of_val(&self.shares[..])
            + size_of_val(&self.next[..])
    }
}

struct Cutter<'a, T> {
    blocks: &'a Blocks<T>,
    transpose: bool,
    /// The largest number of nonzeros in a piece that has more than one block.
    most: usize,
}

impl<T: Scalar> Cutter<'_, T> {
    /// Cuts a line between blocks: before each block that would make a piece too heavy.
    fn pieces(&self, line: usize, per_line: usize) -> Vec<Range<usize>> {
        let (mut pieces, mut start, mut size) = (vec![], 0, 0);
        for k in 0..per_line {
            let block = self.blocks.nonzeros(self.transpose, line, k).len();
            if size > 0 && size + block > self.most {
                pieces.push(start..k);
                (start, size) = (k, 0);
            }
            size += block;
        }
        pieces.push(start..per_line);
        pieces
    }

    /// Returns the task of a piece, or one for each row of quadrants if the piece is a single block that is too heavy.
    fn tasks(&self, line: usize, piece: Range<usize>, outputs: &Range<usize>, temporary: Option<usize>) -> Vec<Task> {
        // The number of times that the block is halved.
        let splits = match piece.len() {
            1 => {
                let size = self.blocks.nonzeros(self.transpose, line, piece.start).len();
                let too_heavy = |splits: &u32| size >> splits > self.most;
                (0..self.blocks.log_beta).take_while(too_heavy).count() as u32
            }
            _ => 0,
        };
        if splits == 0 {
            return vec![Task { outputs: outputs.clone(), temporary, work: Work::Blocks(piece) }];
        }
        let height = self.blocks.beta() >> splits;
        let rows = outputs.clone().step_by(height).enumerate();
        let task = |(part, start): (usize, usize)| Task {
            outputs: start..outputs.end.min(start + height),
            temporary: temporary.map(|first| first + part * height),
            work: Work::Runs { block: piece.start, nonzeros: self.runs(line, piece.start, part, splits) },
        };
        rows.map(task).collect()
    }

    /// Returns the nonzeros of row `part` of quadrants (for Aᵀ a column) of a block that is halved `splits` times.
    fn runs(&self, line: usize, block: usize, part: usize, splits: u32) -> Vec<Range<usize>> {
        let Range { start, end } = self.blocks.nonzeros(self.transpose, line, block);
        let indices = &self.blocks.indices[start..end];
        let position = |index: u32| morton((index >> 16) as usize, (index & 0xffff) as usize);
        let before = |limit| indices.partition_point(|&index| u64::from(position(index)) < limit);
        let shift = 2 * (self.blocks.log_beta - splits);
        let mut runs: Vec<Range<usize>> = vec![];
        for across in 0..1 << splits {
            let (row, col) = if self.transpose { (across, part) } else { (part, across) };
            let quadrant = u64::from(morton(row, col));
            let run = start + before(quadrant << shift)..start + before((quadrant + 1) << shift);
            match runs.last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ if run.is_empty() => {}
                _ => runs.push(run),
            }
        }
        runs
    }
}

// Not run in Miri: nothing above is unsafe, and each test would take minutes.
#[cfg(not(miri))]
#[cfg(test)]
mod tests {
    use super::*;
    use spmv_matrix::Csr;

    /// Returns the blocks of a matrix with a full row, a full column, a dense block and a diagonal.
    fn blocks() -> Blocks<f64> {
        let lines = (0..900).flat_map(|k| [(5, k), (k, 17), (k, k)]);
        let dense = (0..50).flat_map(|row| (0..60).map(move |col| (324 + row, 130 + col)));
        let triplets: Vec<_> = lines.chain(dense).map(|(row, col)| (row, col, 1.0)).collect();
        Blocks::new(&Csr::from_triplets(900, 900, &triplets), 6).unwrap()
    }

    #[test]
    fn heavy_lines_are_cut_between_blocks_and_heavy_blocks_in_quadrants() {
        let blocks = blocks();
        for transpose in [false, true] {
            let schedule = Schedule::new(&blocks, transpose, 900, 4);
            // Rows 0 to 63 contain the full row; the dense block is in rows 320 to 383.
            let of_line = |line: usize| schedule.tasks.iter().filter(move |task| task.outputs.start / 64 == line);
            let pieces: Vec<_> = of_line(0).collect();
            assert!(pieces.len() > 1 && pieces[0].temporary.is_none());
            assert!(pieces[1..].iter().all(|task| task.temporary.is_some()));
            let runs = |task: &&Task| matches!(task.work, Work::Runs { .. });
            let dense = of_line(if transpose { 2 } else { 5 }).filter(runs).count();
            assert!(dense.is_power_of_two() && dense > 1, "{dense}");
            assert_eq!(of_line(9).count(), 1);
            assert!((1..=900).contains(&schedule.temporaries), "{}", schedule.temporaries);
        }
        assert!(Schedule::new(&blocks, false, 900, 1).lines.is_empty(), "one thread needs no pieces");
    }

    #[test]
    fn every_task_is_claimed_once_in_each_product() {
        let schedule = Schedule::new(&blocks(), false, 900, 3);
        for _ in 0..2 {
            schedule.start();
            // The last thread finishes before the others begin.
            let claimed: Vec<_> = [2, 0, 1].map(|rank| schedule.claims(rank).count()).into();
            assert_eq!(claimed, [schedule.tasks.len(), 0, 0]);
        }
    }
}
