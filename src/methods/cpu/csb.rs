//! Compressed sparse blocks: Buluç, Fineman, Frigo, Gilbert & Leiserson, SPAA'09, with the rules of
//! their library (BiCSB).
//!
//! The matrix is cut into β × β blocks, each of which holds its nonzeros together, in Morton order,
//! with both indices of a nonzero in one word. A product runs block row by block row, and a product
//! by Aᵀ block column by block column: the same code on the same data, at the same cost. A block row
//! much heavier than the others is cut between blocks; all pieces but the first sum into temporaries,
//! which are added to y by whoever finishes last. A piece that is one dense block is cut into rows of
//! its quadrants, which are runs of the Morton order. y is scaled by β just before it is added to.
//!
//! Memory: the matrix once more, a pointer per block, and temporaries of at most half as many values as
//! there are nonzeros.
//!
//! Departures: the recursion of the original, which forks at each halving, is flattened at setup into
//! a list of tasks (rows of quadrants in place of its two diagonals one after the other). A thread
//! has an equal share of it by nonzeros and then takes what is left of the others': that costs no
//! fork and leaves block rows with the thread that has them in its cache. A matrix too small for the
//! rules gets smaller blocks (the original refuses it), and one whose blocks would be nearly empty
//! larger ones. Scalar: nonzeros side by side may be in the same row.

mod check;
mod format;
mod tasks;

use std::ops::Range;

use format::Blocks;
use tasks::{BlockLine, Plan, Task, Work};

use super::rows::scale;
use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
use crate::methods::debug_check;
use crate::scalar::Scalar;
use crate::team::DisjointMut;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "csb",
    source: "Buluc et al., compressed sparse blocks, SPAA 2009",
    summary: "square blocks in Morton order, block rows in parallel; A and its transpose alike",
    parameters: &[Parameter {
        name: "beta",
        values: &["16", "256", "1024", "4096", "16384", "65536"],
        meaning: "rows and columns of a block; by the size of the matrix unless given",
    }],
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory: format::memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let team = request.team;
    let beta = request.number("beta").map(usize::ilog2);
    let log_beta = beta.unwrap_or_else(|| format::log_beta(csr, team.len()));
    let blocks = Blocks::new(csr, log_beta)?;
    let outputs = if request.transpose { csr.cols } else { csr.rows };
    let plan = Plan::new(&blocks, request.transpose, outputs, team.len());
    debug_check(|| {
        blocks.check(csr.rows, csr.cols)?;
        plan.check(&blocks, request.transpose, outputs)
    });
    let mut temporaries = vec![T::zero(); plan.temporaries];
    let extra_bytes = blocks.bytes() + plan.bytes() + size_of_val(&temporaries[..]);
    let transpose = request.transpose;
    let product = move |alpha, x: &[T], beta, y: &mut [T]| {
        plan.start();
        let (y, temporaries) = (DisjointMut::new(y), DisjointMut::new(&mut temporaries));
        team.run(|rank| {
            for task in plan.claims(rank) {
                let (vector, outputs, factor) = match task.temporary {
                    None => (&y, task.outputs.clone(), beta),
                    Some(start) => (&temporaries, start..start + task.outputs.len(), T::zero()),
                };
                // SAFETY: by OUTPUTS (see `check`) each task has outputs or temporaries of its own.
                let sums = unsafe { vector.range(outputs) };
                scale(factor, sums);
                if transpose {
                    multiply::<T, true>(&blocks, task, alpha, x, sums);
                } else {
                    multiply::<T, false>(&blocks, task, alpha, x, sums);
                }
                if let Some(line) = task.line.and_then(|line| plan.finish(line)) {
                    // SAFETY: by LINES all tasks that use the line's outputs and temporaries are done.
                    unsafe { add_temporaries(line, &y, &temporaries) };
                }
            }
        });
        Ok(())
    };
    Ok(Prepared::new(csr, extra_bytes, product).transposing(request.transpose))
}

/// `sums` += α times the task's part of A, or of Aᵀ, times x.
fn multiply<T: Scalar, const TRANSPOSE: bool>(
    blocks: &Blocks<T>,
    task: &Task,
    alpha: T,
    x: &[T],
    sums: &mut [T],
) {
    // What the task's first output is within its block.
    let first = task.outputs.start & (blocks.beta() - 1);
    let sums = sums.as_mut_ptr().wrapping_sub(first);
    let run = |nonzeros: Range<usize>, block: usize| {
        let x = x.as_ptr().wrapping_add(block << blocks.log_beta);
        for k in nonzeros {
            // SAFETY: by BLOCKS each nonzero has an index and a value; by NONZEROS its output is one of the
            // task's, and by PLACES x, whose length `Prepared::multiply` checked, has its input.
            unsafe {
                let index = *blocks.indices.get_unchecked(k);
                let (row, col) = ((index >> 16) as usize, (index & 0xffff) as usize);
                let (output, input) = if TRANSPOSE { (col, row) } else { (row, col) };
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

/// Adds what the pieces of a line have summed up.
///
/// # Safety
/// Nobody else uses the line's y or temporaries.
unsafe fn add_temporaries<T: Scalar>(
    line: &BlockLine,
    y: &DisjointMut<T>,
    temporaries: &DisjointMut<T>,
) {
    // SAFETY: the caller's promise.
    let (y, temporaries) =
        unsafe { (y.range(line.outputs.clone()), temporaries.range(line.temporaries.clone())) };
    for piece in temporaries.chunks(y.len()) {
        y.iter_mut().zip(piece).for_each(|(y, &sum)| *y += sum);
    }
}
