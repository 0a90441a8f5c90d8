//! The functions of cuSPARSE's generic interface that the methods call, one to one. What computes
//! behind them is the library, or in the tests a recording fake.

use super::driver::Address;
use crate::method::{Failed, Unavailable, Unprepared};
use crate::scalar::Precision;

/// A descriptor of a sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SparseMatrix(pub usize);

/// A descriptor of a dense vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DenseVector(pub usize);

/// A sparse matrix with 32-bit indices from 0, as its descriptor takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseLayout {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Entries.
    pub nnz: u64,
    /// Type of the values.
    pub precision: Precision,
    /// The arrays.
    pub format: SparseFormat,
}

/// The arrays of a sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the names are the library's
pub enum SparseFormat {
    /// cusparseCreateCsr.
    Csr { row_offsets: Address, column_indices: Address, values: Address },
    /// cusparseCreateCoo; sorted by row.
    Coo { row_indices: Address, column_indices: Address, values: Address },
    /// cusparseCreateSlicedEll; column-major in a slice, padding has column index -1.
    SlicedEll {
        slice_rows: u64,
        stored: u64,
        slice_offsets: Address,
        column_indices: Address,
        values: Address,
    },
    /// cusparseCreateBsr; rows and columns are multiples of the side of a block. The values of a block are
    /// stored in the given order, and its column index counts blocks.
    Bsr {
        side: u64,
        blocks: u64,
        row_offsets: Address,
        column_indices: Address,
        values: Address,
        order: Order,
    },
}

/// cusparseOrder_t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the library's
#[repr(u32)]
pub enum Order {
    Column = 1,
    Row = 2,
}

/// cusparseSpMVAlg_t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the library's
#[repr(u32)]
pub enum Algorithm {
    Default = 0,
    CooAlg1 = 1,
    CsrAlg1 = 2,
    CsrAlg2 = 3,
    CooAlg2 = 4,
    SellAlg1 = 5,
    BsrAlg1 = 6,
}

/// cusparseSpMVOpAlg_t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the library's
#[repr(u32)]
pub enum OpAlgorithm {
    Default = 0,
    Alg1 = 1,
    Alg2 = 2,
}

/// A product y ← αAx + βy by an algorithm of cusparseSpMV or of cusparseSpMVOp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseProduct<G = Algorithm> {
    /// A.
    pub matrix: SparseMatrix,
    /// Whether Aᵀ takes its place.
    pub transpose: bool,
    /// x.
    pub x: DenseVector,
    /// y.
    pub y: DenseVector,
    /// α; exact in the precision.
    pub alpha: f64,
    /// β; exact in the precision.
    pub beta: f64,
    /// Of the values, α and β.
    pub precision: Precision,
    /// How.
    pub algorithm: G,
}

/// A descriptor of a product by cusparseSpMVOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpDescriptor(pub usize);

/// A plan of cusparseSpMVOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpPlan(pub usize);

/// cuSPARSE in a device's stream. Errors name the function and the status; what the library at hand does not
/// have or does not support is unavailable.
pub trait CuSparse {
    /// For example `cuSPARSE 12.6.3`.
    fn version(&self) -> String;
    /// cusparseCreateCsr, -Coo, -SlicedEll or -Bsr.
    fn create_matrix(&self, layout: &SparseLayout) -> Result<SparseMatrix, Unprepared>;
    /// cusparseDestroySpMat.
    fn destroy_matrix(&self, matrix: SparseMatrix);
    /// cusparseCreateDnVec.
    fn create_vector(
        &self,
        len: u64,
        values: Address,
        precision: Precision,
    ) -> Result<DenseVector, Failed>;
    /// cusparseDnVecSetValues.
    fn set_vector(&self, vector: DenseVector, values: Address) -> Result<(), Failed>;
    /// cusparseDestroyDnVec.
    fn destroy_vector(&self, vector: DenseVector);
    /// cusparseSpMV_bufferSize, in bytes.
    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Unprepared>;
    /// cusparseSpMV_preprocess: analyses into the buffer, which the products must then be given.
    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Unprepared>;
    /// cusparseSpMV, enqueued.
    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed>;
    /// cusparseSpMVOp, where the library has it.
    fn op(&self) -> Result<&dyn SpMvOp, Unavailable>;
}

/// cusparseSpMVOp and what prepares it, without an epilogue: z is y. It takes CSR, not transposed.
pub trait SpMvOp {
    /// cusparseSpMVOp_bufferSize, in bytes.
    fn buffer_size(&self, product: &SparseProduct<OpAlgorithm>) -> Result<usize, Unprepared>;
    /// cusparseSpMVOp_createDescr: analyses into the buffer, which must live as long as the descriptor.
    fn create_descriptor(
        &self,
        product: &SparseProduct<OpAlgorithm>,
        buffer: Address,
    ) -> Result<OpDescriptor, Unprepared>;
    /// cusparseSpMVOp_destroyDescr.
    fn destroy_descriptor(&self, descriptor: OpDescriptor);
    /// cusparseSpMVOp_createPlan. The descriptor must live as long as the plan.
    fn create_plan(&self, descriptor: OpDescriptor) -> Result<OpPlan, Unprepared>;
    /// cusparseSpMVOp_destroyPlan.
    fn destroy_plan(&self, plan: OpPlan);
    /// cusparseSpMVOp, enqueued: α, β, x and y are the product's, all else is in the plan.
    fn multiply(&self, plan: OpPlan, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed>;
}
