//! The functions of cuSPARSE's generic API that the methods call. The library implements them; in tests a fake does.

pub use cudarc::cusparse::sys::{cusparseOrder_t as Order, cusparseSpMVAlg_t as Algorithm};

use super::errors::{Failed, Unavailable, Unprepared};
use super::launch::Address;
use spmv_matrix::scalar::Precision;

/// A descriptor of a sparse matrix or of a dense vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor(pub usize);

/// A sparse matrix with zero-based 32-bit indices, as its descriptor requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseLayout {
    pub rows: u64,
    pub cols: u64,
    pub nnz: u64,
    pub precision: Precision,
    pub format: SparseFormat,
    /// The offsets of rows, slices or rows of blocks (for COO the row of each entry), the column indices, and the
    /// values.
    pub arrays: [Address; 3],
}

/// A format with what its descriptor requires besides the arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SparseFormat {
    Csr,
    /// The entries are sorted by row.
    Coo,
    /// A slice is column-major, and padding has the column index -1.
    SlicedEll {
        slice_rows: u64,
        stored: u64,
    },
    /// Rows and columns are multiples of the side of a block. The values of a block are stored in `order`, and column
    /// indices count blocks.
    Bsr {
        side: u64,
        blocks: u64,
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
    pub matrix: Descriptor,
    pub transpose: bool,
    pub x: Descriptor,
    pub y: Descriptor,
    /// α and β are exact in the precision.
    pub alpha: f64,
    pub beta: f64,
    pub precision: Precision,
    pub algorithm: G,
}

/// A descriptor and a plan of a product by cusparseSpMVOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpPlan {
    pub descriptor: usize,
    pub plan: usize,
}

/// The functions of cusparseSpMV and its descriptors in a device's stream. Errors name the function and the status.
/// Functions that the installed library does not have or does not support return `Unavailable`.
pub trait CuSparse {
    /// Returns the version, for example `cuSPARSE 12.6.3`.
    fn version(&self) -> String;
    fn create_matrix(&self, layout: &SparseLayout) -> Result<Descriptor, Unprepared>;
    fn destroy_matrix(&self, matrix: Descriptor);
    fn create_vector(&self, len: u64, values: Address, precision: Precision) -> Result<Descriptor, Failed>;
    fn set_vector(&self, vector: Descriptor, values: Address) -> Result<(), Failed>;
    fn destroy_vector(&self, vector: Descriptor);
    /// Returns the size in bytes.
    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Unprepared>;
    /// Writes the analysis of the matrix to the buffer; the products must use the same buffer.
    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Unprepared>;
    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed>;
    fn op(&self) -> Result<&dyn SpMvOp, Unavailable>;
}

/// The functions of cusparseSpMVOp without an epilogue, so z is y. They support CSR without transposition.
pub trait SpMvOp {
    /// Returns the size in bytes.
    fn buffer_size(&self, product: &SparseProduct<OpAlgorithm>) -> Result<usize, Unprepared>;
    /// Analyses the matrix into the buffer, which must live as long as the plan.
    fn create_plan(&self, product: &SparseProduct<OpAlgorithm>, buffer: Address) -> Result<OpPlan, Unprepared>;
    fn destroy_plan(&self, plan: OpPlan);
    /// Enqueues a product. α, β, x and y are those of `product`; everything else is in the plan.
    fn multiply(&self, plan: OpPlan, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed>;
}
