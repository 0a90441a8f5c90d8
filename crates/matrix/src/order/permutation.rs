//! Permutations of rows, and matrices whose rows and columns are permuted.

use rayon::prelude::*;

use crate::csr::{Csr, offsets_of};
use crate::scalar::Scalar;

/// The number of rows that one task copies.
const ROWS_PER_TASK: usize = 1024;

/// A permutation of rows: the row at new position `i` is the old row `old()[i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Permutation {
    /// The old row at each new position. It contains every number below `len` once: methods use it for
    /// gathers without bounds checks.
    old: Vec<u32>,
    new: Vec<u32>,
}

impl Permutation {
    /// Creates a permutation from the old row at each new position. Returns `None` if a row is missing or
    /// occurs twice.
    pub fn new(old: Vec<u32>) -> Option<Self> {
        let mut new = vec![u32::MAX; old.len()];
        for (position, &row) in old.iter().enumerate() {
            let slot = new.get_mut(row as usize).filter(|slot| **slot == u32::MAX)?;
            *slot = position as u32;
        }
        Some(Self { old, new })
    }

    #[allow(clippy::len_without_is_empty)] // `is_empty` is not needed.
    pub fn len(&self) -> usize {
        self.old.len()
    }

    pub fn old(&self) -> &[u32] {
        &self.old
    }

    pub fn new_of_old(&self) -> &[u32] {
        &self.new
    }

    pub fn inverse(self) -> Self {
        Self { old: self.new, new: self.old }
    }

    pub fn apply<V: Clone>(&self, values: &[V]) -> Vec<V> {
        assert_eq!(values.len(), self.len(), "a value per row");
        self.old.iter().map(|&old| values[old as usize].clone()).collect()
    }
}

/// Converts the old rows in their new order, as returned by an ordering algorithm.
impl From<Vec<u32>> for Permutation {
    /// Panics if a row is missing or occurs twice, which would be a bug in the algorithm.
    fn from(old: Vec<u32>) -> Self {
        Self::new(old).expect("an order holds every row once")
    }
}

impl<T: Scalar> Csr<T> {
    /// Computes P·A·Pᵀ: the matrix with its rows and columns in the new order. Panics if the matrix is not square or
    /// the permutation has another size.
    pub fn permuted(&self, permutation: &Permutation) -> Self {
        let len = permutation.len();
        assert_eq!((self.rows, self.cols), (len, len), "a permutation of the matrix' size");
        let length = |&old: &u32| self.row(old as usize).len();
        let row_offsets = offsets_of(permutation.old.iter().map(|old| length(old) as u32));
        let mut column_indices = vec![0; self.nnz()];
        let mut values = vec![T::zero(); self.nnz()];
        let mut columns_left = &mut column_indices[..];
        let mut values_left = &mut values[..];
        let mut tasks = Vec::new();
        for old in permutation.old.chunks(ROWS_PER_TASK) {
            let entries = old.iter().map(length).sum();
            let columns = columns_left.split_off_mut(..entries).expect("entries remain");
            let values = values_left.split_off_mut(..entries).expect("entries remain");
            tasks.push((old, columns, values));
        }
        tasks.into_par_iter().for_each(|(old, columns, values)| {
            self.move_rows(old, &permutation.new, columns, values);
        });
        let permuted = Self { rows: len, cols: len, row_offsets, column_indices, values };
        debug_assert!(permuted.is_valid());
        permuted
    }

    /// Writes the rows `old` one after another, with their columns renumbered and sorted.
    fn move_rows(&self, old: &[u32], new: &[u32], columns: &mut [u32], values: &mut [T]) {
        let mut row = Vec::new();
        let mut slots = columns.iter_mut().zip(values);
        for &old in old {
            row.clear();
            row.extend(self.row(old as usize).map(|k| (new[self.column_indices[k] as usize], self.values[k])));
            row.sort_unstable_by_key(|entry| entry.0);
            for (entry, (column, value)) in row.iter().zip(&mut slots) {
                (*column, *value) = *entry;
            }
        }
    }
}
