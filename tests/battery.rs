//! The battery: every method × precision × small matrix × number of threads × α and β, and bugs
//! planted on purpose that must be found out.

use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use proptest::prelude::*;
use spmv_bench::bench::clock::FakeClock;
use spmv_bench::bench::execute::Bench;
use spmv_bench::bench::outcome::Outcome;
use spmv_bench::bench::plan::{Protocol, Settings};
use spmv_bench::matrix::Csr;
use spmv_bench::method::{Code, Failed, Method, Prepared, Request, Unavailable};
use spmv_bench::methods::METHODS;
use spmv_bench::methods::vendor::mkl::mkl;
use spmv_bench::scalar::Scalar;
use spmv_bench::team::Team;
use spmv_bench::verify::Reference;

type Triplet = (usize, usize, f64);

const THREADS: [usize; 4] = [1, 2, 3, 7];
/// (α, β): the plain product, y left alone but for a sign, and all terms at once.
const FACTORS: [(f64, f64); 4] = [(1.0, 0.0), (-1.5, 0.0), (1.0, 1.0), (2.5, -0.5)];

/// Small matrices, each named for the bug it finds.
fn matrices() -> Vec<(&'static str, usize, usize, Vec<Triplet>)> {
    let value = |row: usize, col: usize| ((row * 7 + col * 3) % 11) as f64 - 4.5;
    let entries = |cells: Vec<(usize, usize)>| {
        cells.into_iter().map(|(row, col)| (row, col, value(row, col))).collect::<Vec<_>>()
    };
    let full = |rows: usize, cols: usize| {
        entries((0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))).collect())
    };
    let rows_of = |rows: &[usize], length: usize| {
        entries(
            rows.iter().flat_map(|&r| (0..length).map(move |c| (r, (c * 3 + r) % 20))).collect(),
        )
    };
    let mut one_long = full(1, 200);
    one_long.extend(entries((1..30).map(|row| (row, row)).collect()));
    let mut long_in_the_middle = entries((0..40).filter(|&r| r != 20).map(|r| (r, r)).collect());
    long_in_the_middle.extend(entries((0..300).map(|col| (20, col)).collect()));
    vec![
        ("0 x 0", 0, 0, vec![]),
        ("no rows", 0, 5, vec![]),
        ("no columns", 5, 0, vec![]),
        ("no nonzeros", 6, 4, vec![]),
        ("1 x 1", 1, 1, full(1, 1)),
        ("one row", 1, 50, full(1, 50)),
        ("one column", 50, 1, full(50, 1)),
        ("first rows empty", 20, 20, rows_of(&[3, 4, 19], 5)),
        ("middle rows empty", 20, 20, rows_of(&[0, 1, 18, 19], 6)),
        ("last rows empty", 20, 20, rows_of(&[0, 7, 8], 9)),
        ("first row longer than all others together", 30, 200, one_long),
        ("middle row longer than all others together", 40, 300, long_in_the_middle),
        ("tall", 500, 3, full(500, 3)),
        ("wide", 3, 500, full(3, 500)),
        ("diagonal", 64, 64, entries((0..64).map(|k| (k, k)).collect())),
        ("more threads than rows", 2, 10, full(2, 10)),
        ("more threads than nonzeros", 9, 9, entries(vec![(1, 2), (7, 0)])),
        (
            "every row length up to 40",
            40,
            40,
            entries(
                (0..40).flat_map(|row| (0..=row).map(move |col| (row, (col * 7) % 40))).collect(),
            ),
        ),
        ("explicit zeros", 3, 3, vec![(0, 0, 0.0), (1, 1, 2.0), (1, 2, 0.0)]),
    ]
}

/// A vector without zeros or repetitions, so that a wrong column shows.
fn vector<T: Scalar>(len: usize, phase: f64) -> Vec<T> {
    (0..len).map(|k| T::narrow((k as f64 * 0.731 + phase).sin() + 0.01)).collect()
}

/// One product of one method; panics when it is wrong. A method may only be unavailable when a
/// library is absent, or refuses a matrix without rows or columns.
fn check<T: Scalar>(method: &Method, csr: &Csr<T>, team: &Team, alpha: f64, beta: f64) {
    let request = Request { team, alpha, beta, expected_products: 10, given: &[] };
    let mut prepared = match method.prepare::<T>().unwrap()(csr, &request) {
        Ok(prepared) => prepared,
        Err(Unavailable(reason)) => {
            let library = method.name.starts_with("mkl");
            assert!(
                library && (mkl().is_err() || csr.rows() * csr.cols() == 0),
                "{}: {reason}",
                method.name
            );
            return;
        }
    };
    let (alpha, beta) = (T::narrow(alpha), T::narrow(beta));
    let x = vector(csr.cols(), 0.3);
    let y0 = if beta == T::zero() { vec![T::nan(); csr.rows()] } else { vector(csr.rows(), 1.7) };
    let reference = Reference::new(csr, alpha, &x, beta, &y0);
    // Twice: what a product leaves behind must not spoil the next.
    for _ in 0..2 {
        let mut y = y0.clone();
        prepared.multiply(alpha, &x, beta, &mut y).unwrap();
        let verdict = reference.judge(&y);
        assert!(verdict.passes(), "{}", verdict.describe());
    }
}

fn for_all_methods<T: Scalar>(csr: &Csr<T>, name: &str, teams: &[Team]) {
    for method in METHODS {
        for team in teams {
            for (alpha, beta) in FACTORS {
                eprintln!(
                    "{} in {} on {name}, {} threads, α {alpha}, β {beta}",
                    method.name,
                    T::PRECISION.name(),
                    team.len()
                );
                check(method, csr, team, alpha, beta);
            }
        }
    }
}

#[test]
fn every_method_is_right_on_every_small_matrix() {
    if let Err(Unavailable(reason)) = mkl() {
        // Past the test runner, which keeps back what a passing test prints.
        let _ = writeln!(std::io::stderr(), "the MKL methods are skipped: {reason}");
    }
    let teams = THREADS.map(Team::floating);
    for (name, rows, cols, triplets) in matrices() {
        for_all_methods(&Csr::<f64>::from_triplets(rows, cols, &triplets), name, &teams);
        for_all_methods(&Csr::<f32>::from_triplets(rows, cols, &triplets), name, &teams);
    }
}

#[test]
fn the_list_is_sound() {
    for (index, method) in METHODS.iter().enumerate() {
        let name = method.name;
        assert!(METHODS[..index].iter().all(|other| other.name != name), "{name} twice");
        assert!(!method.source.is_empty() && !method.summary.is_empty(), "{name}");
        let stem = name.trim_end_matches("-opt").replace('-', "_");
        let file =
            |room: &str| format!("{}/src/methods/{room}/{stem}.rs", env!("CARGO_MANIFEST_DIR"));
        let exists =
            ["cpu", "vendor"].iter().any(|room| std::path::Path::new(&file(room)).exists());
        assert!(exists, "{name} has no file of its name");
    }
}

/// A NaN in x must reach only the rows that use it, although registers are filled beyond a row's end.
#[test]
fn nan_stays_in_its_rows() {
    let triplets: Vec<_> =
        (0..50).flat_map(|row| (0..row % 9).map(move |k| (row, 2 * k + row % 2, 1.0))).collect();
    let csr = Csr::<f64>::from_triplets(50, 20, &triplets);
    let mut x = vec![1.0; 20];
    (0..20).step_by(2).for_each(|even| x[even] = f64::NAN);
    let team = Team::floating(3);
    for method in METHODS.iter().filter(|method| !method.name.starts_with("mkl")) {
        let request =
            Request { team: &team, alpha: 1.0, beta: 0.0, expected_products: 1, given: &[] };
        let mut prepared = method.prepare::<f64>().unwrap()(&csr, &request).unwrap();
        let mut y = vec![0.0; 50];
        prepared.multiply(1.0, &x, 0.0, &mut y).unwrap();
        for (row, y) in y.iter().enumerate() {
            let uses_nan = row % 2 == 0 && row % 9 > 0;
            assert_eq!(y.is_nan(), uses_nan, "{} row {row}", method.name);
        }
    }
}

/// A method that computes with `product` and is named for its bug.
fn planted(name: &'static str, prepare_f64: spmv_bench::method::Prepare<f64>) -> Method {
    let code = Code::Cpu { parallel: false, f64: prepare_f64, f32: |_, _| unreachable!() };
    Method { name, code, ..spmv_bench::methods::cpu::seq::METHOD }
}

/// Row by row with `row_sum`, then `after` on y.
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
    let bench = Bench {
        team: &Team::floating(1),
        clock: &FakeClock::new(Duration::from_micros(3)),
        interrupted: &AtomicBool::new(false),
        settings: &Settings { iterations: Some(20), ..Settings::new(Protocol::MergeSpmv) },
    };
    bench.measure(&csr, &[method.into()]).unwrap().outcomes.remove(0)
}

#[test]
fn planted_bugs_come_out_wrong() {
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

/// A random matrix as triplets without duplicates, in sprs's own CSR and ours.
fn random_matrix() -> impl Strategy<Value = (usize, usize, Vec<Triplet>)> {
    (1usize..60, 1usize..60).prop_flat_map(|(rows, cols)| {
        let cells = prop::collection::btree_map((0..rows, 0..cols), -1e3..1e3f64, 0..400);
        let triplets =
            cells.prop_map(|cells| cells.into_iter().map(|((r, c), v)| (r, c, v)).collect());
        (Just(rows), Just(cols), triplets)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_matrices_agree_with_sprs((rows, cols, triplets) in random_matrix(), threads in 1usize..6) {
        let csr = Csr::<f64>::from_triplets(rows, cols, &triplets);
        let mut entries = sprs::TriMat::new((rows, cols));
        triplets.iter().for_each(|&(row, col, value)| entries.add_triplet(row, col, value));
        let x: Vec<f64> = vector(cols, 0.3);
        let mut expected = vec![0.0; rows];
        sprs::prod::mul_acc_mat_vec_csr(entries.to_csr::<usize>().view(), &x, &mut expected);
        let reference = Reference::new(&csr, 1.0, &x, 0.0, &[]);
        prop_assert!(reference.judge(&expected).passes(), "sprs against the reference");
        let team = Team::floating(threads);
        for method in METHODS {
            check(method, &csr, &team, 1.0, 0.0);
            check(method, &csr, &team, 0.5, 2.0);
        }
    }
}
