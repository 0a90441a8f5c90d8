//! The baselines of hola-spmv-ics17: one thread per row, after Steinberger, Derler, Zayer and Seidel 2016.
//!
//! The product with A runs the kernel of CSR-Scalar in blocks of 256 threads. The product with Aᵀ first computes
//! y ← βy; then each thread multiplies the nonzeros of its row of A and adds each product to y by an atomic operation,
//! so the order of summation varies. No setup, no memory in addition to CSR.
//!
//! Departures from the source: HOLA's program does not clear y before the transposed product, and launches one thread
//! per column even if A is not square.

use super::csr_scalar;
use super::prelude::*;
use super::start::Start;

pub const METHOD: Method = Method {
    name: "gpu-naive",
    source: "hola-spmv-ics17, 4; Steinberger et al. 2016",
    summary: "a thread per row, HOLA's baseline: gpu-csr-scalar in blocks of 256",
    parameters: &[],
    ..csr_scalar::METHOD
};

pub const METHOD_T: Method = Method {
    name: "gpu-naive-t",
    source: METHOD.source,
    summary: "a thread per row of A, an atomic addition per nonzero",
    operations: Operations::Transposed,
    ..Method::new(Code::Gpu { f64: prepare_transposed, f32: prepare_transposed })
};

pub const BLOCK: usize = 256;

fn prepare_transposed<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    Ok(transposed(csr, 1)?.transposing(request.transpose))
}

pub fn transposed<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, lanes: usize) -> Preparation<'a, T> {
    let constants = [("LANES", lanes), ("BLOCK", BLOCK)];
    let module = csr.gpu.compile::<T>(program!("cuda/naive.cu"), &constants)?;
    let kernel = module.kernel("naive_transposed")?;
    let start = Start::of::<T>(&csr.gpu)?;
    let grid = csr.host.rows().div_ceil(BLOCK / lanes);
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        start.run(beta, y)?;
        kernel.launch(grid, BLOCK, 0, &[&csr.rows(), csr, x, y, &alpha])
    }))
}
