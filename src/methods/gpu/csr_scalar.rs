//! CSR-Scalar: five-gpu-algorithms, section IV-A, after Bell and Garland.
//!
//! A thread owns a row and adds its products up in order; neighbouring threads read nonzeros that lie
//! a row apart, so loads coalesce only where rows are short. A grid with a thread per row; no shared
//! memory, no setup, nothing beyond CSR.
//!
//! Departures: α and β; a thread has one row, where the listing lets a smaller grid stride over them.

use super::by_rows;
use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, PreparedOnGpu, Request, Setup, Unprepared,
};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-csr-scalar",
    source: "five-gpu-algorithms, IV-A; Bell and Garland 2009",
    summary: "a thread per row",
    parameters: &[Parameter {
        name: "block",
        values: &["64", "128", "256", "512", "1024"],
        meaning: "threads per block; 256 unless given, 1024 in five-gpu-algorithms",
    }],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory: |_| 0,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "csr_scalar.cu", source: include_str!("../../../cuda/csr_scalar.cu") };

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let block = request.number("block").unwrap_or(256);
    let kernel = csr.gpu.compile::<T>(&PROGRAM, &[("BLOCK", block)])?.kernel("csr_scalar")?;
    let grid = csr.host.rows().div_ceil(block);
    Ok(by_rows(csr, kernel, grid, block))
}
