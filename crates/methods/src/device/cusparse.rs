//! The functions of cuSPARSE's generic API that the methods call. The library implements them; in tests a recording
//! fake does.

pub use cudarc::cusparse::sys::{cusparseOrder_t as Order, cusparseSpMVAlg_t as Algorithm};

use super::driver::Address;
use crate::device::{Failed, Unavailable, Unprepared};
use spmv_matrix::scalar::Precision;

/// A descriptor of a sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SparseMatrix(pub usize);

/// A descriptor of a dense vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DenseVector(pub usize);

/// A sparse matrix with zero-based 32-bit indices, as its descriptor requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseLayout {
    pub rows: u64,
    pub cols: u64,
    pub nnz: u64,
    pub precision: Precision,
    pub format: SparseFormat,
}

/// The arrays of a sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SparseFormat {
    /// The arguments of cusparseCreateCsr.
    Csr { row_offsets: Address, column_indices: Address, values: Address },
    /// The arguments of cusparseCreateCoo; the entries are sorted by row.
    Coo { row_indices: Address, column_indices: Address, values: Address },
    /// The arguments of cusparseCreateSlicedEll; a slice is column-major, and padding has the column index -1.
    SlicedEll {
        slice_rows: u64,
        stored: u64,
        slice_offsets: Address,
        column_indices: Address,
        values: Address,
    },
    /// The arguments of cusparseCreateBsr; rows and columns are multiples of the side of a block. The values of a block
    /// are stored in `order`, and column indices count blocks.
    Bsr {
        side: u64,
        blocks: u64,
        row_offsets: Address,
        column_indices: Address,
        values: Address,
        order: Order,
    },
}

/// The values of cusparseSpMVOpAlg_t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OpAlgorithm {
    Default = 0,
    Alg1 = 1,
    Alg2 = 2,
}

/// A product y ← αAx + βy by an algorithm of cusparseSpMV or of cusparseSpMVOp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseProduct<G = Algorithm> {
    pub matrix: SparseMatrix,
    pub transpose: bool,
    pub x: DenseVector,
    pub y: DenseVector,
    /// α and β are exact in the precision.
    pub alpha: f64,
    pub beta: f64,
    pub precision: Precision,
    pub algorithm: G,
}

/// A descriptor of a product by cusparseSpMVOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpDescriptor(pub usize);

/// A plan of cusparseSpMVOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpPlan(pub usize);

/// cuSPARSE in a device's stream. Errors name the function and the status. Functions that the installed library does
/// not have or does not support return `Unavailable`.
pub trait CuSparse {
    /// Returns the version, for example `cuSPARSE 12.6.3`.
    fn version(&self) -> String;
    /// Calls cusparseCreateCsr, -Coo, -SlicedEll or -Bsr.
    fn create_matrix(&self, layout: &SparseLayout) -> Result<SparseMatrix, Unprepared>;
    /// Calls cusparseDestroySpMat.
    fn destroy_matrix(&self, matrix: SparseMatrix);
    /// Calls cusparseCreateDnVec.
    fn create_vector(
        &self,
        len: u64,
        values: Address,
        precision: Precision,
    ) -> Result<DenseVector, Failed>;
    /// Calls cusparseDnVecSetValues.
    fn set_vector(&self, vector: DenseVector, values: Address) -> Result<(), Failed>;
    /// Calls cusparseDestroyDnVec.
    fn destroy_vector(&self, vector: DenseVector);
    /// Calls cusparseSpMV_bufferSize and returns the size in bytes.
    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Unprepared>;
    /// Calls cusparseSpMV_preprocess, which writes its analysis to the buffer; the products must use the same buffer.
    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Unprepared>;
    /// Enqueues cusparseSpMV.
    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed>;
    /// Returns the functions of cusparseSpMVOp if the library has them.
    fn op(&self) -> Result<&dyn SpMvOp, Unavailable>;
}

/// The functions of cusparseSpMVOp without an epilogue, so z is y. They support CSR without transposition.
pub trait SpMvOp {
    /// Calls cusparseSpMVOp_bufferSize and returns the size in bytes.
    fn buffer_size(&self, product: &SparseProduct<OpAlgorithm>) -> Result<usize, Unprepared>;
    /// Calls cusparseSpMVOp_createDescr, which analyses into the buffer; it must live as long as the descriptor.
    fn create_descriptor(
        &self,
        product: &SparseProduct<OpAlgorithm>,
        buffer: Address,
    ) -> Result<OpDescriptor, Unprepared>;
    /// Calls cusparseSpMVOp_destroyDescr.
    fn destroy_descriptor(&self, descriptor: OpDescriptor);
    /// Calls cusparseSpMVOp_createPlan. The descriptor must live as long as the plan.
    fn create_plan(&self, descriptor: OpDescriptor) -> Result<OpPlan, Unprepared>;
    /// Calls cusparseSpMVOp_destroyPlan.
    fn destroy_plan(&self, plan: OpPlan);
    /// Enqueues cusparseSpMVOp. α, β, x and y are those of `product`; everything else is in the plan.
    fn multiply(&self, plan: OpPlan, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed>;
}
