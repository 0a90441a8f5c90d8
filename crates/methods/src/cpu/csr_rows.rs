//! The plain parallel CSR product (row splitting, merge-spmv-sc16, section II): each thread multiplies whole rows.
//!
//! Thread t owns contiguous rows. Rows and nonzeros count as equal work, as in [`merge`](super::merge): the thread
//! starts at the first row before which there are at least t·(rows + nnz)/T rows and nonzeros, where T is the number
//! of threads, and ends where thread t + 1 starts. Each product finds these rows by binary search in the row offsets.
//! A row is never split, so a single long row leaves the other threads idle. The rows are multiplied four at a time
//! (`row_kernels.rs`).
//!
//! Memory: none beyond CSR.

use super::prelude::*;
use super::row_kernels::{WholeRows, prefetching_pays};
use super::rows::balanced;

pub const METHOD: Method = Method {
    name: "csr-rows",
    source: "merge-spmv-sc16, II: row splitting",
    summary: "whole rows per thread, balanced by rows and nonzeros in each product; SIMD, four rows at a time",
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, threads, isa) = (request.team, request.team.len(), request.isa);
    let prefetch = prefetching_pays(csr);
    Ok(multiplying(csr, 0, move |operands, y| {
        let y = DisjointMut::new(y);
        team.run(|rank| {
            let rows = balanced(csr, rank, threads, 1);
            // SAFETY: shares of different ranks do not overlap.
            let y = unsafe { y.range(rows.clone()) };
            let start = csr.row_offsets()[rows.start] as usize;
            isa.run(WholeRows { csr, rows, start, operands, y, prefetch });
        });
    }))
}
