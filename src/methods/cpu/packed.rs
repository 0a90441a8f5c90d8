//! Packed rows: CSR with fewer bytes and fewer instructions per nonzero. This is the project's own method. It
//! combines published ideas: sorted SELL slices (Kreutzer et al.), DIA, register blocks (OSKI), and compressed
//! values and indices (CSR&RV).
//!
//! The rows are cut into windows of a few thousand rows. Each row of a window is stored in the first of these forms
//! that suits it:
//! - *Bands*: as many consecutive rows as a register has lanes, whose nonzeros are on the same diagonals. No column
//!   indices are stored, and x is loaded instead of gathered. Successive slices on the same diagonals share a list
//!   of diagonals.
//! - *Slices*: as many blocks as a register has lanes, sorted by length within the window and stored step by step. A
//!   block is a row, or up to four rows with the same columns, which are then stored and gathered once. Lanes whose
//!   blocks have ended are not stored and are masked out of the sums, so there is no padding.
//! - *Long rows*: stored row by row, where the lengths differ too much.
//!
//! The columns of a window are stored as 16-bit distances from its lowest column, if they fit. Its values are stored
//! unchanged: without parameters the method compresses only the structure, so its time does not depend on the
//! values. With `values=coded` a window stores one value if all are equal, and one-byte codes if at most 256 values
//! differ.
//!
//! Each thread owns successive windows with an equal share of the estimated work. The longest rows (more than
//! `SHARED_ROW` nonzeros and more than a quarter of a thread's share) stay in CSR. Each thread sums a piece of each
//! of them, and the leader adds the pieces.
//!
//! Memory: the packed streams. Of the CSR arrays only the longest rows are read.

mod build;
mod check;
mod kernel;
#[cfg(test)]
mod tests;
mod window;

use std::ops::Range;

use rayon::prelude::*;

use super::row_kernels::Piece;
use super::rows::{Operands, part, shares};
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
use crate::scalar::Scalar;
use crate::simd::{Lanes, MAX_LANES};
use crate::team::DisjointMut;
use build::{Packing, pack};
use kernel::Multiply;
use window::Window;

/// The method `packed`.
pub const METHOD: Method = Method {
    name: "packed",
    source: "this project; SELL-C-σ, DIA, register blocks and CSR&RV per window of rows",
    summary: "bands without column indices, sorted slices, blocks of rows; 16-bit columns",
    parameters: &[Parameter {
        name: "values",
        values: &["coded"],
        meaning: "also compresses values: one value per window if all are equal, or one-byte codes for up to 256",
    }],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

/// The largest number of rows in a window.
const WINDOW_ROWS: usize = 4096;
/// Rows of at most this many nonzeros are never shared among threads.
const SHARED_ROW: usize = 2048;
/// The number of windows per thread, so that equal shares of the windows are nearly equal shares of the
/// work. There are fewer if windows would have fewer than [`WINDOW_NONZEROS`] nonzeros.
const WINDOWS_PER_THREAD: usize = 8;
/// The smallest number of nonzeros per window: rows of similar length are only found among many rows.
const WINDOW_NONZEROS: usize = 16384;

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let (team, threads, isa) = (request.team, request.team.len(), request.isa);
    let windows = (csr.nnz() / (threads * WINDOW_NONZEROS)).clamp(1, WINDOWS_PER_THREAD) * threads;
    let share = csr.nnz().div_ceil(windows).max(1);
    let coded = request.word("values").is_some();
    let longest = (csr.nnz() / (4 * threads)).max(SHARED_ROW);
    let packing = Packing { lanes: isa.wide_lanes::<T>(), coded, longest };
    let windows: Vec<_> =
        cut(csr, share).into_par_iter().map(|rows| pack(csr, rows, packing)).collect();
    let longest: Vec<_> =
        (0..csr.rows).filter(|&row| csr.row(row).len() > packing.longest).collect();
    let costs: Vec<_> = windows.iter().map(Window::cost).collect();
    let shares = shares(&costs, threads);
    let mut sums = vec![vec![T::zero(); longest.len()]; threads];
    let bytes = windows.iter().map(Window::bytes).sum::<usize>();
    let longest_entries: usize = longest.iter().map(|&row| csr.row(row).len()).sum();
    let longest_bytes = (longest_entries * (size_of::<T>() + size_of::<u32>())) as u64;
    let extra_bytes = bytes + (threads * size_of::<T>() + size_of::<usize>()) * longest.len();
    Ok(Prepared::new(csr, extra_bytes, move |alpha, x, beta, y| {
        let operands = Operands { alpha, x, beta };
        let shared = DisjointMut::new(y);
        team.run_with(&mut sums, |rank, sums| {
            for window in &windows[shares[rank].clone()] {
                let end = window.first_row + window.rows;
                // SAFETY: windows do not overlap, and each belongs to one thread.
                let y = unsafe { shared.range(window.first_row..end) };
                isa.run_wide(Multiply { window, operands, y });
            }
            for (&row, sum) in longest.iter().zip(sums) {
                let Range { start, end } = csr.row(row);
                let part = part(end - start, rank, threads);
                let range = start + part.start..start + part.end;
                *sum = isa.run(Piece { csr, range, x });
            }
        });
        for (index, &row) in longest.iter().enumerate() {
            let sum = sums.iter().fold(T::zero(), |sum, of_thread| sum + of_thread[index]);
            operands.store(sum, &mut y[row]);
        }
        Ok(())
    })
    .with_csr_bytes(longest_bytes))
}

/// Returns an upper bound of the bytes of the streams (bands of values with holes, or values with fewer
/// holes and column indices), and of the temporary lists from which each thread packs a window.
fn memory(extent: &Extent) -> u64 {
    let Extent { rows, nnz, longest, value, threads, .. } = *extent;
    let per_entry = (value * 5 / 3 + 1).max(value * 6 / 5 + 8);
    let windows = (nnz / (threads * WINDOW_NONZEROS as u64)).clamp(1, WINDOWS_PER_THREAD as u64);
    let packing = (nnz / windows + threads * longest).min(nnz);
    let rows_packing = rows.min(threads * WINDOW_ROWS as u64);
    nnz * per_entry + packing * (4 * value + 36) + 128 * rows_packing + rows
}

/// Cuts the rows into windows that end near multiples of `nonzeros` nonzeros and have at most
/// [`WINDOW_ROWS`] rows. The number of rows of a large window is rounded up to whole registers.
fn cut<T>(csr: &Csr<T>, nonzeros: usize) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let mut start = 0;
    while start < csr.rows {
        let full = (csr.row_offsets[start] as usize / nonzeros + 1) * nonzeros;
        let end = csr.row_offsets.partition_point(|&offset| (offset as usize) < full);
        let many = end - start >= 4 * MAX_LANES;
        let end = if many { end.next_multiple_of(MAX_LANES) } else { end };
        let end = end.clamp(start + 1, start + WINDOW_ROWS).min(csr.rows);
        windows.push(start..end);
        start = end;
    }
    windows
}
