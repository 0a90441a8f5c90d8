//! ELL: Bell & Garland, Implementing sparse matrix-vector multiplication on throughput-oriented
//! processors (2009), §4.2.
//!
//! Every row has as many places as the longest has entries; the matrix is stored column by column, a
//! register of rows at a time is summed along them. A thread owns contiguous rows, as many as the others.
//!
//! Memory: the places. Departures: fill repeats the row's last column; a matrix that would be stored as
//! mostly fill is refused.

use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Prepared, Request, Setup, Unavailable};
use crate::methods::strips::{self, Strips};
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
    memory: strips::memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let width = csr.row_lengths().max().unwrap_or(0) as usize;
    let lanes = request.isa.wide_lanes::<T>();
    Ok(Strips::whole(csr, lanes, (pitch(csr.rows), width), None)?.prepared(csr, request))
}

/// Places between a row's entries: an odd number of registers, for powers of two would put them into one
/// set of the cache.
pub fn pitch(rows: usize) -> usize {
    (rows.div_ceil(MOST_LANES) | 1) * MOST_LANES
}
