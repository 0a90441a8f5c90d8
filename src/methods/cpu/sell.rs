//! SELL-C-σ: Kreutzer et al., A unified sparse matrix data format (2014).
//!
//! Rows are sorted by descending length inside windows of σ rows, cut into chunks of C, and a chunk is
//! stored column by column, filled up to its longest row. C is the lanes of the widest register. A
//! thread owns contiguous chunks with an equal share of the stored places; y is written through the
//! permutation, so that it is in the matrix's own order.
//!
//! Memory: the places, the permutation, an offset per chunk. Departures: fill repeats the row's last
//! column, for a column of its own is in cache and its x is the row's concern anyway.

use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Prepared, Request, Setup, Unavailable};
use crate::methods::strips::{self, SIGMA, Strips, sigma};
use crate::scalar::Scalar;
use crate::simd::Lanes;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "sell",
    source: "Kreutzer et al. 2014, SELL-C-σ",
    summary: "rows sorted by length in windows, then side by side in the lanes of the widest register",
    parameters: &[SIGMA],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: strips::memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let lanes = request.isa.wide_lanes::<T>();
    let strips = Strips::sliced(csr, lanes, sigma(request, csr.rows), None)?;
    Ok(strips.prepared(csr, request))
}
