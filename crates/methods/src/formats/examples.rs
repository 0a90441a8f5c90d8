//! Matrices of tests.

use spmv_matrix::Csr;

/// Returns a matrix whose rows have these lengths and begin at the first column.
pub fn of_lengths(cols: usize, lengths: impl IntoIterator<Item = usize>) -> Csr<f64> {
    let (mut row_offsets, mut column_indices) = (vec![0], Vec::new());
    for length in lengths {
        column_indices.extend(0..length as u32);
        row_offsets.push(column_indices.len() as u32);
    }
    let values = vec![1.0; column_indices.len()];
    Csr::new(row_offsets.len() - 1, cols, row_offsets, column_indices, values).unwrap()
}

/// Returns a matrix of 24 dense blocks of `rows` × `cols` along the diagonal.
pub fn of_blocks(rows: usize, cols: usize) -> Csr<f64> {
    let cell = |block: usize| (0..rows * cols).map(move |k| (block, k / cols, k % cols));
    let entry = |(block, i, j)| (block * rows + i, block * cols + j, 1.0);
    let triplets: Vec<_> = (0..24).flat_map(cell).map(entry).collect();
    Csr::from_triplets(24 * rows, 24 * cols, &triplets)
}

/// Returns a matrix with entries 1, 2, 3, … in these cells.
pub fn of_cells(rows: usize, cols: usize, cells: &[(usize, usize)]) -> Csr<f64> {
    let entry = |(k, &(row, col)): (usize, &(usize, usize))| (row, col, k as f64 + 1.0);
    let triplets: Vec<_> = cells.iter().enumerate().map(entry).collect();
    Csr::from_triplets(rows, cols, &triplets)
}
