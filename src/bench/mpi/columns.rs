//! Which elements of x each rank owns, and which it needs. A rank owns a contiguous part of x. For a square matrix it
//! is the same as its part of y, so that one product can use the result of another; otherwise all parts are equal.

use super::partition::{Partition, even_cuts};
use spmv_matrix::Csr;

/// Returns the beginning of each rank's part of x, and the end of the last.
pub fn owned_cuts(partition: &Partition, cols: usize) -> Vec<usize> {
    if cols != partition.rows() {
        return even_cuts(cols, partition.ranks());
    }
    let ends = (0..partition.ranks()).map(|rank| partition.stored(rank).end);
    std::iter::once(0).chain(ends).collect()
}

/// Returns the columns in which a share has entries, in ascending order.
pub fn needed<T>(csr: &Csr<T>) -> Vec<u32> {
    let mut touched = vec![false; csr.cols()];
    csr.column_indices().iter().for_each(|&column| touched[column as usize] = true);
    (0..csr.cols() as u32).filter(|&column| touched[column as usize]).collect()
}

/// Returns a share whose column indices are their positions in `needed`.
pub fn renumbered<T>(csr: Csr<T>, needed: &[u32]) -> Csr<T> {
    let (rows, mut number) = (csr.rows(), vec![0; csr.cols()]);
    for (local, &column) in (0..).zip(needed) {
        number[column as usize] = local;
    }
    let (row_offsets, mut columns, values) = csr.into_arrays();
    columns.iter_mut().for_each(|column| *column = number[*column as usize]);
    // SAFETY: `needed` ascends and has all columns of the share, so the positions ascend in each row.
    unsafe { Csr::new_unchecked(rows, needed.len(), row_offsets, columns, values) }
}

/// Returns a copy with the column indices before [`renumbered`], for a matrix with `cols` columns.
pub fn restored<T: Clone>(csr: &Csr<T>, needed: &[u32], cols: usize) -> Csr<T> {
    let columns = csr.column_indices().iter().map(|&column| needed[column as usize]).collect();
    let (row_offsets, values) = (csr.row_offsets().to_vec(), csr.values().to_vec());
    // SAFETY: `needed` ascends and is below `cols`, as do the columns of each row.
    unsafe { Csr::new_unchecked(csr.rows(), cols, row_offsets, columns, values) }
}

/// Returns the number of the ascending `columns` that lie in each part.
pub fn counts_by_part(columns: &[u32], cuts: &[usize]) -> Vec<i32> {
    let before = |cut: usize| columns.partition_point(|&column| (column as usize) < cut);
    cuts.windows(2).map(|cut| (before(cut[1]) - before(cut[0])) as i32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_by_owner() {
        assert_eq!(counts_by_part(&[0, 3, 4, 9], &[0, 4, 4, 9, 10]), [2, 0, 1, 1]);
    }

    #[test]
    fn x_is_owned_as_y_is_or_evenly() {
        let partition = Partition::new(vec![2, 0, 6, 0], 4);
        assert_eq!(owned_cuts(&partition, 4), [0, 1, 2, 2, 4]);
        assert_eq!(owned_cuts(&partition, 8), [0, 2, 4, 6, 8]);
    }
}
