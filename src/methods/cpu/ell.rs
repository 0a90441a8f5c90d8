//! ELL: Bell & Garland, Implementing sparse matrix-vector multiplication on throughput-oriented
//! processors (2009), §4.2.
//!
//! Every row has as many places as the longest has entries; the matrix is stored column by column, a
//! register of rows at a time is summed along them. A thread owns contiguous rows, as many as the others.
//!
//! Memory: the places. Departures: fill repeats the row's last column; a matrix that would be stored as
//! mostly fill is refused.

use super::strips::{Layout, Strips};
use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Prepared, Request, Setup, Unavailable};
use crate::methods::fill;
use crate::scalar::Scalar;
use crate::simd::{Lanes, MOST_LANES};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "ell",
    source: "Bell & Garland 2009, ELL",
    summary: "all rows as long as the longest, stored column by column, a lane per row",
    parameters: &[],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let width = csr.row_lengths().max().unwrap_or(0) as usize;
    fill::check(width as u64 * csr.rows as u64, csr.nnz())?;
    let lanes = request.isa.wide_lanes::<T>();
    Ok(Strips::new(csr, lanes, whole(csr.rows, width), None).prepared(csr, request))
}

/// All rows with `width` places. Columns are an odd number of registers apart, for powers of two would
/// put a row's places into one set of the cache.
pub fn whole(rows: usize, width: usize) -> Layout {
    Layout::Whole { pitch: (rows.div_ceil(MOST_LANES) | 1) * MOST_LANES, width }
}
