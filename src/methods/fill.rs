//! Fill: the zeros that a format stores beside the nonzeros, for its order's sake.

use std::ops::Range;

use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::method::Unavailable;
use crate::scalar::Scalar;

/// Places stored per nonzero, beyond which a matrix is refused.
pub const LIMIT: u64 = 3;
/// As many places are never too many.
const FEW: u64 = 1024;

/// Refuses to store that many places for these nonzeros.
pub fn check(places: u64, nnz: usize) -> Result<(), Unavailable> {
    if places <= FEW.max(LIMIT * nnz as u64) {
        return Ok(());
    }
    Err(Unavailable(format!(
        "would store {:.2} entries for each nonzero, {places} for {nnz}, because it fills gaps with zeros; \
         more than {LIMIT} are refused",
        places as f64 / nnz as f64
    )))
}

/// No more places than these are stored.
pub fn most_places(extent: &Extent) -> u64 {
    (LIMIT * extent.nnz).max(FEW)
}

/// The same where rows are as long as the longest of all, or of a group, in groups of up to `lanes`.
pub fn most_places_of_rows(extent: &Extent, lanes: u64) -> u64 {
    let (full, most) = (extent.longest.saturating_mul(extent.rows), most_places(extent));
    match full > most {
        true => most + lanes * most / extent.rows,
        false => full + lanes * extent.longest,
    }
}

/// Computes again from CSR those of the `sums` that are not finite, from the rows' entries `ranges`.
///
/// Fill multiplies by 0 an x that the row has no entry for, or one of its own a second time; 0 · NaN and
/// 0 · ∞ are NaN. Whatever x holds, a row must be what its own entries make it.
#[cold]
pub fn mend<T: Scalar>(
    csr: &Csr<T>,
    ranges: impl Iterator<Item = Range<usize>>,
    x: &[T],
    sums: &mut [T],
) {
    for (sum, range) in sums.iter_mut().zip(ranges) {
        if !sum.is_finite() {
            let product = |k: usize| csr.values[k] * x[csr.column_indices[k] as usize];
            *sum = range.map(product).fold(T::zero(), |sum, product| sum + product);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_refused_with_its_numbers() {
        assert!(check(1024, 1).is_ok() && check(3000, 1000).is_ok());
        let reason = check(3100, 1000).unwrap_err().to_string();
        assert!(
            reason.starts_with("would store 3.10 entries for each nonzero, 3100 for 1000"),
            "{reason}"
        );
    }

    #[test]
    fn only_what_is_not_finite_is_mended() {
        let csr = Csr::<f64>::from_triplets(3, 2, &[(0, 0, 2.0), (1, 1, 1.0), (2, 0, 1.0)]);
        let mut sums = [f64::NAN, f64::NAN, 7.0, f64::NAN];
        mend(&csr, (0..3).map(|row| csr.row(row)), &[3.0, f64::INFINITY], &mut sums);
        assert_eq!(sums[..3], [6.0, f64::INFINITY, 7.0]);
        assert!(sums[3].is_nan(), "no row");
    }
}
