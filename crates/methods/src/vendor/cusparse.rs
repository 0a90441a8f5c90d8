//! cuSPARSE's products with CSR and COO, and what they share with those of `cusparse_bsr` and `cusparse_sell`:
//! descriptors, workspace and the call.
//!
//! Setup is everything that the library requires before a product: descriptors, the size of the workspace, its
//! allocation and, for some methods, the preprocessing. Memory that the library allocates internally is not counted.
//! Methods that the installed library does not support are skipped, with a message that names the version that does.
//!
//! The CSR product has the default algorithm and both named ones, each with and without cusparseSpMV_preprocess. For
//! the COO product, setup expands the row offsets to a row index per nonzero; the other arrays are those of CSR.
//! According to NVIDIA's documentation the second algorithm of both formats is bitwise reproducible, but the product
//! with the transpose always uses the first.
//!
//! For the planned product, cusparseSpMVOp, which NVIDIA calls experimental, setup creates the descriptor, which
//! analyses the matrix, and the plan. It is available since cuSPARSE 12.7.3, f32 and named algorithms since 12.8.1. It
//! does not support the transpose.

use crate::device::cusparse::{Algorithm, CuSparse, OpAlgorithm, OpPlan, SparseFormat, SparseLayout, SparseProduct};
use crate::device::launch::Address;
use crate::gpu::convert::Converter;
use crate::gpu::prelude::*;

pub const CSR: Method = Method {
    name: "cusparse-csr",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_ALG_DEFAULT",
    summary: "NVIDIA's CSR product, the library's default algorithm",
    operations: Operations::Both,
    setup: Setup::Inspection,
    memory,
    may_refuse: |extent| extent.nnz == 0,
    ..Method::new(code!(prepare_csr, Algorithm::CUSPARSE_SPMV_ALG_DEFAULT, false))
};

pub const CSR_PRE: Method = Method {
    name: "cusparse-csr-pre",
    summary: "the method without -pre after cusparseSpMV_preprocess, which counts as setup",
    code: code!(prepare_csr, Algorithm::CUSPARSE_SPMV_ALG_DEFAULT, true),
    ..CSR
};

pub const CSR_ALG1: Method = Method {
    name: "cusparse-csr-alg1",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_CSR_ALG1",
    summary: "NVIDIA's CSR product, algorithm 1",
    code: code!(prepare_csr, Algorithm::CUSPARSE_SPMV_CSR_ALG1, false),
    ..CSR
};

pub const CSR_ALG1_PRE: Method = Method {
    name: "cusparse-csr-alg1-pre",
    summary: CSR_PRE.summary,
    code: code!(prepare_csr, Algorithm::CUSPARSE_SPMV_CSR_ALG1, true),
    ..CSR_ALG1
};

pub const CSR_ALG2: Method = Method {
    name: "cusparse-csr-alg2",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_CSR_ALG2",
    summary: "NVIDIA's CSR product, algorithm 2: reproducible, by NVIDIA's documentation",
    code: code!(prepare_csr, Algorithm::CUSPARSE_SPMV_CSR_ALG2, false),
    ..CSR
};

pub const CSR_ALG2_PRE: Method = Method {
    name: "cusparse-csr-alg2-pre",
    summary: CSR_PRE.summary,
    code: code!(prepare_csr, Algorithm::CUSPARSE_SPMV_CSR_ALG2, true),
    ..CSR_ALG2
};

pub const COO: Method = Method {
    name: "cusparse-coo",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_COO_ALG1",
    summary: "NVIDIA's COO product; the expansion of the row offsets counts as setup",
    setup: Setup::Conversion,
    memory: |extent| memory(extent) + extent.indices(),
    code: code!(prepare_coo, Algorithm::CUSPARSE_SPMV_COO_ALG1),
    ..CSR
};

pub const COO_ALG2: Method = Method {
    name: "cusparse-coo-alg2",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_COO_ALG2",
    summary: "NVIDIA's COO product, algorithm 2: reproducible, by NVIDIA's documentation",
    code: code!(prepare_coo, Algorithm::CUSPARSE_SPMV_COO_ALG2),
    ..COO
};

pub const CSR_OP: Method = Method {
    name: "cusparse-csr-op",
    source: "NVIDIA cuSPARSE, cusparseSpMVOp, CUSPARSE_SPMVOP_ALG_DEFAULT",
    summary: "NVIDIA's planned CSR product; descriptor and plan count as setup",
    setup: Setup::Inspection,
    // NVIDIA does not document the size of the workspace. This bound allows for a copy of the matrix.
    memory: |extent| extent.vectors() + extent.csr(),
    may_refuse: |extent| extent.nnz == 0,
    ..Method::new(code!(prepare_csr_op, OpAlgorithm::Default))
};

pub const CSR_OP_ALG1: Method = Method {
    name: "cusparse-csr-op-alg1",
    source: "NVIDIA cuSPARSE, cusparseSpMVOp, CUSPARSE_SPMVOP_ALG1",
    summary: "NVIDIA's planned CSR product, algorithm 1",
    code: code!(prepare_csr_op, OpAlgorithm::Alg1),
    ..CSR_OP
};

pub const CSR_OP_ALG2: Method = Method {
    name: "cusparse-csr-op-alg2",
    source: "NVIDIA cuSPARSE, cusparseSpMVOp, CUSPARSE_SPMVOP_ALG2",
    summary: "NVIDIA's planned CSR product, algorithm 2",
    code: code!(prepare_csr_op, OpAlgorithm::Alg2),
    ..CSR_OP
};

fn prepare_csr<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    algorithm: Algorithm,
    preprocess: bool,
) -> Preparation<'a, T> {
    prepare(csr, request, (algorithm, preprocess), SparseFormat::Csr, csr_arrays(csr), ())
}

fn prepare_coo<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    algorithm: Algorithm,
) -> Preparation<'a, T> {
    library(csr)?;
    let rows = Converter::new(csr)?.rows_of(csr.host.nnz(), 0, 1)?;
    let [_, columns, values] = csr_arrays(csr);
    let arrays = [rows.address(), columns, values];
    let prepared = prepare(csr, request, (algorithm, false), SparseFormat::Coo, arrays, rows)?;
    Ok(prepared.with_csr_bytes(csr.host.entry_bytes()))
}

fn prepare_csr_op<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    algorithm: OpAlgorithm,
) -> Preparation<'a, T> {
    prepare_by(csr, request, algorithm, (SparseFormat::Csr, csr_arrays(csr)), (), |product| {
        let plan = Plan::create(&csr.gpu, product)?;
        Ok(move |product: &_| plan.multiply(product))
    })
}

fn csr_arrays<T: Value>(csr: &DeviceCsr<T>) -> [Address; 3] {
    [csr.row_offsets.address(), csr.column_indices.address(), csr.values.address()]
}

/// Prepares a product by cusparseSpMV with this algorithm, after cusparseSpMV_preprocess if `preprocess`. The arrays of
/// the format are owned by `owner` or by `csr`.
pub fn prepare<'a, T: Value, O: 'a>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    (algorithm, preprocess): (Algorithm, bool),
    format: SparseFormat,
    arrays: [Address; 3],
    owner: O,
) -> Preparation<'a, T> {
    prepare_by(csr, request, algorithm, (format, arrays), owner, |product| {
        let (gpu, sparse) = (csr.gpu.clone(), csr.gpu.cusparse()?);
        let workspace = gpu.allocate::<u8>(sparse.buffer_size(product)?)?;
        if preprocess {
            sparse.preprocess(product, workspace.address())?;
        }
        Ok(move |product: &SparseProduct| {
            let sparse = gpu.cusparse().map_err(|Unavailable(reason)| Failed(reason))?;
            gpu.library_call("cusparseSpMV", || sparse.multiply(product, workspace.address()))
        })
    })
}

/// Prepares a product by the library function that `ready` prepares for a product and returns.
fn prepare_by<'a, T: Value, O: 'a, G: Copy + 'a, C>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    algorithm: G,
    (format, arrays): (SparseFormat, [Address; 3]),
    owner: O,
    ready: impl FnOnce(&SparseProduct<G>) -> Result<C, Unprepared>,
) -> Preparation<'a, T>
where
    C: FnMut(&SparseProduct<G>) -> Result<(), Failed> + 'a,
{
    let (gpu, sparse) = (&csr.gpu, library(csr)?);
    let (rows, cols, transpose) = (csr.host.rows(), csr.host.cols(), request.transpose);
    let (inputs, outputs) = if transpose { (rows, cols) } else { (cols, rows) };
    // Placeholders: the vectors of a product are known only when it is called.
    let (x, y) = (gpu.allocate::<T>(inputs)?, gpu.allocate::<T>(outputs)?);
    let (rows, cols, nnz) = (rows as u64, cols as u64, csr.host.nnz() as u64);
    let layout = SparseLayout { rows, cols, nnz, precision: T::PRECISION, format, arrays };
    let vector = |v: &Buffer<T>| sparse.create_vector(v.len() as u64, v.address(), T::PRECISION);
    let product = SparseProduct {
        matrix: sparse.create_matrix(&layout)?,
        transpose,
        x: vector(&x)?,
        y: vector(&y)?,
        alpha: T::narrow(request.alpha).widen(),
        beta: T::narrow(request.beta).widen(),
        precision: T::PRECISION,
        algorithm,
    };
    let descriptors = Descriptors { gpu: gpu.clone(), product };
    let call = ready(&product)?;
    let mut operation = Operation { call, descriptors, _owner: owner };
    let multiply = move |alpha: T, x: &Buffer<T>, beta: T, y: &mut Buffer<T>| {
        let Operation { call, descriptors: Descriptors { gpu, product }, .. } = &mut operation;
        let sparse = gpu.cusparse().map_err(|Unavailable(reason)| Failed(reason))?;
        sparse.set_vector(product.x, x.address())?;
        sparse.set_vector(product.y, y.address())?;
        call(&SparseProduct { alpha: alpha.widen(), beta: beta.widen(), ..*product })
    };
    let prepared = Prepared::on_gpu(csr, multiply).with_library(&sparse.version(), None);
    Ok(prepared.transposing(transpose))
}

/// Bounds the bytes of the placeholders x and y and of the workspace, whose size is known only during the setup.
pub fn memory(extent: &Extent) -> u64 {
    extent.vectors() + extent.csr() / 4
}

/// Returns the library, or an error if the matrix has no nonzeros.
pub fn library<'g, T: Value>(csr: &'g DeviceCsr<T>) -> Result<&'g dyn CuSparse, Unavailable> {
    if csr.host.nnz() == 0 {
        return Err(Unavailable("cuSPARSE methods do not run on matrices without nonzeros".into()));
    }
    csr.gpu.cusparse()
}

/// A product that owns everything it needs. The order of the fields matters: first the call is dropped, then the
/// descriptors that it uses, then the arrays that the descriptors refer to.
struct Operation<O, G, C> {
    call: C,
    descriptors: Descriptors<G>,
    _owner: O,
}

struct Descriptors<G> {
    gpu: Gpu,
    product: SparseProduct<G>,
}

impl<G> Drop for Descriptors<G> {
    fn drop(&mut self) {
        let Ok(sparse) = self.gpu.cusparse() else { return };
        sparse.destroy_vector(self.product.x);
        sparse.destroy_vector(self.product.y);
        sparse.destroy_matrix(self.product.matrix);
    }
}

struct Plan {
    gpu: Gpu,
    plan: OpPlan,
    _workspace: Buffer<u8>,
}

impl Plan {
    fn create(gpu: &Gpu, product: &SparseProduct<OpAlgorithm>) -> Result<Self, Unprepared> {
        let op = gpu.cusparse()?.op()?;
        let workspace = gpu.allocate(op.buffer_size(product)?)?;
        let plan = op.create_plan(product, workspace.address())?;
        Ok(Self { gpu: gpu.clone(), plan, _workspace: workspace })
    }

    fn multiply(&self, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed> {
        let op = self.gpu.cusparse().and_then(|sparse| sparse.op());
        let op = op.map_err(|Unavailable(reason)| Failed(reason))?;
        self.gpu.library_call("cusparseSpMVOp", || op.multiply(self.plan, product))
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        let Ok(op) = self.gpu.cusparse().and_then(|sparse| sparse.op()) else { return };
        op.destroy_plan(self.plan);
    }
}
