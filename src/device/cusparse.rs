//! The functions of cuSPARSE's generic interface that the methods call, one to one. What computes
//! behind them is the library, or in the tests a recording fake.

use super::driver::Address;
use crate::method::Failed;
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
    SellAlg1 = 5,
}

/// A product y ← αAx + βy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseProduct {
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
    pub algorithm: Algorithm,
}

/// cuSPARSE in a device's stream. Errors name the function and the status.
pub trait CuSparse {
    /// For example `cuSPARSE 12.6.3`.
    fn version(&self) -> String;
    /// cusparseCreateCsr, -Coo or -SlicedEll.
    fn create_matrix(&self, layout: &SparseLayout) -> Result<SparseMatrix, Failed>;
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
    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Failed>;
    /// cusparseSpMV_preprocess: analyses into the buffer, which the products must then be given.
    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed>;
    /// cusparseSpMV, enqueued.
    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed>;
}
