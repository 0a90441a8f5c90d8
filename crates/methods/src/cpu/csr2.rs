//! CSR-2: csr-k, the variant that the paper chooses for CPUs. The rows are in Band-k order and grouped into
//! super-rows. Each thread owns an equal number of consecutive super-rows. See `csr_k.rs`.

use super::csr_k::{self, SRS};
use crate::formats::csr_k::{COARSENING, ORDER};
use crate::method::{Code, Method, Operations, Prepared, Request, Setup, Unavailable};
use crate::simd::Lanes;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

/// The method `csr2`.
pub const METHOD: Method = Method {
    name: "csr2",
    source: "csr-k, sections 2.2 and 4.2, Listings 1 and 2; Kabir et al. 2014",
    summary: "super-rows in Band-k order, an equal number per thread; SIMD, four rows at a time",
    parameters: &[SRS, ORDER, COARSENING],
    operations: Operations::Plain,
    setup: Setup::Ordering,
    memory: csr_k::memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    Ok(csr_k::prepare(csr, request, 2))
}
