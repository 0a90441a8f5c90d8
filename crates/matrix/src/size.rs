//! The size of a matrix that has not been read or generated yet.

/// The size of a matrix, as far as it is known before the matrix is read or generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeHint {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
    /// An upper bound on the number of entries.
    pub nnz: u64,
    /// An upper bound on the temporary memory for reading or generating the matrix, in bytes, without the CSR
    /// arrays and the file.
    pub scratch: u64,
}

impl SizeHint {
    /// Returns an upper bound on the memory for reading or generating the matrix, in bytes, including the CSR
    /// arrays.
    pub fn bytes(&self) -> u64 {
        let csr = (size_of::<u32>() + size_of::<f64>()) as u64 * self.nnz;
        csr + size_of::<u32>() as u64 * (self.rows as u64 + 1) + self.scratch
    }
}
