//! cuSPARSE's CSR product: its default algorithm and both that can be named, each with and without
//! cusparseSpMV_preprocess, and all by the transpose too. The second is bitwise reproducible, by NVIDIA's
//! documentation, but by the transpose it is the first.

use super::cusparse::{self, Call};
use crate::device::DeviceCsr;
use crate::device::buffer::Value;
use crate::device::cusparse::Algorithm;
use crate::method::{Code, Method, Operations, PreparedOnGpu, Request, Setup, Unprepared};

/// The default algorithm.
pub const METHOD: Method = Method {
    name: "cusparse-csr",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_ALG_DEFAULT",
    summary: "NVIDIA's CSR product, the algorithm that the library prefers",
    parameters: &[],
    operations: Operations::Both,
    setup: Setup::Inspection,
    memory: cusparse::memory,
    code: code::<{ Algorithm::Default as u32 }, false>(),
};

/// The default algorithm, preprocessed.
pub const METHOD_PRE: Method = Method {
    name: "cusparse-csr-pre",
    summary: "the same after cusparseSpMV_preprocess, counted as setup",
    code: code::<{ Algorithm::Default as u32 }, true>(),
    ..METHOD
};

/// The first algorithm.
pub const METHOD_ALG1: Method = Method {
    name: "cusparse-csr-alg1",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_CSR_ALG1",
    summary: "NVIDIA's CSR product, algorithm 1",
    code: code::<{ Algorithm::CsrAlg1 as u32 }, false>(),
    ..METHOD
};

/// The first algorithm, preprocessed.
pub const METHOD_ALG1_PRE: Method = Method {
    name: "cusparse-csr-alg1-pre",
    summary: METHOD_PRE.summary,
    code: code::<{ Algorithm::CsrAlg1 as u32 }, true>(),
    ..METHOD_ALG1
};

/// The second algorithm.
pub const METHOD_ALG2: Method = Method {
    name: "cusparse-csr-alg2",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_CSR_ALG2",
    summary: "NVIDIA's CSR product, algorithm 2: reproducible, by NVIDIA's documentation",
    code: code::<{ Algorithm::CsrAlg2 as u32 }, false>(),
    ..METHOD
};

/// The second algorithm, preprocessed.
pub const METHOD_ALG2_PRE: Method = Method {
    name: "cusparse-csr-alg2-pre",
    summary: METHOD_PRE.summary,
    code: code::<{ Algorithm::CsrAlg2 as u32 }, true>(),
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
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let algorithm = [Algorithm::CsrAlg1, Algorithm::CsrAlg2]
        .into_iter()
        .find(|algorithm| *algorithm as u32 == ALGORITHM)
        .unwrap_or(Algorithm::Default);
    let call = Call { algorithm, preprocess: PREPROCESS };
    cusparse::prepare(csr, request, call, cusparse::csr_format(csr), ())
}
