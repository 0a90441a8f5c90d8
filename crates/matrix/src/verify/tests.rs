use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::*;

fn judge<T: Scalar>(csr: &Csr<T>, x: &[T], y: &[T]) -> Verdict {
    Reference::new(csr, T::one(), x, T::zero(), &[]).judge(y)
}

#[test]
fn the_reference_survives_cancellation() {
    // 1e16 + 1 − 1e16 = 1, which is 0 in f64.
    let csr = Csr::<f64>::from_triplets(1, 3, &[(0, 0, 1e16), (0, 1, 1.0), (0, 2, -1e16)]);
    let reference = Reference::new(&csr, 1.0, &[1.0; 3], 0.0, &[]);
    assert_eq!(reference.rows[0].exact.high, 1.0);
    // The bound is about 5 · 2^-53 · 2e16 = 11: 0 is an acceptable result here, 100 is not.
    assert!(reference.judge(&[0.0]).passes());
    assert!(!reference.judge(&[100.0]).passes());
}

#[test]
fn the_ratio_is_the_error_over_the_bound() {
    let csr = Csr::<f64>::from_triplets(1, 1, &[(0, 0, 1.0)]);
    // n = 1, s = 1: the bound is 3u = 1.5 ε.
    let verdict = judge(&csr, &[1.0], &[1.0 + 3.0 * f64::EPSILON]);
    assert!((verdict.error_ratio - 2.0).abs() < 1e-12, "{verdict:?}");
    assert!(verdict.passes());
    assert!(!judge(&csr, &[1.0], &[1.0 + 4.0 * f64::EPSILON]).passes());
}

/// The errors of all products of a chain stay within the bound, and a product that was left out does not.
#[test]
fn the_reference_of_a_chain_accepts_the_roundings_of_all_its_products() {
    let entries = [(0, 0, 0.1f64), (0, 1, 0.7), (1, 0, -0.3), (1, 1, 0.9), (1, 2, 1e3), (2, 0, 1e-3)];
    let csr = Csr::<f32>::from_triplets(3, 3, &entries);
    let product = |x: &[f32]| -> Vec<f32> {
        (0..3)
            .map(|row| csr.row(row).map(|k| csr.values[k] * x[csr.column_indices[k] as usize]).sum())
            .collect()
    };
    let x = [0.3, -0.8, 0.6];
    let mut reference = Reference::new(&csr, 1.0, &x, 0.0, &[]);
    let mut y = product(&x);
    for _ in 0..6 {
        let before = std::mem::take(&mut y);
        (reference, y) = (reference.next(&csr, 1.0), product(&before));
        let verdict = reference.judge(&y);
        assert!(verdict.passes() && verdict.error_ratio > 0.0, "{verdict:?}");
        assert!(!reference.judge(&before).passes());
    }
}

#[test]
fn only_values_within_the_bound_pass() {
    let rows = |rows, entries: &[_]| Csr::<f32>::from_triplets(rows, 1, entries);
    let (one, tiny) = ([(0, 0, 1.0)], [(0, 0, 1e-30)]);
    let inf = f32::INFINITY;
    for (csr, x, y, worst) in [
        (rows(2, &one), 1.0, &[1.0, 0.0][..], None),
        (rows(2, &one), 1.0, &[1.0, f32::NAN], Some(1)),
        (rows(2, &one), 1.0, &[-inf, 0.0], Some(0)),
        (rows(2, &one), 1.0, &[1.0, inf], Some(1)),
        // An empty row must be zero, and a product may underflow.
        (rows(1, &[]), 1.0, &[0.0], None),
        (rows(1, &[]), 1.0, &[1e-35], Some(0)),
        (rows(1, &tiny), 1e-20, &[0.0], None),
        (rows(0, &[]), 1.0, &[], None),
    ] {
        let verdict = judge(&csr, &[x], y);
        assert_eq!(verdict.passes(), worst.is_none(), "{y:?}");
        assert!(worst.is_none_or(|row| verdict.worst.unwrap().0 == row), "{verdict:?}");
    }
}

#[test]
fn alpha_and_beta_are_part_of_the_reference() {
    let csr = Csr::<f64>::from_triplets(1, 1, &[(0, 0, 3.0)]);
    let reference = Reference::new(&csr, -2.0, &[5.0], 0.5, &[7.0]);
    assert_eq!(reference.rows[0].exact.high, -26.5);
}

/// 1e16 + 1 in one part, 1 − 1e16 in the other: no precision is lost, and the bound is that of the whole row.
#[test]
fn a_row_may_be_added_up_in_parts() {
    let part = |a: f64, b: f64| {
        let csr = Csr::<f64>::from_triplets(1, 2, &[(0, 0, a), (0, 1, b)]);
        RowSum::from_parts(RowSum::of(&csr, 0, &[1.0; 2]).to_parts())
    };
    let row = part(1e16, 1.0).plus(part(1.0, -1e16));
    let reference = Reference::of_sums(&[row], 3.0, 0.5, &[8.0]);
    assert_eq!(reference.rows[0].exact.high, 10.0);
    assert_eq!(row.to_parts()[3..], [2e16, 2e32, 4.0]);
    // The bound is (4 + 2)·u·(3·2e16 + 4); the summands 1 and 4 are negligible.
    let bound = 6.0 * 2f64.powi(-53) * 6e16;
    assert!((reference.rows[0].bound / bound - 1.0).abs() < 1e-12);
}

#[test]
fn f32_sums_fail_as_f64() {
    let triplets: Vec<_> = (0..100).map(|col| (0, col, 1.0 / (col + 3) as f64)).collect();
    let csr = Csr::<f64>::from_triplets(1, 100, &triplets);
    let short: f32 = csr.values.iter().map(|&v| v as f32).sum();
    assert!(!judge(&csr, &[1.0; 100], &[f64::from(short)]).passes());
}

/// The products of long rows, with values of lower precision or with sums in f32, in order or in 16 lanes.
#[test]
fn values_of_lower_precision_are_less_accurate_than_sums_explain() {
    let n = 4096;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut uniform = || Vec::from_iter((0..n).map(|_| random.random_range(0.0..1.0f32)));
    let (values, x) = (uniform(), uniform());
    for shift in [0.0, 0.5] {
        let value = |k: usize| values[k] - shift;
        let entries: Vec<_> = (0..n).map(|k| (0, k, f64::from(value(k)))).collect();
        let csr = Csr::<f32>::from_triplets(1, n, &entries);
        let x: Vec<f32> = x.iter().map(|x| x - 0.5).collect();
        let judged = |y: f32| judge(&csr, &x, &[y]);
        let in_order = (0..n).fold(0.0, |sum, k| sum + value(k) * x[k]);
        let lane = |lane: usize| (lane..n).step_by(16).map(|k| value(k) * x[k]).sum::<f32>();
        for honest in [in_order, (0..16).map(lane).sum()] {
            assert!(judged(honest).likely_ratio < LIKELY_FACTOR, "{shift} {honest}");
        }
        for bits in [7, 10] {
            let half = 1 << (22 - bits);
            let short = |k| f32::from_bits((value(k).to_bits() + half) & !(2 * half - 1));
            let verdict = judged((0..n).fold(0.0, |sum, k| sum + short(k) * x[k]));
            assert!(verdict.passes() && verdict.likely_ratio > LIKELY_FACTOR, "{verdict:?}");
        }
    }
}
