//! ELL: Bell & Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, 2009, §4.2.
//!
//! Every row is padded to the length of the longest row, and the matrix is stored column by column. A register sums
//! as many rows as it has lanes, one row per lane. A thread owns an equal number of contiguous rows.
//!
//! Memory: the padded matrix. Departure: padding repeats the row's last column index.

use super::prelude::*;
use crate::formats::strips::{self, Strips};
use crate::simd::{Dispatch, MAX_LANES};

pub const METHOD: Method = Method {
    name: "ell",
    source: "Bell & Garland 2009, ELL",
    summary: "all rows padded to the longest, stored column by column, one lane per row",
    parameters: &[],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: strips::memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let width = csr.row_lengths().max().unwrap_or(0) as usize;
    let lanes = request.isa.wide_lanes::<T>();
    Ok(Strips::whole(csr, lanes, (pitch(csr.rows()), width), None)?.prepared(csr, request))
}

/// Returns the number of places from one entry of a row to the next: an odd number of registers, because
/// with powers of two all entries of a row would map to the same cache set.
pub fn pitch(rows: usize) -> usize {
    (rows.div_ceil(MAX_LANES) | 1) * MAX_LANES
}
