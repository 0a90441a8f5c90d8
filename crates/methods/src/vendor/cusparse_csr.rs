//! cuSPARSE's CSR product with its default algorithm and both named ones, each with and without
//! cusparseSpMV_preprocess, also with the transpose. According to NVIDIA's documentation the second algorithm is
//! bitwise reproducible, but the product with the transpose always uses the first.

use super::cusparse::{self, Call};
use crate::device::cusparse::Algorithm;
use crate::gpu::prelude::*;

pub const METHOD: Method = Method {
    name: "cusparse-csr",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_ALG_DEFAULT",
    summary: "NVIDIA's CSR product, the library's default algorithm",
    parameters: &[],
    operations: Operations::Both,
    setup: Setup::Inspection,
    memory: cusparse::memory,
    code: code::<{ Algorithm::CUSPARSE_SPMV_ALG_DEFAULT as u32 }, false>(),
};

pub const METHOD_PRE: Method = Method {
    name: "cusparse-csr-pre",
    summary: "the method without -pre after cusparseSpMV_preprocess, which counts as setup",
    code: code::<{ Algorithm::CUSPARSE_SPMV_ALG_DEFAULT as u32 }, true>(),
    ..METHOD
};

pub const METHOD_ALG1: Method = Method {
    name: "cusparse-csr-alg1",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_CSR_ALG1",
    summary: "NVIDIA's CSR product, algorithm 1",
    code: code::<{ Algorithm::CUSPARSE_SPMV_CSR_ALG1 as u32 }, false>(),
    ..METHOD
};

pub const METHOD_ALG1_PRE: Method = Method {
    name: "cusparse-csr-alg1-pre",
    summary: METHOD_PRE.summary,
    code: code::<{ Algorithm::CUSPARSE_SPMV_CSR_ALG1 as u32 }, true>(),
    ..METHOD_ALG1
};

pub const METHOD_ALG2: Method = Method {
    name: "cusparse-csr-alg2",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_CSR_ALG2",
    summary: "NVIDIA's CSR product, algorithm 2: reproducible, by NVIDIA's documentation",
    code: code::<{ Algorithm::CUSPARSE_SPMV_CSR_ALG2 as u32 }, false>(),
    ..METHOD
};

pub const METHOD_ALG2_PRE: Method = Method {
    name: "cusparse-csr-alg2-pre",
    summary: METHOD_PRE.summary,
    code: code::<{ Algorithm::CUSPARSE_SPMV_CSR_ALG2 as u32 }, true>(),
    ..METHOD_ALG2
};

const fn code<const ALGORITHM: u32, const PREPROCESS: bool>() -> Code {
    Code::Gpu {
        f64: prepare::<f64, ALGORITHM, PREPROCESS>,
        f32: prepare::<f32, ALGORITHM, PREPROCESS>,
    }
}

fn prepare<'a, T: Value, const ALGORITHM: u32, const PREPROCESS: bool>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Preparation<'a, T> {
    let algorithm = [Algorithm::CUSPARSE_SPMV_CSR_ALG1, Algorithm::CUSPARSE_SPMV_CSR_ALG2]
        .into_iter()
        .find(|algorithm| *algorithm as u32 == ALGORITHM)
        .unwrap_or(Algorithm::CUSPARSE_SPMV_ALG_DEFAULT);
    let call = Call { algorithm, preprocess: PREPROCESS };
    cusparse::prepare(csr, request, call, cusparse::csr_format(csr), ())
}
