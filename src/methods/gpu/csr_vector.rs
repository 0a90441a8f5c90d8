//! CSR-Vector: five-gpu-algorithms, section IV-B, after Bell and Garland; the choice of lanes after
//! cusp.
//!
//! A vector of 2 to 32 neighbouring threads owns a row: its lanes take every so-manieth nonzero, so
//! that their loads coalesce, and add up what they have by shuffles. A whole warp begins at an aligned
//! nonzero (cusp). No setup but the mean row length, nothing beyond CSR.
//!
//! Departures: the listing always gives a row a whole warp (`lanes=32`), reduces through shared memory
//! and has a barrier in a divergent branch, which Volta and later do not allow; shuffles need neither.
//! α and β.

use super::{by_rows, lanes_for};
use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, PreparedOnGpu, Request, Setup, Unprepared,
};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-csr-vector",
    source: "five-gpu-algorithms, IV-B; Bell and Garland 2009; cusp",
    summary: "a vector of 2 to 32 threads per row, by the mean row length",
    parameters: &[
        Parameter {
            name: "lanes",
            values: &["2", "4", "8", "16", "32"],
            meaning: "threads per row; by the mean row length unless given, 32 in \
                      five-gpu-algorithms",
        },
        Parameter {
            name: "block",
            values: &["64", "128", "256", "512", "1024"],
            meaning: "threads per block; 128 unless given, 1024 in five-gpu-algorithms",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory: |_| 0,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "csr_vector.cu", source: include_str!("../../../cuda/csr_vector.cu") };

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let lanes = request.number("lanes").unwrap_or_else(|| lanes_for(&csr.host));
    with_lanes(csr, lanes, request.number("block").unwrap_or(128))
}

/// The product in blocks of `block` threads, with `lanes` threads per row.
pub fn with_lanes<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    lanes: usize,
    block: usize,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let grid = csr.host.rows().div_ceil(block / lanes);
    let constants = [("LANES", lanes), ("BLOCK", block)];
    let kernel = csr.gpu.compile::<T>(&PROGRAM, &constants)?.kernel("csr_vector")?;
    Ok(by_rows(csr, kernel, grid, block))
}
