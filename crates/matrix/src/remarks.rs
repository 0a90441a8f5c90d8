use rayon::prelude::*;

use super::reader::{Field, ReadMatrix, Symmetry};
use crate::scalar::{Precision, Scalar};

/// The first integer after which doubles do not represent every integer.
const FIRST_INEXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// Returns remarks about a file that was just read, apart from [`of_duplicates`].
pub fn of_file(file: &ReadMatrix) -> Vec<String> {
    let found = [both_triangles(file), large_integers(file)].into_iter().flatten();
    file.remarks.iter().cloned().chain(found).collect()
}

pub fn of_duplicates(duplicates: u64) -> Option<String> {
    (duplicates > 0).then(|| format!("{duplicates} duplicate entries summed"))
}

/// Returns a remark if an expanded file seems to store both triangles, so that expanding it has doubled its values.
fn both_triangles(file: &ReadMatrix) -> Option<String> {
    let ReadMatrix { triangles: [above, below], duplicates, symmetry, .. } = file;
    let is_likely = *symmetry != Symmetry::General && *above.min(below) > 0 && *duplicates > 0;
    is_likely.then(|| {
        let symmetry = symmetry.name();
        format!(
            "the banner says {symmetry}, but the file has entries above ({above}) and below ({below}) the \
             diagonal, and {duplicates} have the position or the mirrored position of another entry, to which they \
             were added: if both triangles are stored, these values are doubled now, and the banner should say general"
        )
    })
}

fn large_integers(file: &ReadMatrix) -> Option<String> {
    let has_integers = matches!(file.field, Field::Integer | Field::UnsignedInteger);
    let values = if has_integers { &file.csr.values[..] } else { &[] };
    let large = values.par_iter().filter(|value| value.abs() >= FIRST_INEXACT).count();
    (large > 0).then(|| format!("{large} of its integers are 2^53 or more and were rounded to the nearest double"))
}

/// Returns a remark if values become zero in a precision, and one if they become subnormal.
pub fn of_precision(values: &[f64], precision: Precision) -> Vec<String> {
    match precision {
        Precision::F64 => underflow::<f64>(values),
        Precision::F32 => underflow::<f32>(values),
    }
}

fn underflow<T: Scalar>(values: &[f64]) -> Vec<String> {
    let remark = |is: fn(T) -> bool, what: &str| {
        let concerned = values.par_iter().filter(|&&value| value != 0.0 && is(T::narrow(value)));
        let count = concerned.count();
        let all = values.len();
        let precision = T::PRECISION.name();
        (count > 0).then(|| format!("{count} of {all} values {what} in {precision}"))
    };
    let zero = remark(|value| value.is_zero(), "become 0");
    let subnormal = remark(|value| value.is_subnormal(), "are subnormal").map(|remark| {
        format!("{remark}: they have fewer correct digits, and many processors multiply them more slowly")
    });
    zero.into_iter().chain(subnormal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loaded::Loaded;
    use crate::reader::Options;

    #[test]
    fn a_file_whose_values_may_be_meant_differently_gets_a_remark() {
        for (kind, entries, remark) in [
            ("real symmetric", "1 1 2\n2 1 3\n1 2 3\n3 2 4\n", "above (1) and below (2) the diagonal, and 1 have"),
            ("real skew-symmetric", "2 1 3\n1 2 -3\n", "says skew-symmetric, but the file has entries above (1)"),
            ("pattern symmetric", "2 1\n1 2\n", "and 1 have"),
            // Each position is stored once, or one triangle has an entry twice.
            ("real symmetric", "2 1 3\n1 3 4\n3 3 1\n", ""),
            ("real symmetric", "2 1 3\n2 1 4\n", ""),
            ("real general", "2 1 3\n1 2 3\n1 2 3\n", ""),
            ("integer general", "1 1 9007199254740993\n2 2 -9007199254740992\n", "2 of its"),
            ("integer general", "1 1 9007199254740991\n", ""),
            ("real general", "1 1 9007199254740993\n", ""),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            let head = format!("%%MatrixMarket matrix coordinate {kind}\n3 3 ");
            std::fs::write(&file, format!("{head}{}\n{entries}", entries.lines().count())).unwrap();
            let remarks = Loaded::read(file.path(), &Options::default()).unwrap().facts.unwrap().remarks;
            let expected = usize::from(!remark.is_empty());
            let is_right = remarks.len() == expected && remarks.concat().contains(remark);
            assert!(is_right, "{kind} {entries}: {remarks:?}");
            let stored = Loaded::read(file.path(), &Options { expand: false, ..Options::default() })
                .unwrap()
                .facts
                .unwrap()
                .remarks;
            assert!(stored.is_empty() || kind.contains("integer"), "not expanded: {stored:?}");
        }
    }

    #[test]
    fn values_that_vanish_in_a_precision_are_counted() {
        let values = [1e-50, -1e-46, 1e-40, 1.18e-38, 0.0, 1.0, 1e-310];
        let [zero, subnormal] = &of_precision(&values, Precision::F32)[..] else { panic!() };
        assert_eq!(zero, "3 of 7 values become 0 in f32");
        assert!(subnormal.starts_with("1 of 7 values are subnormal in f32: "), "{subnormal}");
        let [subnormal] = &of_precision(&values, Precision::F64)[..] else { panic!() };
        assert!(subnormal.starts_with("1 of 7 values are subnormal in f64: "), "{subnormal}");
        assert!(of_precision(&values[3..6], Precision::F32).is_empty());
    }
}
