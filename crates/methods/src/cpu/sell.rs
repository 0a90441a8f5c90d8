//! SELL-C-σ: Kreutzer et al., A unified sparse matrix data format (2014).
//!
//! Rows are sorted by descending length in windows of σ rows and cut into chunks of C rows. A chunk is
//! stored column by column and padded to its longest row. C is the number of lanes of the widest register.
//! A thread owns contiguous chunks with an equal share of the stored values. y is written through the
//! permutation, so it is in the order of the matrix.
//!
//! Memory: the padded matrix, the permutation, and an offset per chunk. Departure: padding repeats the
//! row's last column index, because that element of x is in cache and belongs to the row anyway.

use super::prelude::*;
use crate::formats::strips::{self, SIGMA, Strips, sigma};
use crate::simd::MAX_LANES;

pub const METHOD: Method = Method {
    name: "sell",
    source: "Kreutzer et al. 2014, SELL-C-σ",
    summary: "rows sorted by length in windows, then stored in chunks with one row per lane of the widest register",
    parameters: &[SIGMA],
    setup: Setup::Conversion,
    memory: strips::memory,
    may_refuse: |extent| strips::may_refuse(extent, MAX_LANES as u64),
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let lanes = request.isa.wide_lanes::<T>();
    let strips = Strips::sliced(csr, lanes, sigma(request, csr.rows()))?;
    Ok(strips.prepared(csr, request))
}
