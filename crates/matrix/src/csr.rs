//! Compressed sparse row (CSR) storage: the format from which every method starts.

use std::any::Any;
use std::borrow::Cow;

use rayon::prelude::*;

use crate::scalar::Scalar;

/// The largest number of rows, columns or nonzeros: indices are 32-bit, and MKL's are signed.
pub const MAX_INDEX: usize = i32::MAX as usize;

/// A sparse matrix of `rows` × `cols`. Within a row the column indices ascend strictly, so there
/// are no duplicates; explicit zeros are ordinary entries.
///
/// The products access `x` and `y` without bounds checks because they rely on these invariants. Therefore
/// only this crate can access the fields; other crates use [`Csr::new`], which checks the invariants.
///
/// ```
/// use spmv_matrix::Csr;
///
/// let csr = Csr::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]).unwrap();
/// assert_eq!(csr.row(0), 0..2);
/// let same = Csr::from_triplets(2, 3, &[(0, 0, 1.0), (1, 1, 3.0), (0, 2, 2.0)]);
/// assert_eq!(csr, same);
/// assert!(Csr::new(2, 3, vec![0, 2, 3], vec![2, 0, 1], vec![1.0; 3]).is_none()); // not ascending
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    /// The number of rows, at most [`MAX_INDEX`].
    pub(crate) rows: usize,
    /// The number of columns, at most [`MAX_INDEX`].
    pub(crate) cols: usize,
    /// The `rows + 1` row offsets: the entries of row `i` are `row_offsets[i]..row_offsets[i + 1]`.
    pub(crate) row_offsets: Vec<u32>,
    pub(crate) column_indices: Vec<u32>,
    pub(crate) values: Vec<T>,
}

impl<T> Csr<T> {
    /// Creates a matrix from its arrays. Returns `None` if they violate an invariant.
    pub fn new(
        rows: usize,
        cols: usize,
        row_offsets: Vec<u32>,
        column_indices: Vec<u32>,
        values: Vec<T>,
    ) -> Option<Self> {
        let csr = Self { rows, cols, row_offsets, column_indices, values };
        csr.is_valid().then_some(csr)
    }

    /// Creates a matrix from arrays that were made from a matrix, without the time of checking them.
    ///
    /// # Safety
    /// The arrays satisfy the invariants: [`Csr::is_valid`] would return true. Only debug builds check it.
    pub unsafe fn new_unchecked(
        rows: usize,
        cols: usize,
        row_offsets: Vec<u32>,
        column_indices: Vec<u32>,
        values: Vec<T>,
    ) -> Self {
        let csr = Self { rows, cols, row_offsets, column_indices, values };
        debug_assert!(csr.is_valid());
        csr
    }

    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns where each row begins in the other two arrays, and the number of nonzeros at the end.
    #[inline]
    pub fn row_offsets(&self) -> &[u32] {
        &self.row_offsets
    }

    #[inline]
    pub fn column_indices(&self) -> &[u32] {
        &self.column_indices
    }

    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    pub fn into_arrays(self) -> (Vec<u32>, Vec<u32>, Vec<T>) {
        (self.row_offsets, self.column_indices, self.values)
    }

    #[inline]
    pub fn nnz(&self) -> usize {
        self.column_indices.len()
    }

    /// Returns the size of the three arrays, in bytes.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.row_offsets[..]) as u64 + self.entry_bytes()
    }

    /// Returns the size of the column indices and the values, in bytes.
    pub fn entry_bytes(&self) -> u64 {
        (size_of_val(&self.column_indices[..]) + size_of_val(&self.values[..])) as u64
    }

    #[inline]
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.row_offsets[row] as usize..self.row_offsets[row + 1] as usize
    }

    pub fn row_lengths(&self) -> impl Iterator<Item = u32> + Clone {
        self.row_offsets.windows(2).map(|pair| pair[1] - pair[0])
    }

    pub fn is_valid(&self) -> bool {
        self.rows <= MAX_INDEX
            && self.cols <= MAX_INDEX
            && self.nnz() <= MAX_INDEX
            && self.values.len() == self.nnz()
            && self.row_offsets.len() == self.rows + 1
            && self.row_offsets[0] == 0
            && self.row_offsets[self.rows] as usize == self.nnz()
            && self.row_offsets.is_sorted()
            && rows_ascend(&self.row_offsets, &self.column_indices, self.cols)
    }
}

fn rows_ascend(row_offsets: &[u32], column_indices: &[u32], cols: usize) -> bool {
    row_offsets.par_windows(2).with_min_len(1 << 12).all(|pair| {
        let columns = &column_indices[pair[0] as usize..pair[1] as usize];
        columns.is_sorted_by(|a, b| a < b) && columns.last().is_none_or(|&c| (c as usize) < cols)
    })
}

/// Returns the offsets of rows with these lengths, from 0 to their sum.
pub fn offsets_of(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut end = 0;
    let ends = lengths.map(|length| {
        end += length;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

impl<T: Scalar> Csr<T> {
    /// Creates a matrix from (row, column, value) triplets in any order and sums duplicates. It is meant
    /// for small matrices and tests: the reader and the generators write the arrays directly.
    ///
    /// # Panics
    /// Panics if a triplet lies outside the matrix.
    pub fn from_triplets(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Self {
        let mut sorted = triplets.to_vec();
        sorted.sort_by_key(|&(row, col, _)| (row, col));
        sorted.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut lengths = vec![0; rows];
        sorted.iter().for_each(|&(row, ..)| lengths[row] += 1);
        let row_offsets = offsets_of(lengths.into_iter());
        let columns = sorted.iter().map(|t| t.1 as u32).collect();
        let values = sorted.iter().map(|t| T::narrow(t.2)).collect();
        Self::new(rows, cols, row_offsets, columns, values).expect("triplets inside the matrix")
    }
}

impl Csr<f64> {
    /// Converts the values to precision `T`. The error is the first value that is not finite in this precision.
    pub fn to_precision<T: Scalar>(&self) -> Result<Cow<'_, Csr<T>>, f64> {
        if let Some(same) = (self as &dyn Any).downcast_ref() {
            return Ok(Cow::Borrowed(same));
        }
        let values: Vec<T> = self.values.iter().map(|&v| T::narrow(v)).collect();
        if let Some(k) = values.iter().position(|v| !v.is_finite()) {
            return Err(self.values[k]);
        }
        Ok(Cow::Owned(Csr {
            rows: self.rows,
            cols: self.cols,
            row_offsets: self.row_offsets.clone(),
            column_indices: self.column_indices.clone(),
            values,
        }))
    }
}
