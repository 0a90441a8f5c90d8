//! Compressed sparse blocks: Buluç, Fineman, Frigo, Gilbert & Leiserson, SPAA'09, with the rules of their library
//! (BiCSB).
//!
//! The matrix is cut into β × β blocks. The nonzeros of a block are stored together in Morton order, with row and
//! column within the block packed in one word. A product runs over the block rows in parallel, and a product by Aᵀ
//! over the block columns: the same code on the same data, at the same cost. A line of blocks is a block row, or for
//! Aᵀ a block column. A line much heavier than the others is cut between blocks. The first piece sums into y, the
//! others into temporaries. A piece that is a single dense block is cut into rows of quadrants, which are runs of the
//! Morton order. A task scales its y by β just before it adds to it. If there are temporaries, all threads then add
//! equal parts of them to y in a second parallel region.
//!
//! Memory: a second copy of the matrix, a pointer per block, and temporaries, at most half as many as there are
//! nonzeros.
//!
//! Departures: the original forks recursively at each halving. Here the setup flattens this recursion into a list of
//! tasks, in which rows of quadrants replace the two diagonals of quadrants one after the other. Each thread owns a
//! share of the list with an equal number of nonzeros and, when it has finished, takes tasks that remain in other
//! shares. This needs no forks, and a block row stays with the thread that has it in its cache. A matrix too small
//! for the rules gets smaller blocks (the original refuses it), and a matrix whose blocks would be nearly empty gets
//! larger ones. The inner loop is scalar because neighbouring nonzeros may be in the same row.

pub mod format;
pub mod tasks;

use format::Blocks;
use tasks::{BlockLine, Schedule, Task, Work};

use super::placement::{place, span};
use super::prelude::*;
use super::rows::{part, scale};

pub const METHOD: Method = Method {
    name: "csb",
    source: "Buluc et al., compressed sparse blocks, SPAA 2009",
    summary: "square blocks in Morton order, block rows in parallel; the same code for A and its transpose",
    parameters: &[Parameter {
        name: "beta",
        values: &["16", "256", "1024", "4096", "16384", "65536"],
        meaning: "the number of rows and columns of a block; default by the size of the matrix",
    }],
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory: format::memory,
    may_refuse: format::may_refuse,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, threads) = (request.team, request.team.len());
    let beta = request.number("beta").map(usize::ilog2);
    let log_beta = beta.unwrap_or_else(|| format::log_beta(csr, threads));
    let blocks = Blocks::new(csr, log_beta)?;
    let outputs = if request.transpose { csr.cols() } else { csr.rows() };
    let schedule = Schedule::new(&blocks, request.transpose, outputs, threads);
    let mut temporaries = vec![T::zero(); schedule.temporaries];
    let extra_bytes = blocks.bytes() + schedule.bytes() + size_of_val(&temporaries[..]);
    let transpose = request.transpose;
    let placed = place(team, |rank| {
        let nonzeros = part(csr.nnz(), rank, threads);
        vec![span(&blocks.values[nonzeros.clone()]), span(&blocks.indices[nonzeros])]
    });
    let product = move |Operands { alpha, x, beta }: Operands<T>, y: &mut [T]| {
        schedule.start();
        let (y, temporaries) = (DisjointMut::new(y), DisjointMut::new(&mut temporaries));
        team.run(|rank| {
            for task in schedule.claims(rank) {
                let (vector, outputs, factor) = match task.temporary {
                    None => (&y, task.outputs.clone(), beta),
                    Some(start) => (&temporaries, start..start + task.outputs.len(), T::zero()),
                };
                // SAFETY: each task has its own outputs or temporaries.
                let sums = unsafe { vector.range(outputs) };
                scale(factor, sums);
                if transpose {
                    multiply::<T, true>(&blocks, task, alpha, x, sums);
                } else {
                    multiply::<T, false>(&blocks, task, alpha, x, sums);
                }
            }
        });
        if schedule.temporaries > 0 {
            team.run(|rank| add_temporaries(&schedule, rank, threads, &y, &temporaries));
        }
    };
    Ok(multiplying(csr, extra_bytes, product).transposing(transpose).with_notes(placed))
}

/// Adds a thread's part of the temporaries of each line to y.
fn add_temporaries<T: Scalar>(
    schedule: &Schedule,
    rank: usize,
    threads: usize,
    y: &DisjointMut<T>,
    temporaries: &DisjointMut<T>,
) {
    for BlockLine { outputs, temporaries: pieces } in &schedule.lines {
        let Range { start, end } = part(outputs.len(), rank, threads);
        // SAFETY: all tasks are done. Each line has its own outputs and temporaries, and each thread a part.
        let y = unsafe { y.range(outputs.start + start..outputs.start + end) };
        for piece in pieces.clone().step_by(outputs.len()) {
            // SAFETY: as above.
            let sums = unsafe { temporaries.range(piece + start..piece + end) };
            y.iter_mut().zip(sums).for_each(|(y, sum)| *y += *sum);
        }
    }
}

/// Computes `sums` += α times the task's part of A (or of Aᵀ) times x.
fn multiply<T: Scalar, const TRANSPOSE: bool>(blocks: &Blocks<T>, task: &Task, alpha: T, x: &[T], sums: &mut [T]) {
    // The position of the task's first output within its block.
    let first = task.outputs.start & (blocks.beta() - 1);
    let places = first..first + sums.len();
    let sums = sums.as_mut_ptr().wrapping_sub(first);
    let run = |nonzeros: Range<usize>, block: usize| {
        let inputs = x.len() - (block << blocks.log_beta);
        let x = x.as_ptr().wrapping_add(block << blocks.log_beta);
        for k in nonzeros {
            // SAFETY: each nonzero has an index and a value, its output belongs to the task, and its input is within x,
            // whose length `Prepared::multiply` checked.
            unsafe {
                let index = *blocks.indices.get_unchecked(k);
                let (row, col) = ((index >> 16) as usize, (index & 0xffff) as usize);
                let (output, input) = if TRANSPOSE { (col, row) } else { (row, col) };
                debug_assert!(places.contains(&output) && input < inputs, "outside of the task");
                *sums.add(output) += alpha * *blocks.values.get_unchecked(k) * *x.add(input);
            }
        }
    };
    match &task.work {
        Work::Blocks(range) => {
            let line = task.outputs.start >> blocks.log_beta;
            range.clone().for_each(|k| run(blocks.nonzeros(TRANSPOSE, line, k), k));
        }
        Work::Runs { block, nonzeros } => {
            nonzeros.iter().for_each(|nonzeros| run(nonzeros.clone(), *block));
        }
    }
}
