//! The small matrix on which each method runs first.

use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

/// The number of its rows: enough for MKL 2025.3 to be initialised (measured with 2 threads: the setup of `mkl-ie` on
/// 90,000 rows then took 0.01 ms instead of 2 ms).
const ROWS: usize = 64;

/// Returns the matrix, with five diagonals and a full first row.
pub fn rehearsal_matrix<T: Scalar>() -> Csr<T> {
    let near = |row: usize| row.saturating_sub(2)..(row + 3).min(ROWS);
    let cols = |row: usize| if row == 0 { 0..ROWS } else { near(row) };
    let entries = (0..ROWS).flat_map(|row| cols(row).map(move |col| (row, col, 1.0)));
    let csr = Csr::<f64>::from_triplets(ROWS, ROWS, &entries.collect::<Vec<_>>());
    csr.to_precision::<T>().expect("ones are ones in every precision").into_owned()
}
