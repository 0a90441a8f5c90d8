//! Packed rows: CSR with fewer bytes and fewer instructions per nonzero. This is the project's own method. It
//! combines published ideas: sorted SELL slices (Kreutzer et al.), DIA, register blocks (OSKI), and compressed
//! values and indices (CSR&RV).
//!
//! The rows are cut into windows of a few thousand rows. Each row of a window is stored in the first of these forms
//! that suits it:
//! - *Bands*: as many consecutive rows as a register has lanes, whose nonzeros are on the same diagonals. No column
//!   indices are stored, and x is loaded instead of gathered. Successive slices on the same diagonals share a list
//!   of diagonals.
//! - *Slices*: as many blocks as a register has lanes, sorted by length in groups of 64 slices and stored step by step.
//!   A block is a row, or up to four rows with the same columns, which are then stored and gathered once. Lanes whose
//!   blocks have ended are not stored and are masked out of the sums, so there is no padding. If the rows of a slice
//!   are consecutive, their sums are stored as one register.
//! - *Long rows*: stored row by row, where the lengths differ too much.
//!
//! Bands, and blocks whose rows have slightly different columns, have slots without a nonzero. These contain zeros and
//! are multiplied like the others. If a sum is then not finite, it is computed again from the CSR arrays, because the
//! product of zero and an infinite or undefined element of x would be NaN.
//!
//! The columns of a window are stored as 16-bit distances from its lowest column, if they fit. Its values are stored
//! unchanged: without parameters the method compresses only the structure, so its time does not depend on the values.
//! With `values=coded` or `values=smallest` each window stores its values in the smallest of these forms that keeps
//! every bit: one value if all are equal, integers of 8 or 16 bits, binary32 in a matrix of binary64, or a table of the
//! distinct values and codes of 8 or 16 bits. Looking up values in a table takes longer than loading them from a cache,
//! so `values=coded` uses only tables that fit in the first cache, for matrices of binary64 that are larger than the
//! last-level cache.
//!
//! Each thread owns successive windows with an equal share of the estimated work. The longest rows (more than
//! `SHARED_ROW` nonzeros and more than a quarter of a thread's share) stay in CSR. Each thread sums a piece of each of
//! them. If there are any, each thread then adds the pieces of some of them in a second parallel region.
//!
//! Memory: the packed streams. Of the CSR arrays only the longest rows are read, and rows whose sum was not finite.

mod blocks;
mod build;
mod diagonals;
mod factors;
mod kernel;
mod rows;
mod source;
mod sums;
#[cfg(test)]
mod tests;
pub mod trial;
mod window;
mod write;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use super::prelude::*;
use super::row_kernels::Piece;
use super::rows::{part, shares};
use crate::formats::entries_of;
use crate::simd::{Aligned, Dispatch, MAX_LANES};
use build::{Packer, Packing};
use kernel::Multiply;
use spmv_matrix::system::cache_bytes;
use window::Window;

pub const METHOD: Method = Method {
    name: "packed",
    source: "this project; SELL-C-σ, DIA, register blocks and CSR&RV per window of rows",
    summary: "bands without column indices, sorted slices, blocks of rows; 16-bit columns",
    parameters: &[Parameter {
        name: "values",
        values: &["coded", "smallest"],
        meaning: "also stores values as one value, integers, binary32 or codes: where that saves time, or always the \
            fewest bytes",
    }],
    setup: Setup::Conversion,
    memory,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
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
/// Slices are prefetched if a thread's share has more bytes, so that it does not stay in the caches of its core.
const PREFETCHED: usize = 2 << 20;
/// The largest number of values of binary64 in a table that leaves room for x in a first-level cache of 32 KiB.
const CACHED_TABLE: usize = 2048;

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, threads, isa) = (request.team, request.team.len(), request.isa);
    let packing = packing_for(csr, request);
    let windows = (csr.nnz() / (threads * WINDOW_NONZEROS)).clamp(1, WINDOWS_PER_THREAD) * threads;
    let share = csr.nnz().div_ceil(windows).max(1);
    let (windows, longest) = pack(csr, request.team, &cut(csr, share), packing);
    let costs: Vec<_> = windows.iter().map(Window::cost).collect();
    let shares = shares(&costs, threads);
    let sums = |_| CachePadded::new(Aligned::of(T::zero(), longest.len()));
    let mut sums: Vec<_> = (0..threads).map(sums).collect();
    let bytes = windows.iter().flat_map(Window::bytes).sum::<usize>();
    let prefetch = bytes > PREFETCHED * threads;
    let note = note(&windows, csr.nnz());
    let longest_entries: usize = longest.iter().map(|&row| csr.row(row).len()).sum();
    let longest_bytes = (longest_entries * (size_of::<T>() + size_of::<u32>())) as u64;
    let extra_bytes = bytes + (threads * size_of::<T>() + size_of::<usize>()) * longest.len();
    Ok(multiplying(csr, extra_bytes, move |operands, y| {
        let shared = DisjointMut::new(y);
        team.run_with(&mut sums, |rank, sums| {
            for window in &windows[shares[rank].clone()] {
                let end = window.first_row + window.rows;
                // SAFETY: windows do not overlap, and each belongs to one thread.
                let y = unsafe { shared.range(window.first_row..end) };
                Multiply { csr, window, operands, y, prefetch }.run(isa);
            }
            for (&row, sum) in longest.iter().zip(&mut sums[..]) {
                let Range { start, end } = csr.row(row);
                let part = part(end - start, rank, threads);
                let range = start + part.start..start + part.end;
                *sum = isa.run(Piece { csr, range, x: operands.x });
            }
        });
        if !longest.is_empty() {
            team.run(|rank| {
                for index in part(longest.len(), rank, threads) {
                    let sum = sums.iter().fold(T::zero(), |sum, of_thread| sum + of_thread[index]);
                    // SAFETY: each of the longest rows is listed once, and they are in no window.
                    operands.store(sum, unsafe { shared.at(longest[index]) });
                }
            });
        }
    })
    .with_csr_bytes(longest_bytes)
    .with_note(note))
}

fn note<T>(windows: &[Window<T>], nnz: usize) -> String {
    let all = windows.iter().map(Window::bytes);
    let [factors, columns, others] = all.fold([0; 3], |[a, b, c], [f, g, h]| [a + f, b + g, c + h]);
    let per_nonzero = |bytes: usize| bytes as f64 / nnz.max(1) as f64;
    format!(
        "{:.2} bytes per nonzero: values {:.2}, columns {:.2}",
        per_nonzero(factors + columns + others),
        per_nonzero(factors),
        per_nonzero(columns)
    )
}

fn packing_for<T: Scalar + Lanes>(csr: &Csr<T>, request: &Request) -> Packing {
    Packing {
        isa: request.isa,
        table: largest_table(csr, request.word("values")),
        longest: (csr.nnz() / (4 * request.team.len())).max(SHARED_ROW),
    }
}

/// Returns the largest number of values in a table of codes, or `None` if values are stored unchanged.
fn largest_table<T: Scalar>(csr: &Csr<T>, values: Option<&str>) -> Option<usize> {
    let lookups_pay = size_of::<T>() == 8 && size_of_val(csr.values()) as u64 > cache_bytes();
    match values? {
        "smallest" => Some(1 << 16),
        _ if lookups_pay => Some(CACHED_TABLE),
        _ => Some(0),
    }
}

/// Packs the windows, and lists the rows that are too long for them. Each thread begins with windows that have an equal
/// share of the nonzeros. These are nearly those that it multiplies, so the pages of their streams are in its memory.
/// Then it takes windows that others have not begun, because not all take the same time.
fn pack<T: Scalar + Lanes>(
    csr: &Csr<T>,
    team: &Team,
    windows: &[Range<usize>],
    packing: Packing,
) -> (Vec<Window<T>>, Vec<usize>) {
    let sizes: Vec<_> = windows.iter().map(|rows| entries_of(csr, rows).len()).collect();
    let shares = shares(&sizes, team.len());
    let next: Vec<_> = shares.iter().map(|share| CachePadded::new(AtomicUsize::new(share.start))).collect();
    let mut packed: Vec<CachePadded<_>> = shares.iter().map(|_| (Vec::new(), Vec::new()).into()).collect();
    team.run_with(&mut packed, |rank, (packed, longest)| {
        let mut packer = Packer::new(packing);
        for owner in (rank..shares.len()).chain(0..rank) {
            let claims = std::iter::repeat_with(|| next[owner].fetch_add(1, Ordering::Relaxed));
            for window in claims.take_while(|&window| window < shares[owner].end) {
                let rows = windows[window].clone();
                packed.push(packer.pack(csr, rows.clone()));
                longest.extend(rows.filter(|&row| csr.row(row).len() > packing.longest));
            }
        }
    });
    let packed = packed.into_iter().map(CachePadded::into_inner);
    let (windows, longest): (Vec<_>, Vec<_>) = packed.unzip();
    let mut windows: Vec<Window<T>> = windows.into_iter().flatten().collect();
    windows.sort_by_key(|window| window.first_row);
    (windows, longest.concat())
}

/// Returns an upper bound of the bytes of the streams (bands of values with holes, or values with fewer holes and
/// column indices), and of the lists by which each thread packs a window. Values in another form are written twice.
fn memory(extent: &Extent) -> u64 {
    let Extent { rows, nnz, longest, value, threads, .. } = *extent;
    let per_entry = (value + 2).max(value * 6 / 5 + 6);
    let windows = (nnz / (threads * WINDOW_NONZEROS as u64)).clamp(1, WINDOWS_PER_THREAD as u64);
    let packing = (nnz / windows + threads * longest).min(nnz);
    let rows_packing = rows.min(threads * WINDOW_ROWS as u64);
    let coding = if extent.word("values").is_some() { 4 * value + 24 } else { 0 };
    nnz * per_entry + packing * (16 + coding) + 64 * rows_packing + (value + 12) * rows
}

/// Cuts the rows into windows that end near multiples of `nonzeros` nonzeros and have at most
/// [`WINDOW_ROWS`] rows. The number of rows of a large window is rounded up to whole registers.
fn cut<T>(csr: &Csr<T>, nonzeros: usize) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let mut start = 0;
    while start < csr.rows() {
        let full = (csr.row_offsets()[start] as usize / nonzeros + 1) * nonzeros;
        let end = csr.row_offsets().partition_point(|&offset| (offset as usize) < full);
        let many = end - start >= 4 * MAX_LANES;
        let end = if many { end.next_multiple_of(MAX_LANES) } else { end };
        let end = end.clamp(start + 1, start + WINDOW_ROWS).min(csr.rows());
        windows.push(start..end);
        start = end;
    }
    windows
}
