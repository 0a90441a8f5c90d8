use std::slice::from_ref;

use expect_test::expect;

use super::Judgement::{Faster, Same, Slower, Unknown};
use super::*;
use crate::report::identity::name_matrices;
use crate::row::{Row, Status};
use crate::settings::{CacheState, Values};
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

/// Returns a row that is ok; `half` is half the width of its interval, in ms.
fn ok(file: &str, method: &str, ms: f64, half: f64) -> Row {
    Row {
        num_rows: Some(10),
        num_cols: Some(10),
        num_nonzeros: Some(40),
        transpose: Some(false),
        ci95_low_ms: Some(ms - half),
        ci95_high_ms: Some(ms + half),
        samples: Some(3),
        cache: Some(CacheState::Hot),
        order: Some(Order::Natural),
        ..crate::report::row(file, method, ms)
    }
}

fn ended(row: Row, status: Status, reason: &str) -> Row {
    Row { avg_spmv_ms: None, ci95_low_ms: None, ci95_high_ms: None, ..row }
        .ended(status, reason.into())
}

pub fn compared<T>(a: &[Row], b: &[Row], then: impl Fn(&Result<Comparison>) -> T) -> T {
    let lines = |rows: &[Row]| rows.iter().cloned().map(RecordedRow::from).collect::<Vec<_>>();
    let (mut a, mut b) = (lines(a), lines(b));
    name_matrices(vec![a.iter_mut().collect(), b.iter_mut().collect()]);
    let side = |name, lines| Compared { name, lines };
    then(&Comparison::of(side("a.csv", &a[..]), side("b.csv", &b[..])))
}

fn text(a: &[Row], b: &[Row]) -> String {
    compared(a, b, |comparison| comparison.as_ref().unwrap().to_text(None))
}

fn refusal(a: &[Row], b: &[Row]) -> String {
    compared(a, b, |comparison| comparison.as_ref().unwrap_err().to_string())
}

fn judgement(a: &Row, b: &Row) -> (f64, Judgement) {
    compared(from_ref(a), from_ref(b), |comparison| {
        let change = comparison.as_ref().unwrap().pairs[0].change.as_ref().unwrap();
        (change.ratio.value, change.judgement)
    })
}

/// The error of a ratio is that of both times: 0.14 of it for two that are off by 10 %.
#[test]
fn pairs_are_judged_by_the_interval_of_their_ratio() {
    let row = |ms, half| ok("a.mtx", "merge", ms, half * ms);
    assert_eq!(judgement(&row(1.0, 0.1), &row(1.15, 0.1)), (1.15, Same));
    assert_eq!(judgement(&row(1.0, 0.1), &row(1.16, 0.1)), (1.16, Slower));
    assert_eq!(judgement(&row(1.16, 0.1), &row(0.58, 0.1)), (0.5, Faster));
    let single = Row { ci95_low_ms: None, ci95_high_ms: None, samples: Some(1), ..row(1.0, 0.0) };
    assert_eq!(judgement(&single, &row(4.0, 0.25)), (4.0, Unknown));
    assert_eq!(judgement(&row(4.0, 0.25), &single), (0.25, Unknown));
}

/// Half of the mean's interval is the root of twice the squares above, divided by two.
#[test]
fn a_mean_is_surer_than_its_rows() {
    let a = [ok("a.mtx", "merge", 2.0, 0.1), ok("b.mtx", "merge", 3.0, 0.3)];
    let b = [ok("a.mtx", "merge", 3.0, 0.3), ok("b.mtx", "merge", 2.0, 0.1)];
    let half = (0.05f64.asinh().powi(2) + 0.1f64.asinh().powi(2)).sqrt() / 2f64.sqrt();
    compared(&a, &b, |comparison| {
        let comparison = comparison.as_ref().unwrap();
        let mean = comparison.overall.clone().unwrap();
        assert!((mean.ratio.value - 1.0).abs() < 1e-12);
        assert!((mean.ratio.half.unwrap() - half).abs() < 1e-12, "{mean:?} and not {half}");
        assert_eq!(mean.counts, [1, 0, 1, 0]);
        assert_eq!((mean.lowest.0, mean.highest.0), ("b", "a"));
        assert_eq!(comparison.methods[0].1, mean);
    });
    let single = Row { ci95_low_ms: None, samples: Some(1), ..b[1].clone() };
    compared(&a, &[b[0].clone(), single], |comparison| {
        let comparison = comparison.as_ref().unwrap();
        assert_eq!(comparison.overall.as_ref().unwrap().ratio.half, None, "one is unknown");
    });
}

#[test]
fn lost_rows_are_printed_first_with_the_reason() {
    let of = |file: &str, names: &str| -> Vec<Row> {
        names.split(' ').map(|name| ok(file, name, 1.0, 0.0)).collect()
    };
    let a = [of("u/a.mtx", "seq merge ell packed"), of("u/b.mtx", "seq merge packed")].concat();
    let a = [&a[..], &of("u/c.mtx", "seq merge"), &of("u/d.mtx", "seq merge")].concat();
    let wrong = ended(ok("v/a.mtx", "merge", 1.0, 0.0), Status::Wrong, "row 3: 1 is not 2");
    let skipped = ended(ok("v/a.mtx", "ell", 1.0, 0.0), Status::Skipped, "too much padding");
    let unread = Row { file: "v/c.mtx".into(), ..Row::default() };
    let unread = unread.ended(Status::Failed, "v/c.mtx:6: column 9".into());
    let b =
        [ok("v/a.mtx", "seq", 2.0, 0.5), wrong, skipped, unread, ok("v/b.mtx", "seq", 1.0, 0.0)];
    expect![[r#"
        A: a.csv
        B: b.csv
        ok in A, not in B: 9 rows
          merge on a: wrong: row 3: 1 is not 2
          merge, seq on c: failed: v/c.mtx:6: column 9
          ell on a: skipped: too much padding
          merge on b: missing
          all on d: missing
          packed on every matrix: missing
        only in A: 5 rows: merge (2), packed (2), seq (1)

        B/A: B's median time per product over A's; above 1 B is slower
        ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
         method   pairs   faster   same   slower     B/A   95 % interval    lowest   lowest on   highest   highest on
        ══════════════════════════════════════════════════════════════════════════════════════════════════════════════
         seq          2        0      1        1   1.414   1.250 to 1.600    1.000   b             2.000   a
        ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

        the largest changes
        ───────────────────────────────────────────
         slower in B, by B/A   faster in B, by B/A
        ═══════════════════════════════════════════
         2.000 seq on a
        ───────────────────────────────────────────

        over all 2 pairs B takes 1.414 times as long as A (1.250 to 1.600): 0 faster, 1 the same, 1 slower, 0 unknown
    "#]]
    .assert_eq(&text(&a, &b));
    let back = text(&b, &a);
    assert!(back.contains("ok in B, not in A: 9 rows\n  merge on a: wrong: row 3"), "{back}");
    assert!(!back.contains("ok in A"), "{back}");
}

#[test]
fn precisions_and_threads_are_compared_each_with_its_own() {
    let f32 = |ms| Row { precision: Some(Precision::F32), ..ok("a.mtx", "merge", ms, 0.0) };
    let a = [ok("a.mtx", "merge", 2.0, 0.0), f32(1.0)];
    compared(&a, &[f32(0.5), ok("a.mtx", "merge", 4.0, 0.0)], |comparison| {
        let methods = comparison.as_ref().unwrap().methods.iter();
        let means: Vec<_> = methods.map(|(label, mean)| (&label[..], mean.ratio.value)).collect();
        assert_eq!(means, [("merge f64", 2.0), ("merge f32", 0.5)]);
    });
    let four = Row { threads: Some(4), ..ok("a.mtx", "merge", 1.0, 0.0) };
    let seq = Row { threads: Some(1), ..ok("a.mtx", "seq", 1.0, 0.0) };
    let text = text(&[seq.clone(), a[0].clone()], &[seq, four]);
    let expected = "only in A: 1 rows: merge 2 threads (1)\nonly in B: 1 rows: merge 4 threads (1)\n\
                these differ in 2 threads in A, 4 threads in B (--threads)\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn rows_measured_in_different_ways_are_refused() {
    let hot = ok("u/cant.mtx", "merge", 1.0, 0.0);
    let with = |change: &dyn Fn(&mut Row)| {
        let mut row = hot.clone();
        change(&mut row);
        row
    };
    let cold = with(&|row| row.cache = Some(CacheState::Cold));
    let cold_seq = Row { method_name: Some("seq".into()), ..cold.clone() };
    let mut refused = vec![
        refusal(&[hot.clone(), cold_seq], from_ref(&hot)),
        refusal(from_ref(&hot), &[hot.clone(), hot.clone()]),
        refusal(from_ref(&hot), &[]),
    ];
    let others = [
        cold,
        with(&|row| row.order = Some(Order::Rcm)),
        with(&|row| row.num_nonzeros = Some(70)),
        with(&|row| row.num_cols = Some(11)),
        with(&|row| row.kind = Some("surrogate for Williams/cant".into())),
        with(&|row| row.avg_spmv_ms = Some(0.0)),
        with(&|row| row.precision = Some(Precision::F32)),
        with(&|row| row.transpose = Some(true)),
        with(&|row| row.file = "u/b.mtx".into()),
    ];
    refused.extend(others.map(|other| refusal(from_ref(&hot), &[other])));
    expect![[r#"
        a.csv contains rows of cache hot and of cache cold, which cannot be compared together; choose one with --methods '* where cache = hot'
        b.csv contains two rows of merge on u/cant.mtx (f64, cpu, 2 threads, not transposed); put only the rows of one run into a file
        no row of a.csv matches a row of b.csv: B contains no row of the selected methods
        a.csv contains rows of cache hot, b.csv of cache cold; run one of them again with --cache hot or --cache cold, so that both are the same
        a.csv contains rows of order natural, b.csv of order rcm; run one of them again with --order natural or --order rcm, so that both are the same
        u/cant.mtx has 40 nonzeros in a.csv and 70 in b.csv: one of them was read with --no-expand, or they are different files
        u/cant.mtx has 10 columns in a.csv and 11 in b.csv: they are different files
        u/cant.mtx has the kind '' in a.csv and 'surrogate for Williams/cant' in b.csv: a surrogate is not the matrix that it replaces
        b.csv: merge on u/cant.mtx (f64, cpu, 2 threads, not transposed) is ok, but its avg_spmv_ms is '0.0'; it must be a positive number
        no row of a.csv matches a row of b.csv: f64 in A, f32 in B (--precision); run one of them again with the options of the other
        no row of a.csv matches a row of b.csv: not transposed in A, transposed in B (--transpose); run one of them again with the options of the other
        no row of a.csv matches a row of b.csv: they have no matrix in common
    "#]].assert_eq(&(refused.join("\n") + "\n"));
}

/// Rows without the columns are those of hot caches, the natural order and no transposition.
#[test]
fn rows_of_older_files_have_the_defaults_of_their_time() {
    let new = ok("a.mtx", "merge", 1.0, 0.0);
    let old = Row { cache: None, order: None, transpose: None, ..new.clone() };
    assert_eq!(judgement(&old, &new), (1.0, Same));
    let cold = Row { cache: Some(CacheState::Cold), ..new };
    assert!(refusal(&[old], &[cold]).contains("cache hot"));
}

/// Compressing values makes the method 4 times as fast where they repeat, and not faster elsewhere.
#[test]
fn means_are_split_by_whether_values_repeat() {
    let of = |file: &str, ms: f64, distinct_values| Row {
        values: Some(Values::Stored),
        distinct_values,
        ..ok(file, "packed", ms, 0.0)
    };
    let with =
        |ms| [of("a.mtx", ms, Some(256)), of("b.mtx", 1.0, Some(257)), of("c.mtx", 1.0, None)];
    let (a, b) = (with(4.0), with(1.0));
    let text = compared(&a, &b, |comparison| {
        let apart = Comparison { by_values: true, ..comparison.as_ref().unwrap().clone() };
        apart.to_text(None)
    });
    let line = text.lines().find(|line| line.starts_with(" packed")).unwrap();
    let means: Vec<_> = line.split_whitespace().skip(5).take(3).collect();
    assert_eq!(means, ["0.630", "0.250", "1.000"], "{text}");
    assert!(text.contains("B/A, values repeat   B/A, values differ"), "{text}");
    assert!(text.contains("Values repeat on matrices with at most 256 different ones"), "{text}");
    assert!(self::text(&a, &b).contains("`--by-values` shows their means apart"));
}
