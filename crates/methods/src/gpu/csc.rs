//! The transposed product on an explicit transpose, the alternative to compare `gpu-hola-t` with: the CSC format of A
//! is the CSR format of Aᵀ.
//!
//! Setup copies A to the host, transposes it on all cores and uploads Aᵀ. The product is that of `gpu-hola` with the
//! default parameters for Aᵀ. Memory: Aᵀ, and the memory of `gpu-hola`.

use std::borrow::Cow;

use super::hola::{BLOCK, Hola, ITEMS, SORT};
use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-csc",
    source: "hola-spmv-ics17, 4.5: the cost of an explicit transpose, amortised",
    summary: "the transpose stored explicitly in the setup, multiplied by HOLA",
    parameters: &[ITEMS, BLOCK, SORT],
    operations: Operations::Transposed,
    setup: Setup::Conversion,
    memory: |extent| extent.transposed(extent.value),
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let transposed = DeviceCsr::of(&csr.gpu, Cow::Owned(csr.download()?.transposed()))?;
    let hola = Hola::new(&transposed, request)?;
    let nothing = csr.gpu.allocate::<u32>(0)?;
    let prepared = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        hola.run(&transposed, (beta, y), &[x, y, &alpha, &beta], &[&nothing])
    });
    Ok(prepared.transposing(request.transpose))
}
