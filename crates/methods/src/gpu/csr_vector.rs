//! CSR-Vector: five-gpu-algorithms, section IV-B, after Bell and Garland.
//!
//! A vector of 2 to 32 neighbouring threads (its lanes) owns one row. Each lane processes the nonzeros at a stride of
//! the vector size, so that the loads are coalesced, and the lanes' sums are added by shuffles. A lane loads four
//! nonzeros at a time, and there are as many lanes as load a row of mean length at once. A vector of a whole warp
//! starts at an aligned nonzero (cusp). Setup only computes the mean row length. No memory in addition to CSR.
//!
//! `loads=one` is the listing of five-gpu-algorithms: a warp per row in blocks of 1024, each lane loads one nonzero at
//! a time, from the start of the row, and the lanes' sums are added in shared memory. It departs in one thing: the
//! listing has a barrier of the block in a divergent branch, which Volta and later GPUs do not allow; here the warp
//! waits.

use super::prelude::*;
use super::row_vectors::{by_rows, depth_for, lanes_for};

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
        Parameter {
            name: "loads",
            values: &["one"],
            meaning: "one: the listing of five-gpu-algorithms, with lanes=32, block=1024, one load at a time and \
                      sums in shared memory",
        },
    ],
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let is_listing = request.word("loads") == Some("one");
    let (lanes, block) = if is_listing { (32, 1024) } else { (lanes_for(&csr.host), 128) };
    let lanes = request.number("lanes").unwrap_or(lanes);
    with_lanes(csr, lanes, request.number("block").unwrap_or(block), is_listing)
}

/// Returns the product in blocks of `block` threads, with `lanes` threads per row, which may load and add as in the
/// listing.
pub fn with_lanes<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    lanes: usize,
    block: usize,
    is_listing: bool,
) -> Preparation<'a, T> {
    let grid = csr.host.rows().div_ceil(block / lanes);
    let depth = depth_for(&csr.host, lanes);
    let constants = [("LANES", lanes), ("DEPTH", depth), ("BLOCK", block), ("LISTING", is_listing.into())];
    let kernel = csr.gpu.compile::<T>(program!("cuda/csr_vector.cu"), &constants)?.kernel("csr_vector")?;
    Ok(by_rows(csr, kernel, grid, block))
}
