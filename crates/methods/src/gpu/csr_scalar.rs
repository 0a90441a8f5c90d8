//! CSR-Scalar: five-gpu-algorithms, section IV-A, after Bell and Garland.
//!
//! Each thread owns one row and sums its products in order. Neighbouring threads read nonzeros of different rows, so
//! the loads are coalesced only where rows are short. The grid has one thread per row. No shared memory, no setup, no
//! memory in addition to CSR.
//!
//! Departures from the source: a thread owns exactly one row, whereas the listing allows a smaller grid whose threads
//! stride over the rows.

use super::prelude::*;
use super::row_vectors::by_rows;

pub const METHOD: Method = Method {
    name: "gpu-csr-scalar",
    source: "five-gpu-algorithms, IV-A; Bell & Garland 2009",
    summary: "a thread per row",
    parameters: &[Parameter {
        name: "block",
        values: &["64", "128", "256", "512", "1024"],
        meaning: "threads per block; default 256 (1024 in five-gpu-algorithms)",
    }],
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = request.number("block").unwrap_or(256);
    let kernel = csr.gpu.compile::<T>(program!("cuda/csr_scalar.cu"), &[("BLOCK", block)])?.kernel("csr_scalar")?;
    let grid = csr.host.rows().div_ceil(block);
    Ok(by_rows(csr, kernel, grid, block))
}
