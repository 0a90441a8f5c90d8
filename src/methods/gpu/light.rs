//! LightSpMV: five-gpu-algorithms, section IV-E, after Liu and Schmidt.
//!
//! Rows are handed out at run time by one counter in global memory. A vector of 2 to 32 threads owns a
//! row at a time; either each vector fetches its next row (vector level), or the first lane of a warp
//! fetches one for each vector of the warp (warp level), with fewer atomic operations. The lanes share
//! a row as in CSR-Vector. One resident wave of blocks; the counter is cleared in each product.
//!
//! Memory: 4 bytes. Departures: α and β (Liu and Schmidt have them, five-gpu-algorithms has not); row
//! bounds go from two lanes to all by shuffles, not through shared memory; five-gpu-algorithms launches
//! a thread per row.

use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-light",
    source: "five-gpu-algorithms, IV-E; Liu and Schmidt 2015 and 2018",
    summary: "LightSpMV: vectors of threads fetch rows from a counter",
    parameters: &[
        Parameter {
            name: "level",
            values: &["warp", "vector"],
            meaning: "what fetches rows; a warp unless given",
        },
        Parameter {
            name: "lanes",
            values: &["2", "4", "8", "32"],
            meaning: "threads per row; by the mean row length unless given",
        },
        Parameter {
            name: "block",
            values: &["128", "256", "512", "1024"],
            meaning: "threads per block; 1024 unless given, as in both papers",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory: |_| 0,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "light.cu", source: include_str!("../../../cuda/light.cu") };

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let (rows, nnz) = (csr.host.rows(), csr.host.nnz());
    let lanes = request.number("lanes").unwrap_or_else(|| lanes(rows, nnz));
    let block = request.number("block").unwrap_or(1024);
    let per_warp = usize::from(request.word("level") != Some("vector"));
    let constants = [("LANES", lanes), ("PER_WARP", per_warp), ("BLOCK", block)];
    let kernel = csr.gpu.compile::<T>(&PROGRAM, &constants)?.kernel("light")?;
    let grid = rows.div_ceil(block / lanes).min(kernel.resident_blocks(block, 0)?);
    let mut counter = csr.gpu.allocate::<u32>(1)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        counter.fill(0)?;
        let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
        kernel.launch(
            grid,
            block,
            0,
            &[&csr.rows(), row_offsets, column_indices, values, x, y, &alpha, &beta, &counter],
        )
    }))
}

/// Lanes per row by the mean row length, rounded, in LightSpMV 1.0.
fn lanes(rows: usize, nnz: usize) -> usize {
    match (nnz as f64 / rows.max(1) as f64).round() as usize {
        0..=2 => 2,
        3..=4 => 4,
        5..=64 => 8,
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn lanes_follow_the_rounded_mean() {
        let lanes = |nnz| super::lanes(10, nnz);
        assert_eq!([0, 24, 25, 44, 45, 644, 645].map(lanes), [2, 2, 4, 4, 8, 8, 32]);
        assert_eq!(super::lanes(0, 0), 2);
    }
}
