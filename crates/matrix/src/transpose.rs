//! The transpose by a counting sort: the entries of each column are counted, the counts become offsets, and
//! the entries are scattered to their positions.
//!
//! The rows are split into parts with equal numbers of nonzeros, which count and scatter in parallel. The
//! number of parts is limited so that their count arrays are not larger than the matrix.

use std::ops::Range;

use rayon::prelude::*;

use super::Csr;
use crate::disjoint::DisjointMut;

impl<T: Copy + Default + Send + Sync> Csr<T> {
    /// Computes Aᵀ with all threads of the current rayon pool.
    pub fn transposed(&self) -> Self {
        self.transposed_with(|k| self.values[k])
    }
}

impl<T: Sync> Csr<T> {
    /// Computes the transpose of the pattern. The k-th entry of this matrix gets the value `value(k)`.
    pub fn transposed_with<V>(&self, value: impl Fn(usize) -> V + Sync) -> Csr<V>
    where
        V: Copy + Default + Send,
    {
        let most = rayon::current_num_threads();
        scattered(self, most.min(self.nnz() / self.cols.max(1)).max(1), value)
    }
}

/// Computes the transpose with values `value(k)`, with the rows split into `parts` parts.
fn scattered<T: Sync, V: Copy + Default + Send>(
    csr: &Csr<T>,
    parts: usize,
    value: impl Fn(usize) -> V + Sync,
) -> Csr<V> {
    let rows: Vec<_> = (0..parts).map(|part| rows_of(csr, part, parts)).collect();
    let mut counts: Vec<_> = rows.par_iter().map(|rows| columns_of(csr, rows.clone())).collect();
    let row_offsets = places(&mut counts, csr.cols);
    let mut column_indices = vec![0; csr.nnz()];
    let mut values = vec![V::default(); csr.nnz()];
    let arrays = (DisjointMut::new(&mut column_indices), DisjointMut::new(&mut values));
    rows.into_par_iter().zip(counts).for_each(|(rows, mut next)| {
        for row in rows {
            for k in csr.row(row) {
                let place = &mut next[csr.column_indices[k] as usize];
                // SAFETY: each part writes as many positions of a column as it has counted there, and
                // the positions of different parts do not overlap.
                unsafe {
                    *arrays.0.at(*place as usize) = row as u32;
                    *arrays.1.at(*place as usize) = value(k);
                }
                *place += 1;
            }
        }
    });
    let transpose = Csr { rows: csr.cols, cols: csr.rows, row_offsets, column_indices, values };
    debug_assert!(transpose.is_valid());
    transpose
}

/// Returns the rows of a part: those whose first nonzero lies in its share of the nonzeros.
fn rows_of<T>(csr: &Csr<T>, part: usize, parts: usize) -> Range<usize> {
    let cut = |part: usize| {
        let nonzero = csr.nnz() as u64 * part as u64 / parts as u64;
        csr.row_offsets[..csr.rows].partition_point(|&offset| u64::from(offset) < nonzero)
    };
    cut(part)..if part + 1 == parts { csr.rows } else { cut(part + 1) }
}

fn columns_of<T>(csr: &Csr<T>, rows: Range<usize>) -> Vec<u32> {
    let mut counts = vec![0; csr.cols];
    let entries = csr.row_offsets[rows.start] as usize..csr.row_offsets[rows.end] as usize;
    csr.column_indices[entries].iter().for_each(|&column| counts[column as usize] += 1);
    counts
}

/// Replaces each part's counts by its first position in each column. Returns the offsets of the columns.
fn places(counts: &mut [Vec<u32>], cols: usize) -> Vec<u32> {
    let mut offsets = Vec::with_capacity(cols + 1);
    let mut place = 0;
    for column in 0..cols {
        offsets.push(place);
        for counts in &mut *counts {
            place += std::mem::replace(&mut counts[column], place);
        }
    }
    offsets.push(place);
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes under Miri")]
    fn the_transpose_is_correct_for_any_number_of_parts() {
        let ragged: Vec<_> = (0..90)
            .flat_map(|row| (0..row * row % 7).map(move |k| (row, (k * 11 + row) % 40, row as f64)))
            .collect();
        for triplets in [&ragged[..], &[], &[(89, 39, 1.0)], &[(0, 0, 1.0), (0, 1, 2.0)]] {
            let csr = Csr::<f64>::from_triplets(90, 40, triplets);
            let mirrored: Vec<_> = triplets.iter().map(|&(row, col, v)| (col, row, v)).collect();
            let expected = Csr::<f64>::from_triplets(40, 90, &mirrored);
            for parts in [1, 2, 3, 8, 100] {
                let transpose = scattered(&csr, parts, |k| csr.values[k]);
                assert_eq!(transpose, expected, "{parts} parts");
            }
        }
        let nothing = Csr::<f64>::from_triplets(0, 3, &[]);
        assert_eq!(nothing.transposed(), Csr::<f64>::from_triplets(3, 0, &[]));
    }
}
