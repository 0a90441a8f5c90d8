//! The small matrix on which each method runs before it is measured. One-time work of the process, such as opening
//! libraries, starting their threads and loading kernels, happens then and is not part of any measured time.

use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

/// The number of rows: enough for MKL 2025.3 to be initialised (measured with 2 threads: the setup of `mkl-ie` on
/// 90,000 rows then took 0.01 ms instead of 2 ms).
const ROWS: usize = 64;

/// Returns a small square matrix with five diagonals and a full first row.
pub fn matrix<T: Scalar>() -> Csr<T> {
    let near = |row: usize| row.saturating_sub(2)..(row + 3).min(ROWS);
    let cols = |row: usize| if row == 0 { 0..ROWS } else { near(row) };
    let entries = (0..ROWS).flat_map(|row| cols(row).map(move |col| (row, col, 1.0)));
    let csr = Csr::<f64>::from_triplets(ROWS, ROWS, &entries.collect::<Vec<_>>());
    csr.to_precision::<T>().expect("ones are ones in every precision").into_owned()
}
