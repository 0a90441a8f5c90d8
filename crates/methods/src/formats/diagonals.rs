//! The matrix stored as whole diagonals: the format of DIA.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::fill;
use crate::method::Unavailable;
use spmv_matrix::Csr;
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;

/// The diagonals of a matrix: `values[d * rows + row]` is the entry in column `row + offsets[d]`.
pub struct Diagonals<T> {
    pub rows: usize,
    pub cols: usize,
    /// The offset of each diagonal (column minus row), in ascending order.
    pub offsets: Vec<isize>,
    pub values: Vec<T>,
}

/// Returns the offsets of the diagonals that have an entry, in ascending order.
fn offsets<T: Scalar>(csr: &Csr<T>) -> Vec<isize> {
    let held: Vec<_> = (0..csr.rows() + csr.cols()).map(|_| AtomicBool::new(false)).collect();
    (0..csr.rows()).into_par_iter().with_min_len(1024).for_each(|row| {
        for &column in &csr.column_indices()[csr.row(row)] {
            let held = &held[column as usize + csr.rows() - row];
            // Most are already set. Reading first avoids writes that would move the cache line between cores.
            if !held.load(Ordering::Relaxed) {
                held.store(true, Ordering::Relaxed);
            }
        }
    });
    let held = held.into_iter().enumerate().filter(|(_, held)| held.load(Ordering::Relaxed));
    held.map(|(index, _)| index as isize - csr.rows() as isize).collect()
}

impl<T: Scalar> Diagonals<T> {
    /// Extracts the diagonals of the matrix or of its transpose. Too much padding is refused.
    pub fn new(csr: &Csr<T>, transpose: bool) -> Result<Self, Unavailable> {
        let offsets = offsets(csr);
        let rows = if transpose { csr.cols() } else { csr.rows() };
        fill::check(offsets.len() as u64 * rows as u64, csr.nnz())?;
        Ok(if transpose {
            let negated = offsets.iter().rev().map(|offset| -offset).collect();
            Self::of(&csr.transposed(), negated)
        } else {
            Self::of(csr, offsets)
        })
    }

    fn of(csr: &Csr<T>, offsets: Vec<isize>) -> Self {
        let (rows, cols) = (csr.rows(), csr.cols());
        let mut diagonals = vec![0u32; rows + cols];
        for (diagonal, offset) in offsets.iter().enumerate() {
            diagonals[rows.wrapping_add_signed(*offset)] = diagonal as u32;
        }
        let mut values = vec![T::zero(); offsets.len() * rows];
        let places = DisjointMut::new(&mut values);
        (0..rows).into_par_iter().with_min_len(1024).for_each(|row| {
            for k in csr.row(row) {
                let diagonal = diagonals[csr.column_indices()[k] as usize + rows - row] as usize;
                // SAFETY: the index is in bounds, and each entry has its own.
                unsafe { *places.at(diagonal * rows + row) = csr.values()[k] };
            }
        });
        Self { rows, cols, offsets, values }
    }
}

/// Returns an upper bound of the bytes of diagonals whose length exceeds the number of rows by at most 32.
pub fn memory_of_values(extent: &Extent) -> u64 {
    let most = fill::most_places(extent);
    let diagonals = extent.nnz.min(extent.rows + extent.cols);
    (most + 32 * most / extent.outputs().max(1)) * extent.value + 8 * diagonals
}

/// Returns whether a matrix whose entries are on as many diagonals as possible is refused.
pub fn may_refuse(extent: &Extent) -> bool {
    let diagonals = extent.nnz.min(extent.rows + extent.cols);
    fill::is_refused(diagonals * extent.outputs(), extent.nnz)
}

pub fn memory(extent: &Extent) -> u64 {
    let all = extent.rows + extent.cols;
    let transposed = if extent.transpose { extent.transposed(extent.value) } else { 0 };
    let finding = all + 24 * extent.nnz.min(all);
    finding.max(memory_of_values(extent) + 4 * all + transposed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In another order the products would be correct too, but slower.
    #[test]
    fn diagonals_ascend_and_are_indexed_by_row() {
        let triplets = [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0), (2, 0, 4.0), (2, 2, 5.0)];
        let csr = Csr::<f64>::from_triplets(3, 4, &triplets);
        let transposed = Diagonals::new(&csr, true).unwrap();
        assert_eq!((transposed.rows, transposed.cols), (4, 3));
        assert_eq!(transposed.offsets, [-2, 0, 2]);
        assert_eq!(transposed.values, [0., 0., 2., 0., 1., 3., 5., 0., 4., 0., 0., 0.]);
    }
}
