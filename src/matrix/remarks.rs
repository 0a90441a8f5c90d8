//! Sentences about values that may not be what the user expects, although the matrix can be measured.

use rayon::prelude::*;

use super::market::{Field, Market, Symmetry};
use crate::scalar::{Precision, Scalar};

/// The first integer after which doubles do not represent every integer.
const FIRST_INEXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// Returns remarks about a file that was just read.
pub fn of_file(market: &Market) -> Vec<String> {
    [both_triangles(market), large_integers(market)].into_iter().flatten().collect()
}

/// Returns a remark if an expanded file seems to store both triangles, so that expanding it has doubled its values.
fn both_triangles(market: &Market) -> Option<String> {
    let Market { triangles: [above, below], duplicates, symmetry, .. } = market;
    let symmetry = match symmetry {
        Symmetry::General => return None,
        Symmetry::Symmetric => "symmetric",
        Symmetry::SkewSymmetric => "skew-symmetric",
    };
    let is_likely = *above.min(below) > 0 && *duplicates > 0;
    is_likely.then(|| {
        format!(
            "the banner says {symmetry}, but {above} entries are above and {below} below the diagonal, and {duplicates} \
             were added to another entry of the same position or of its mirror image: if the file stores both triangles, \
             these values are doubled now, and the banner should say general"
        )
    })
}

fn large_integers(market: &Market) -> Option<String> {
    let has_integers = matches!(market.field, Field::Integer | Field::UnsignedInteger);
    let values = if has_integers { &market.csr.values[..] } else { &[] };
    let large = values.par_iter().filter(|value| value.abs() >= FIRST_INEXACT).count();
    (large > 0).then(|| {
        format!("{large} of its integers are 2^53 or more and were rounded to the nearest double")
    })
}

/// Returns a remark if values become zero or subnormal in a precision.
pub fn of_precision(values: &[f64], precision: Precision) -> Option<String> {
    match precision {
        Precision::F64 => underflow::<f64>(values),
        Precision::F32 => underflow::<f32>(values),
    }
}

fn underflow<T: Scalar>(values: &[f64]) -> Option<String> {
    let count = |is: fn(T) -> bool| {
        values.par_iter().filter(|&&value| value != 0.0 && is(T::narrow(value))).count()
    };
    let (zero, subnormal) = (count(|value| value.is_zero()), count(|value| value.is_subnormal()));
    (zero + subnormal > 0).then(|| {
        format!(
            "in {}, {zero} of {} values become 0 and {subnormal} are subnormal, which have fewer correct digits and which \
             many processors multiply more slowly",
            T::PRECISION.name(),
            values.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::loaded::Loaded;

    #[test]
    fn a_file_whose_values_may_be_meant_differently_gets_a_remark() {
        for (kind, entries, remark) in [
            (
                "real symmetric",
                "1 1 2\n2 1 3\n1 2 3\n3 2 4\n",
                Some("1 entries are above and 2 below"),
            ),
            ("real skew-symmetric", "2 1 3\n1 2 -3\n", Some("says skew-symmetric, but 1 entries")),
            ("pattern symmetric", "2 1\n1 2\n", Some("and 1 were added")),
            // Each position is stored once, or one triangle has an entry twice.
            ("real symmetric", "2 1 3\n1 3 4\n3 3 1\n", None),
            ("real symmetric", "2 1 3\n2 1 4\n", None),
            ("real general", "2 1 3\n1 2 3\n1 2 3\n", None),
            (
                "integer general",
                "1 1 9007199254740993\n2 2 -9007199254740992\n",
                Some("2 of its integers"),
            ),
            ("integer general", "1 1 9007199254740991\n", None),
            ("real general", "1 1 9007199254740993\n", None),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            let head = format!("%%MatrixMarket matrix coordinate {kind}\n3 3 ");
            std::fs::write(&file, format!("{head}{}\n{entries}", entries.lines().count())).unwrap();
            let remarks = Loaded::read(file.path(), true).unwrap().market.unwrap().remarks;
            let is_right = match remark {
                Some(remark) => remarks.len() == 1 && remarks[0].contains(remark),
                None => remarks.is_empty(),
            };
            assert!(is_right, "{kind} {entries}: {remarks:?}");
            let stored = Loaded::read(file.path(), false).unwrap().market.unwrap().remarks;
            assert!(stored.is_empty() || kind.contains("integer"), "not expanded: {stored:?}");
        }
    }

    #[test]
    fn values_that_vanish_in_a_precision_are_counted() {
        let values = [1e-50, -1e-46, 1e-40, 1.18e-38, 0.0, 1.0, 1e-310];
        let of = |precision| of_precision(&values, precision).unwrap();
        assert!(
            of(Precision::F32).starts_with("in f32, 3 of 7 values become 0 and 1 are subnormal")
        );
        assert!(
            of(Precision::F64).starts_with("in f64, 0 of 7 values become 0 and 1 are subnormal")
        );
        assert_eq!(of_precision(&values[3..6], Precision::F32), None);
    }
}
