//! LightSpMV: five-gpu-algorithms, section IV-E, after Liu and Schmidt.
//!
//! Rows are assigned at run time through one counter in global memory. A vector of 2 to 32 threads owns one row at a
//! time. At vector level, each vector fetches its next row. At warp level, the first lane of a warp fetches one row for
//! each vector of the warp, which needs fewer atomic operations. The lanes process a row as in CSR-Vector. The grid has
//! as many blocks as can be resident at the same time. Whoever fetches last clears the counter for the next product, so
//! that a product is one launch. A product that fails in its kernel leaves another value, but also an unusable context.
//!
//! Memory: 4 bytes. Departures from the sources: a vector can fetch several rows at a time, on newer GPUs by default
//! (`rows=1` is published), and fetches the next ones before it processes them; α and β are supported (Liu and Schmidt
//! have them, five-gpu-algorithms does not); two lanes load the bounds of a row and pass them to the others by
//! shuffles, not through shared memory; a lane loads several nonzeros of its row before it uses the first of them; the
//! sources clear the counter before each product; five-gpu-algorithms launches one thread per row.

use super::prelude::*;
use super::row_vectors::depth_for;

pub const METHOD: Method = Method {
    name: "gpu-light",
    source: "five-gpu-algorithms, IV-E; Liu and Schmidt 2015 and 2018",
    summary: "LightSpMV: vectors of threads fetch rows from a counter",
    parameters: &[
        Parameter {
            name: "level",
            values: &["warp", "vector"],
            meaning: "which threads fetch rows together; default warp",
        },
        Parameter {
            name: "lanes",
            values: &["2", "4", "8", "32"],
            meaning: "threads per row; default by the mean row length",
        },
        Parameter {
            name: "rows",
            values: &["1", "4", "16"],
            meaning: "rows per vector and fetch; default 1 (as published), from compute capability 7.0 on 4, \
                      and from 9.0 on 16 if the matrix has as many rows for each vector",
        },
        Parameter {
            name: "block",
            values: &["128", "256", "512", "1024"],
            meaning: "threads per block; default 1024, as in both papers",
        },
    ],
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let (rows, nnz) = (csr.host.rows(), csr.host.nnz());
    let lanes = request.number("lanes").unwrap_or_else(|| lanes(rows, nnz));
    let block = request.number("block").unwrap_or(1024);
    let per_warp = usize::from(request.word("level") != Some("vector"));
    let at_a_time = request.number("rows").unwrap_or_else(|| at_a_time(csr, lanes));
    let constants = [
        ("LANES", lanes),
        ("DEPTH", depth_for(&csr.host, lanes)),
        ("PER_WARP", per_warp),
        ("ROWS", at_a_time),
        ("BLOCK", block),
    ];
    let kernel = csr.gpu.compile::<T>(program!("cuda/light.cu"), &constants)?.kernel("light")?;
    let grid = rows.div_ceil(block / lanes).min(kernel.resident_blocks(block, 0)?);
    let counter = csr.gpu.zeros::<u32>(1)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        kernel.launch(grid, block, 0, &[&csr.rows(), csr, x, y, &alpha, &beta, &counter])
    }))
}

/// Returns the rows that a vector fetches at a time. One is published for GPUs up to Maxwell. On newer ones the
/// additions to the counter would take longer than all loads: measured on an H200, 390,625 of them take 290 µs of a
/// product of 497 µs.
fn at_a_time<T: Value>(csr: &DeviceCsr<T>, lanes: usize) -> usize {
    const MOST_THREADS: usize = 2048;
    let facts = csr.gpu.facts();
    let vectors = facts.multiprocessors as usize * MOST_THREADS / lanes;
    match facts.compute_capability.0 {
        ..7 => 1,
        9.. if csr.host.rows() >= 16 * vectors => 16,
        _ => 4,
    }
}

/// Returns the lanes per row for the rounded mean row length, as in LightSpMV 1.0.
fn lanes(rows: usize, nnz: usize) -> usize {
    match (nnz as f64 / rows.max(1) as f64).round() as usize {
        0..=2 => 2,
        3..=4 => 4,
        5..=64 => 8,
        _ => 32,
    }
}

#[cfg(test)]
#[test]
fn lanes_follow_the_rounded_mean() {
    let of_ten_rows = |nnz| lanes(10, nnz);
    assert_eq!([0, 24, 25, 44, 45, 644, 645].map(of_ten_rows), [2, 2, 4, 4, 8, 8, 32]);
    assert_eq!(lanes(0, 0), 2);
}
