//! CSR-Vector: five-gpu-algorithms, section IV-B, after Bell and Garland.
//!
//! A vector of 2 to 32 neighbouring threads (its lanes) owns one row. Each lane processes the nonzeros at a stride of
//! the vector size, so that the loads are coalesced, and the lanes' sums are added by shuffles. A lane loads four
//! nonzeros at a time, and there are as many lanes as load a row of mean length at once. A vector of a whole warp starts
//! at an aligned nonzero (cusp). Setup only computes the mean row length. No memory in addition to CSR.
//!
//! Departures from the listing: it always assigns a whole warp to a row (`lanes=32`), reduces through shared memory and
//! has a barrier in a divergent branch, which Volta and later GPUs do not allow; shuffles need neither.

use super::prelude::*;
use super::{by_rows, depth_for, lanes_for};

pub const METHOD: Method = Method {
    name: "gpu-csr-vector",
    source: "five-gpu-algorithms, IV-B; Bell & Garland 2009; cusp",
    summary: "a vector of 2 to 32 threads per row, by the mean row length",
    parameters: &[
        Parameter {
            name: "lanes",
            values: &["2", "4", "8", "16", "32"],
            meaning: "threads per row; default a quarter of the mean row length (32 in \
                      five-gpu-algorithms, the mean row length in cusp)",
        },
        Parameter {
            name: "block",
            values: &["64", "128", "256", "512", "1024"],
            meaning: "threads per block; default 128 (1024 in five-gpu-algorithms)",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory: |_| 0,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let lanes = request.number("lanes").unwrap_or_else(|| lanes_for(&csr.host));
    with_lanes(csr, lanes, request.number("block").unwrap_or(128))
}

/// Returns the product in blocks of `block` threads, with `lanes` threads per row.
pub fn with_lanes<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    lanes: usize,
    block: usize,
) -> Preparation<'a, T> {
    let grid = csr.host.rows().div_ceil(block / lanes);
    let depth = depth_for(&csr.host, lanes);
    let constants = [("LANES", lanes), ("DEPTH", depth), ("BLOCK", block)];
    let kernel =
        csr.gpu.compile::<T>(program!("cuda/csr_vector.cu"), &constants)?.kernel("csr_vector")?;
    Ok(by_rows(csr, kernel, grid, block))
}
