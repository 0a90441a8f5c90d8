//! Code that the cuSPARSE methods share: descriptors, workspace and the call.
//!
//! Setup is everything that the library requires before a product: descriptors, the size of the workspace, its
//! allocation and, for some methods, the preprocessing. Memory that the library allocates internally is not counted.
//! Methods that the installed library does not support are skipped, with a message that names the version that does.

use crate::device::cusparse::{Algorithm, CuSparse, SparseFormat, SparseLayout, SparseProduct};
use crate::gpu::prelude::*;

#[derive(Clone, Copy)]
pub struct Call {
    pub algorithm: Algorithm,
    pub preprocess: bool,
}

/// Prepares a product by cusparseSpMV with a matrix in `format`, whose arrays are owned by `arrays` or by `csr`.
pub fn prepare<'a, T: Value, A: 'a>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    Call { algorithm, preprocess }: Call,
    format: SparseFormat,
    arrays: A,
) -> Preparation<'a, T> {
    prepare_by(csr, request, algorithm, format, arrays, |product| {
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
pub fn prepare_by<'a, T: Value, A: 'a, G: Copy + 'a, C>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    algorithm: G,
    format: SparseFormat,
    arrays: A,
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
    let layout = SparseLayout { rows, cols, nnz, precision: T::PRECISION, format };
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
    let mut operation = Operation { call, descriptors, _arrays: arrays };
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

/// Bounds the bytes of the placeholders x and y and of the workspace, whose size the library returns only during the
/// setup.
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

pub fn csr_format<T: Value>(csr: &DeviceCsr<T>) -> SparseFormat {
    SparseFormat::Csr {
        row_offsets: csr.row_offsets.address(),
        column_indices: csr.column_indices.address(),
        values: csr.values.address(),
    }
}

/// A product that owns everything it needs. The order of the fields matters: first the call is dropped, then the
/// descriptors that it uses, then the arrays that the descriptors refer to.
struct Operation<A, G, C> {
    call: C,
    descriptors: Descriptors<G>,
    _arrays: A,
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
