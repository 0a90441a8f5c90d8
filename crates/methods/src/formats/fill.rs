//! Fill: the zeros that a format stores in addition to the nonzeros, as padding of its regular layout.

use std::ops::Range;

use crate::method::Unavailable;
use spmv_matrix::Csr;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;

/// The largest number of stored values per nonzero. A matrix that needs more is refused.
pub const LIMIT: u64 = 3;
/// A matrix that stores at most this many values is never refused.
const NEVER_REFUSED: u64 = 1024;

/// Refuses a format that would store more than [`LIMIT`] values (`places`, including padding) per nonzero.
pub fn check(places: u64, nnz: usize) -> Result<(), Unavailable> {
    if !is_refused(places, nnz as u64) {
        return Ok(());
    }
    Err(Unavailable(format!(
        "would store {:.2} entries for each nonzero, {places} for {nnz}, because it fills gaps with zeros; \
         more than {LIMIT} are refused",
        places as f64 / nnz as f64
    )))
}

/// Returns whether [`check`] refuses so many values.
pub fn is_refused(places: u64, nnz: u64) -> bool {
    places > NEVER_REFUSED.max(LIMIT * nnz)
}

/// Returns the largest number of values per row of the product that [`check`] accepts.
pub fn most_per_row(nnz: usize, rows: usize) -> usize {
    (NEVER_REFUSED.max(LIMIT * nnz as u64) as usize) / rows.max(1)
}

/// Bounds the number of values, padding included, that a format stores for a matrix that it accepts.
pub fn most_places(extent: &Extent) -> u64 {
    (LIMIT * extent.nnz).max(NEVER_REFUSED)
}

/// Returns an upper bound of the number of values, padding included, for formats that pad each row to the
/// longest row of the matrix, or of its group of up to `lanes` rows.
pub fn most_places_of_rows(extent: &Extent, lanes: u64) -> u64 {
    let (full, most) = (extent.longest.saturating_mul(extent.rows), most_places(extent));
    if full > most { most + lanes * most / extent.rows } else { full + lanes * extent.longest }
}

/// Recomputes from CSR those `sums` that are not finite. `ranges` are the entries of the rows. This is rare, so it is
/// not compiled for each variant of a kernel.
///
/// Padding multiplies 0 by an x for which the row has no entry, or a second time by an x of its own; 0 ·
/// NaN and 0 · ∞ are NaN. The result of a row must depend on its own entries only, whatever x contains.
#[cold]
#[inline(never)]
pub fn recompute_non_finite<T: Scalar>(
    csr: &Csr<T>,
    ranges: impl Iterator<Item = Range<usize>>,
    x: &[T],
    sums: &mut [T],
) {
    for (sum, range) in sums.iter_mut().zip(ranges) {
        if !sum.is_finite() {
            *sum = exact_sum(csr, range, x);
        }
    }
}

/// Returns Σ a·x over entries of a row.
pub fn exact_sum<T: Scalar>(csr: &Csr<T>, entries: Range<usize>, x: &[T]) -> T {
    let product = |k: usize| csr.values()[k] * x[csr.column_indices()[k] as usize];
    entries.map(product).fold(T::zero(), |sum, product| sum + product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_fill_is_refused_with_its_numbers() {
        assert!(check(1024, 1).is_ok() && check(3000, 1000).is_ok());
        let why = check(3100, 1000).unwrap_err().to_string();
        assert!(why.starts_with("would store 3.10 entries for each nonzero, 3100 for 1000"), "{why}");
    }

    #[test]
    fn only_sums_that_are_not_finite_are_recomputed() {
        let csr = Csr::<f64>::from_triplets(3, 2, &[(0, 0, 2.0), (1, 1, 1.0), (2, 0, 1.0)]);
        let (mut sums, x) = ([f64::INFINITY, f64::NAN, 7.0, f64::NAN], [3.0, f64::INFINITY]);
        recompute_non_finite(&csr, (0..3).map(|row| csr.row(row)), &x, &mut sums);
        assert_eq!(sums[..3], [6.0, f64::INFINITY, 7.0]);
        assert!(sums[3].is_nan(), "no row");
    }
}
