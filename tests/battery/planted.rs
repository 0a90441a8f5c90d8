//! Methods with planted bugs, which the benchmark must report as wrong.

use std::time::Duration;

use spmv_bench::bench::clock::FakeClock;
use spmv_bench::bench::execute::Bench;
use spmv_bench::bench::outcome::Outcome;
use spmv_bench::bench::plan::{Protocol, Settings};
use spmv_bench::bench::problem::Problem;
use spmv_matrix::Csr;
use spmv_methods::method::{Code, Failed, Method, Prepare, Prepared, Unavailable};
use spmv_methods::team::Team;

type Sum = fn(&Csr<f64>, usize, &[f64]) -> f64;

/// Returns a method with a bug, after which it is named.
fn planted(name: &'static str, prepare_f64: Prepare<f64>) -> Method {
    let code = Code::Cpu { parallel: false, f64: prepare_f64, f32: |_, _| unreachable!() };
    Method { name, code, ..spmv_methods::cpu::seq::METHOD }
}

/// Computes the rows one by one with `sum`, then calls `after` with y and the sums.
fn rows<'a>(
    csr: &'a Csr<f64>,
    sum: Sum,
    mut after: impl FnMut(&mut [f64], Vec<f64>) -> Result<(), Failed> + 'a,
) -> Result<Prepared<'a, f64>, Unavailable> {
    Ok(Prepared::new(csr, 0, move |_, x, _, y| {
        after(y, (0..csr.rows()).map(|row| sum(csr, row, x)).collect())
    }))
}

fn right<'a>(
    csr: &'a Csr<f64>,
    mut after: impl FnMut(&mut [f64], Vec<f64>) + 'a,
) -> Result<Prepared<'a, f64>, Unavailable> {
    let sum: Sum = |csr, row, x| csr.row(row).map(|k| product(csr, k, x)).sum();
    rows(csr, sum, move |y, sums| {
        after(y, sums);
        Ok(())
    })
}

fn stored(csr: &Csr<f64>, sum: Sum) -> Result<Prepared<'_, f64>, Unavailable> {
    rows(csr, sum, |y, sums| {
        y.copy_from_slice(&sums);
        Ok(())
    })
}

fn product(csr: &Csr<f64>, k: usize, x: &[f64]) -> f64 {
    csr.values()[k] * x[csr.column_indices()[k] as usize]
}

fn outcome_of(method: &Method) -> Outcome {
    // Row 5 is empty.
    let entry = |row: usize, k: usize| (row, (k * 11 + row) % 97, 1.0 / (k + row + 1) as f64);
    let rows = (0..40).filter(|&row| row != 5);
    let triplets: Vec<_> = rows.flat_map(|row| (0..30).map(move |k| entry(row, k))).collect();
    let csr = Csr::<f64>::from_triplets(40, 97, &triplets);
    let settings = Settings { iterations: Some(20), ..Settings::new(Protocol::MergeSpmv) };
    let (team, clock) = (Team::floating(1), FakeClock::new(Duration::from_micros(3)));
    let bench = Bench::new(&team, &clock, &settings);
    let results = Problem::of(&csr, &settings).on_host(&bench, &[method.into()]);
    results.unwrap().outcomes.remove(0)
}

#[test]
fn planted_bugs_are_reported_as_wrong() {
    let bugs = [
        planted("skips a row", |csr, _| {
            right(csr, |y, sums| {
                (0..y.len()).filter(|&row| row != 17).for_each(|row| y[row] = sums[row]);
            })
        }),
        planted("leaves empty rows unwritten", |csr, _| {
            right(csr, |y, sums| {
                y.iter_mut().zip(sums).filter(|(_, sum)| *sum != 0.0).for_each(|(y, sum)| *y = sum);
            })
        }),
        planted("adds to a stale y", |csr, _| {
            right(csr, |y, sums| {
                let stale = |y: f64| if y.is_nan() { 0.0 } else { y };
                y.iter_mut().zip(sums).for_each(|(y, sum)| *y = stale(*y) + sum);
            })
        }),
        planted("computes only the first time", |csr, _| {
            let mut first = true;
            right(csr, move |y, sums| {
                if std::mem::take(&mut first) {
                    y.copy_from_slice(&sums);
                }
            })
        }),
        planted("off by one column", |csr, _| {
            stored(csr, |csr, row, x| {
                let next = |k: usize| (csr.column_indices()[k] as usize + 1) % x.len();
                csr.row(row).map(|k| csr.values()[k] * x[next(k)]).sum()
            })
        }),
        planted("loses the last nonzero of a row", |csr, _| {
            stored(csr, |csr, row, x| {
                let range = csr.row(row);
                (range.start..range.end - 1).map(|k| product(csr, k, x)).sum()
            })
        }),
        planted("accumulates f64 in f32", |csr, _| {
            stored(csr, |csr, row, x| {
                f64::from(csr.row(row).map(|k| product(csr, k, x) as f32).sum::<f32>())
            })
        }),
        planted("writes one NaN", |csr, _| {
            right(csr, |y, sums| {
                y.copy_from_slice(&sums);
                y[39] = f64::NAN;
            })
        }),
    ];
    for bug in &bugs {
        let outcome = outcome_of(bug);
        assert!(matches!(outcome, Outcome::Wrong { .. }), "{}: {outcome:?}", bug.name);
    }
}

#[test]
fn another_order_of_summation_is_ok() {
    let reversed = planted("reversed", |csr, _| {
        stored(csr, |csr, row, x| csr.row(row).rev().map(|k| product(csr, k, x)).sum())
    });
    assert!(matches!(outcome_of(&reversed), Outcome::Ok(_)));
}

#[test]
fn errors_and_panics_are_failures_of_the_method_alone() {
    let fails =
        planted("fails", |csr, _| rows(csr, |_, _, _| 0.0, |_, _| Err(Failed("status 4".into()))));
    assert_eq!(outcome_of(&fails), Outcome::Failed("status 4".into()));
    let panics = planted("panics", |csr, _| right(csr, |_, _| panic!("row {}", 3)));
    assert_eq!(outcome_of(&panics), Outcome::Failed("panicked: row 3".into()));
    let absent = planted("absent", |_, _| Err(Unavailable("not here".into())));
    assert_eq!(outcome_of(&absent), Outcome::Skipped("not here".into()));
}
