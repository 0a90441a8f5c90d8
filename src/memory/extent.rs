//! The few numbers of a matrix that tell what it takes. What is made of them are upper bounds.

use crate::matrix::Csr;
use crate::matrix::csr::MAX_INDEX;
use crate::scalar::Precision;

/// Bytes of an index.
const INDEX: u64 = 4;
/// The numbers of a matrix that decide what it takes, and who works on it. None exceeds 2³², so that a
/// product of two and sums of a few do not overflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent<'a> {
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub cols: u64,
    /// Entries, or no fewer than there are.
    pub nnz: u64,
    /// Entries of the longest row, or no fewer.
    pub longest: u64,
    /// Bytes of a value.
    pub value: u64,
    /// Threads of the team.
    pub threads: u64,
    /// Whether the product is by the transpose.
    pub transpose: bool,
    /// See [`Request::given`](crate::method::Request::given).
    pub given: &'a [(&'static str, &'static str)],
}

impl<'a> Extent<'a> {
    /// Of a matrix that is there.
    pub fn of<T>(csr: &Csr<T>, threads: usize, transpose: bool) -> Self {
        Self {
            rows: csr.rows as u64,
            cols: csr.cols as u64,
            nnz: csr.nnz() as u64,
            longest: csr.row_lengths().max().unwrap_or(0).into(),
            value: size_of::<T>() as u64,
            threads: threads as u64,
            transpose,
            given: &[],
        }
    }

    /// Of a matrix of which only the size is known, with no more than `nnz` entries, in f64.
    pub fn announced(rows: usize, cols: usize, nnz: u64, threads: usize) -> Self {
        Self {
            rows: rows.min(MAX_INDEX) as u64,
            cols: cols.min(MAX_INDEX) as u64,
            nnz: nnz.min(MAX_INDEX as u64),
            longest: cols.min(MAX_INDEX) as u64,
            value: Precision::F64.bytes(),
            threads: threads as u64,
            transpose: false,
            given: &[],
        }
    }

    /// The same in another precision.
    pub fn in_precision(self, precision: Precision) -> Self {
        Self { value: precision.bytes(), ..self }
    }

    /// The value of a parameter, if it was given.
    pub fn word(&self, parameter: &str) -> Option<&'static str> {
        self.given.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value)
    }

    /// The same for a parameter whose values are numbers.
    pub fn number(&self, parameter: &str) -> Option<u64> {
        self.word(parameter).map(|word| word.parse().expect("its values are numbers"))
    }

    /// The CSR arrays.
    pub fn csr(&self) -> u64 {
        self.nnz * (self.value + INDEX) + (self.rows + 1) * INDEX
    }

    /// An index per entry.
    pub fn indices(&self) -> u64 {
        self.nnz * INDEX
    }

    /// The transpose, while it is made, with entries of `value` bytes.
    pub fn transposed(&self, value: u64) -> u64 {
        let parts = self.threads.min(self.nnz / self.cols.max(1)).max(1);
        self.nnz * (value + INDEX) + (self.cols + 1) * INDEX * (parts + 1)
    }

    /// x and y.
    pub fn vectors(&self) -> u64 {
        (self.rows + self.cols) * self.value
    }

    /// Elements of x.
    pub fn inputs(&self) -> u64 {
        if self.transpose { self.rows } else { self.cols }
    }

    /// Elements of y.
    pub fn outputs(&self) -> u64 {
        if self.transpose { self.cols } else { self.rows }
    }

    /// The graph of A + Aᵀ and what an ordering makes of it, besides the permuted matrix: with groups of
    /// 96 rows or more, or without any.
    pub fn ordering(&self) -> u64 {
        self.transposed(0) + 24 * self.nnz + 40 * self.rows
    }

    /// The same with groups that leave the coarser graph nearly as many edges, in lists that grow.
    pub fn ordering_in_small_groups(&self) -> u64 {
        self.transposed(0) + 68 * self.nnz + 60 * self.rows
    }
}
