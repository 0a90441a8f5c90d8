//! cuSPARSE's COO product with both of its algorithms. Setup expands the row offsets to a row index per nonzero; the
//! other arrays are those of CSR. According to NVIDIA's documentation the second algorithm is bitwise reproducible, but
//! the product with the transpose always uses the first.

use super::cusparse::{self, Call};
use crate::device::cusparse::{Algorithm, SparseFormat};
use crate::formats::coordinates::row_indices;
use crate::gpu::prelude::*;

pub const METHOD: Method = Method {
    name: "cusparse-coo",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_COO_ALG1",
    summary: "NVIDIA's COO product; the expansion of the row offsets counts as setup",
    parameters: &[],
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory: |extent| cusparse::memory(extent) + extent.indices(),
    code: Code::Gpu { f64: prepare::<_, false>, f32: prepare::<_, false> },
};

pub const METHOD_ALG2: Method = Method {
    name: "cusparse-coo-alg2",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_COO_ALG2",
    summary: "NVIDIA's COO product, algorithm 2: reproducible, by NVIDIA's documentation",
    code: Code::Gpu { f64: prepare::<_, true>, f32: prepare::<_, true> },
    ..METHOD
};

fn prepare<'a, T: Value, const SECOND: bool>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Preparation<'a, T> {
    cusparse::library(csr)?;
    let row_indices = csr.gpu.upload(&row_indices(&csr.row_offsets.to_vec()?))?;
    let format = SparseFormat::Coo {
        row_indices: row_indices.address(),
        column_indices: csr.column_indices.address(),
        values: csr.values.address(),
    };
    let algorithm =
        if SECOND { Algorithm::CUSPARSE_SPMV_COO_ALG2 } else { Algorithm::CUSPARSE_SPMV_COO_ALG1 };
    let call = Call { algorithm, preprocess: false };
    let prepared = cusparse::prepare(csr, request, call, format, row_indices)?;
    Ok(prepared.with_csr_bytes(csr.host.entry_bytes()))
}
