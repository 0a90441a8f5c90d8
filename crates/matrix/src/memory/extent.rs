//! The dimensions of a matrix that determine its memory. All sizes computed from them are upper bounds.

use crate::Csr;
use crate::csr::MAX_INDEX;
use crate::scalar::Precision;

const INDEX: u64 = 4;

/// The dimensions of a matrix and the settings that determine how much memory it needs. No number exceeds 2³², so
/// that a product of two and sums of a few products do not overflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent<'a> {
    pub rows: u64,
    pub cols: u64,
    /// The number of entries, or an upper bound of it.
    pub nnz: u64,
    /// The number of entries of the longest row, or an upper bound of it.
    pub longest: u64,
    /// The size of a value in bytes.
    pub value: u64,
    pub threads: u64,
    /// Whether products are with the transpose.
    pub transpose: bool,
    /// The parameters of a method that the user gave, as pairs of name and value.
    pub given: &'a [(&'static str, &'static str)],
    /// The groups of the Band-k order that the matrix was brought into: where each group starts in the level below (the
    /// finest level in the rows), and the end. No level for another order.
    pub groups: &'a [Vec<u32>],
}

impl<'a> Extent<'a> {
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
            groups: &[],
        }
    }

    /// Returns the extent of a matrix in f64 that has not been read yet, with at most `nnz` entries.
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
            groups: &[],
        }
    }

    pub fn in_precision(self, precision: Precision) -> Self {
        Self { value: precision.bytes(), ..self }
    }

    pub fn word(&self, parameter: &str) -> Option<&'static str> {
        self.given.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value)
    }

    pub fn number(&self, parameter: &str) -> Option<u64> {
        self.word(parameter).map(|word| word.parse().expect("its values are numbers"))
    }

    pub fn csr(&self) -> u64 {
        self.nnz * (self.value + INDEX) + (self.rows + 1) * INDEX
    }

    pub fn indices(&self) -> u64 {
        self.nnz * INDEX
    }

    /// Returns the bytes needed while the transpose is built, with values of `value` bytes.
    pub fn transposed(&self, value: u64) -> u64 {
        let parts = self.threads.min(self.nnz / self.cols.max(1)).max(1);
        self.nnz * (value + INDEX) + (self.cols + 1) * INDEX * (parts + 1)
    }

    pub fn vectors(&self) -> u64 {
        (self.rows + self.cols) * self.value
    }

    pub fn inputs(&self) -> u64 {
        if self.transpose { self.rows } else { self.cols }
    }

    pub fn outputs(&self) -> u64 {
        if self.transpose { self.cols } else { self.rows }
    }

    /// Returns the bytes of the graph of A + Aᵀ and of the ordering computed from it, without the permuted matrix. For
    /// orderings without groups or with groups of at least 96 rows.
    pub fn ordering(&self) -> u64 {
        self.transposed(0) + 24 * self.nnz + 40 * self.rows
    }

    /// Returns the bytes of the graph of A + Aᵀ and of the ordering for smaller groups. The coarser graph then has
    /// nearly as many edges, in lists that grow.
    pub fn ordering_in_small_groups(&self) -> u64 {
        self.transposed(0) + 68 * self.nnz + 60 * self.rows
    }
}
