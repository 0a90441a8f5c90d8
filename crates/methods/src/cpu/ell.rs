//! ELL: Bell & Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, 2009, §4.2.
//!
//! Every row is padded to the length of the longest row, and the matrix is stored column by column. A register sums
//! as many rows as it has lanes, one row per lane. A thread owns an equal number of contiguous rows.
//!
//! Memory: the padded matrix. Departure: padding repeats the row's last column index.

use super::prelude::*;
use crate::formats::strips::{self, Strips};

pub const METHOD: Method = Method {
    name: "ell",
    source: "Bell & Garland 2009, ELL",
    summary: "all rows padded to the longest, stored column by column, one lane per row",
    setup: Setup::Conversion,
    memory: strips::memory,
    may_refuse: |extent| strips::may_refuse(extent, 1),
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let width = csr.row_lengths().max().unwrap_or(0) as usize;
    let lanes = request.isa.wide_lanes::<T>();
    Ok(Strips::whole(csr, lanes, width)?.prepared(csr, request))
}
