//! Methods with planted bugs, which the benchmark must report as wrong.

use std::time::Duration;

use spmv_bench::bench::clock::FakeClock;
use spmv_bench::bench::execute::Bench;
use spmv_bench::bench::outcome::Outcome;
use spmv_bench::bench::plan::{Protocol, Settings};
use spmv_bench::bench::problem::Problem;
use spmv_matrix::Csr;
use spmv_methods::method::{Code, Failed, Method, Prepared, Unavailable};
use spmv_methods::team::Team;

/// Returns a method with a bug, after which it is named.
fn planted(name: &'static str, prepare_f64: spmv_methods::method::Prepare<f64>) -> Method {
    let code = Code::Cpu { parallel: false, f64: prepare_f64, f32: |_, _| unreachable!() };
    Method { name, code, ..spmv_methods::cpu::seq::METHOD }
}

/// Computes the rows one by one with `row_sum`, then calls `after` with y and the sums.
fn rows<'a>(
    csr: &'a Csr<f64>,
    row_sum: fn(&Csr<f64>, usize, &[f64]) -> f64,
    mut after: impl FnMut(&mut [f64], Vec<f64>) -> Result<(), Failed> + 'a,
) -> Result<Prepared<'a, f64>, Unavailable> {
    Ok(Prepared::new(csr, 0, move |_, x, _, y| {
        let sums = (0..csr.rows()).map(|row| row_sum(csr, row, x)).collect();
        after(y, sums)
    }))
}

fn right(csr: &Csr<f64>, row: usize, x: &[f64]) -> f64 {
    csr.row(row).map(|k| csr.values()[k] * x[csr.column_indices()[k] as usize]).sum()
}

fn store(y: &mut [f64], sums: Vec<f64>) -> Result<(), Failed> {
    y.copy_from_slice(&sums);
    Ok(())
}

fn outcome_of(method: &Method) -> Outcome {
    // Row 5 is empty.
    let triplets: Vec<_> = (0..40)
        .filter(|&row| row != 5)
        .flat_map(|row| {
            (0..30).map(move |k| (row, (k * 11 + row) % 97, 1.0 / (k + row + 1) as f64))
        })
        .collect();
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
            rows(csr, right, |y, sums| {
                (0..y.len()).filter(|&row| row != 17).for_each(|row| y[row] = sums[row]);
                Ok(())
            })
        }),
        planted("leaves empty rows unwritten", |csr, _| {
            rows(csr, right, |y, sums| {
                y.iter_mut().zip(sums).filter(|(_, sum)| *sum != 0.0).for_each(|(y, sum)| *y = sum);
                Ok(())
            })
        }),
        planted("adds to a stale y", |csr, _| {
            rows(csr, right, |y, sums| {
                let stale = |y: f64| if y.is_nan() { 0.0 } else { y };
                y.iter_mut().zip(sums).for_each(|(y, sum)| *y = stale(*y) + sum);
                Ok(())
            })
        }),
        planted("computes only the first time", |csr, _| {
            let mut first = true;
            rows(
                csr,
                right,
                move |y, sums| if std::mem::take(&mut first) { store(y, sums) } else { Ok(()) },
            )
        }),
        planted("off by one column", |csr, _| {
            let sum = |csr: &Csr<f64>, row, x: &[f64]| {
                let next = |k: usize| (csr.column_indices()[k] as usize + 1) % x.len();
                csr.row(row).map(|k| csr.values()[k] * x[next(k)]).sum()
            };
            rows(csr, sum, store)
        }),
        planted("loses the last nonzero of a row", |csr, _| {
            let sum = |csr: &Csr<f64>, row, x: &[f64]| {
                let range = csr.row(row);
                let range = range.start..range.end - 1;
                range.map(|k| csr.values()[k] * x[csr.column_indices()[k] as usize]).sum()
            };
            rows(csr, sum, store)
        }),
        planted("accumulates f64 in f32", |csr, _| {
            let sum = |csr: &Csr<f64>, row, x: &[f64]| {
                let product = |k: usize| csr.values()[k] * x[csr.column_indices()[k] as usize];
                f64::from(csr.row(row).map(|k| product(k) as f32).sum::<f32>())
            };
            rows(csr, sum, store)
        }),
        planted("writes one NaN", |csr, _| {
            rows(csr, right, |y, sums| {
                store(y, sums)?;
                y[39] = f64::NAN;
                Ok(())
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
        let sum = |csr: &Csr<f64>, row, x: &[f64]| {
            csr.row(row).rev().map(|k| csr.values()[k] * x[csr.column_indices()[k] as usize]).sum()
        };
        rows(csr, sum, store)
    });
    assert!(matches!(outcome_of(&reversed), Outcome::Ok(_)));
}

#[test]
fn errors_and_panics_are_failures_of_the_method_alone() {
    let fails = planted("fails", |csr, _| rows(csr, right, |_, _| Err(Failed("status 4".into()))));
    assert_eq!(outcome_of(&fails), Outcome::Failed("status 4".into()));
    let panics = planted("panics", |csr, _| rows(csr, right, |_, _| panic!("row {}", 3)));
    assert_eq!(outcome_of(&panics), Outcome::Failed("panicked: row 3".into()));
    let absent = planted("absent", |_, _| Err(Unavailable("not here".into())));
    assert_eq!(outcome_of(&absent), Outcome::Skipped("not here".into()));
}
