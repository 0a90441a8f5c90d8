//! What the cuSPARSE methods share: descriptors, workspace and the call.
//!
//! Setup is all that the library asks for before a product: descriptors, the size of the workspace,
//! its allocation and, where the method has it, the preprocessing. Memory that the library allocates
//! for itself is not counted.

use crate::device::buffer::Value;
use crate::device::cusparse::{Algorithm, CuSparse, SparseFormat, SparseLayout, SparseProduct};
use crate::device::{Buffer, DeviceCsr, Gpu};
use crate::memory::extent::Extent;
use crate::method::{Failed, Prepared, PreparedOnGpu, Request, Unavailable, Unprepared};

/// How a method calls the library.
#[derive(Clone, Copy)]
pub struct Call {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Whether cusparseSpMV_preprocess runs before.
    pub preprocess: bool,
}

/// A product that owns its descriptors, its workspace and the arrays `A` that its matrix consists of.
struct Operation<A> {
    gpu: Gpu,
    product: SparseProduct,
    workspace: Buffer<u8>,
    _arrays: A,
}

/// The method's product on a matrix in `format`, whose arrays are in `arrays` or in `csr`.
pub fn prepare<'a, T: Value, A: 'a>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
    call: Call,
    format: SparseFormat,
    arrays: A,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let version = csr.gpu.cusparse()?.version();
    let mut operation = Operation::create(csr, request, call, format, arrays)?;
    let product = move |alpha: T, x: &Buffer<T>, beta: T, y: &mut Buffer<T>| {
        operation.multiply(alpha, x, beta, y)
    };
    let prepared = Prepared::on_gpu(csr, product).by_library(&version, None);
    Ok(prepared.transposing(request.transpose))
}

/// x and y that stand in while a product is made, and its workspace, for which the library is asked only
/// then.
pub fn memory(extent: &Extent) -> u64 {
    extent.vectors() + extent.csr() / 4
}

/// The library, for a matrix that it takes.
pub fn library<'g, T: Value>(csr: &'g DeviceCsr<T>) -> Result<&'g dyn CuSparse, Unavailable> {
    if csr.host.nnz() == 0 {
        return Err(Unavailable("cuSPARSE is not given matrices without nonzeros".into()));
    }
    csr.gpu.cusparse()
}

impl<A> Operation<A> {
    fn create<T: Value>(
        csr: &DeviceCsr<T>,
        request: &Request,
        call: Call,
        format: SparseFormat,
        arrays: A,
    ) -> Result<Self, Unprepared> {
        let (gpu, sparse, precision) = (&csr.gpu, library(csr)?, T::PRECISION);
        let (rows, cols) = (csr.host.rows(), csr.host.cols());
        let transpose = request.transpose;
        let (inputs, outputs) = if transpose { (rows, cols) } else { (cols, rows) };
        // Stand-ins: the vectors of the products are known only when they are called.
        let (x, y) = (gpu.allocate::<T>(inputs)?, gpu.allocate::<T>(outputs)?);
        let (rows, cols, nnz) = (rows as u64, cols as u64, csr.host.nnz() as u64);
        let layout = SparseLayout { rows, cols, nnz, precision, format };
        let product = SparseProduct {
            matrix: sparse.create_matrix(&layout)?,
            transpose,
            x: sparse.create_vector(inputs as u64, x.address(), precision)?,
            y: sparse.create_vector(outputs as u64, y.address(), precision)?,
            alpha: T::narrow(request.alpha).widen(),
            beta: T::narrow(request.beta).widen(),
            precision,
            algorithm: call.algorithm,
        };
        let workspace = gpu.allocate(0)?;
        let mut operation = Self { gpu: gpu.clone(), product, workspace, _arrays: arrays };
        operation.workspace = gpu.allocate(sparse.buffer_size(&product)?)?;
        if call.preprocess {
            sparse.preprocess(&product, operation.workspace.address())?;
        }
        Ok(operation)
    }

    fn multiply<T: Value>(
        &mut self,
        alpha: T,
        x: &Buffer<T>,
        beta: T,
        y: &Buffer<T>,
    ) -> Result<(), Failed> {
        let sparse = self.gpu.cusparse().map_err(|Unavailable(reason)| Failed(reason))?;
        sparse.set_vector(self.product.x, x.address())?;
        sparse.set_vector(self.product.y, y.address())?;
        let product = SparseProduct { alpha: alpha.widen(), beta: beta.widen(), ..self.product };
        let workspace = self.workspace.address();
        self.gpu.library_call("cusparseSpMV", || sparse.multiply(&product, workspace))
    }
}

impl<A> Drop for Operation<A> {
    fn drop(&mut self) {
        let Ok(sparse) = self.gpu.cusparse() else { return };
        sparse.destroy_vector(self.product.x);
        sparse.destroy_vector(self.product.y);
        sparse.destroy_matrix(self.product.matrix);
    }
}
