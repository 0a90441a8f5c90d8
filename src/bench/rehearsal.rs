//! What happens once in a process and belongs to no method: libraries are opened and start their threads,
//! and drivers load kernels. So that none of it is in a measured time, each method first runs on a small
//! matrix.

use crate::matrix::Csr;
use crate::scalar::Scalar;

/// Rows of the small matrix: enough for MKL 2025.3 to be initialised (measured with 2 threads: the setup of
/// `mkl-ie` on 90,000 rows took 0.01 ms instead of 2 ms).
const ROWS: usize = 64;

/// A small square matrix: five diagonals, and a first row that is full.
pub fn matrix<T: Scalar>() -> Csr<T> {
    let near = |row: usize| row.saturating_sub(2)..(row + 3).min(ROWS);
    let cols = |row: usize| if row == 0 { 0..ROWS } else { near(row) };
    let entries = (0..ROWS).flat_map(|row| cols(row).map(move |col| (row, col, 1.0)));
    let csr = Csr::<f64>::from_triplets(ROWS, ROWS, &entries.collect::<Vec<_>>());
    csr.to_precision::<T>().expect("ones are ones in every precision").into_owned()
}
