//! SELL-C-σ: Kreutzer et al., A unified sparse matrix data format (2014).
//!
//! Rows are sorted by descending length inside windows of σ rows, cut into chunks of C, and a chunk is
//! stored column by column, filled up to its longest row. C is the lanes of the widest register. A
//! thread owns contiguous chunks with an equal share of the stored places; y is written through the
//! permutation, so that it is in the matrix's own order.
//!
//! Memory: the places, the permutation, an offset per chunk. Departures: fill repeats the row's last
//! column, for a column of its own is in cache and its x is the row's concern anyway.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::strips::{Layout, Strips};
use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
use crate::methods::fill;
use crate::scalar::Scalar;
use crate::simd::Lanes;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "sell",
    source: "Kreutzer et al. 2014, SELL-C-σ",
    summary: "rows sorted by length in windows, then side by side in the lanes of the widest register",
    parameters: &[Parameter {
        name: "sigma",
        values: &["1", "32", "512", "4096", "16384", "all"],
        meaning: "rows of a window that is sorted by length; 1: none; default 512",
    }],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

/// As good as any other in the mean of real matrices.
const SIGMA: usize = 512;

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let sigma = match request.word("sigma") {
        Some("all") => csr.rows,
        _ => request.number("sigma").unwrap_or(SIGMA),
    };
    let lanes = request.isa.wide_lanes::<T>();
    let order = (sigma > 1).then(|| sorted(csr, sigma));
    let offsets = offsets(csr, lanes, order.as_deref());
    fill::check(u64::from(offsets[offsets.len() - 1]) * lanes as u64, csr.nnz())?;
    let strips = Strips::new(csr, lanes, Layout::Sliced(offsets), order);
    Ok(strips.prepared(csr, request))
}

/// The rows, those of each window of `sigma` by descending length and else in their order.
fn sorted<T: Scalar>(csr: &Csr<T>, sigma: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..csr.rows as u32).collect();
    let length = |&row: &u32| Reverse(csr.row(row as usize).len());
    if sigma < csr.rows {
        order.par_chunks_mut(sigma).for_each(|window| window.sort_by_key(length));
    } else {
        order.par_sort_by_key(length);
    }
    order
}

/// The columns before each chunk, and in all. They fit, for a chunk's columns are one row's entries.
fn offsets<T: Scalar>(csr: &Csr<T>, lanes: usize, order: Option<&[u32]>) -> Vec<u32> {
    let length = |place: usize| csr.row(order.map_or(place, |order| order[place] as usize)).len();
    let chunk = |chunk: usize| {
        let places = chunk * lanes..((chunk + 1) * lanes).min(csr.rows);
        places.map(length).max().unwrap_or(0) as u32
    };
    let chunks = csr.rows.div_ceil(lanes);
    // One more, of no rows, whose offset is the end.
    let mut offsets: Vec<u32> =
        (0..chunks + 1).into_par_iter().with_min_len(256).map(chunk).collect();
    let mut before = 0;
    for offset in &mut offsets {
        before += std::mem::replace(offset, before);
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 1, 3, 0, 3, 2, 1, 0 entries.
    fn ragged() -> Csr<f64> {
        let lengths = [1, 3, 0, 3, 2, 1, 0].into_iter().enumerate();
        let triplets: Vec<_> =
            lengths.flat_map(|(row, length)| (0..length).map(move |col| (row, col, 1.0))).collect();
        Csr::from_triplets(7, 3, &triplets)
    }

    #[test]
    fn windows_are_sorted_by_descending_length_and_stably() {
        assert_eq!(sorted(&ragged(), 3), [1, 0, 2, 3, 4, 5, 6]);
        assert_eq!(sorted(&ragged(), 4), [1, 3, 0, 2, 4, 5, 6]);
        assert_eq!(sorted(&ragged(), 7), [1, 3, 4, 0, 5, 2, 6]);
    }

    #[test]
    fn a_chunk_is_as_wide_as_its_longest_row() {
        assert_eq!(offsets(&ragged(), 2, None), [0, 3, 6, 8, 8]);
        assert_eq!(offsets(&ragged(), 2, Some(&sorted(&ragged(), 7))), [0, 3, 5, 6, 6]);
    }
}
