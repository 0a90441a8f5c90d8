//! Methods with planted bugs, which the benchmark must report as wrong.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use spmv_bench::bench::clock::FakeClock;
use spmv_bench::bench::event::Event;
use spmv_bench::bench::execute::{self, Bench};
use spmv_bench::bench::problem::Problem;
use spmv_matrix::Csr;
use spmv_methods::cpu::seq;
use spmv_methods::method::{Choice, Code, Method, Prepared};
use spmv_methods::team::Team;
use spmv_results::matrix::Group;
use spmv_results::row::{Row, Status};
use spmv_results::settings::{Protocol, Settings};

/// Computes y, given the matrix, x, y, and the number of products that came before.
type Product = fn(&Csr<f64>, &[f64], &mut [f64], usize);

thread_local! {
    /// The product of the method, which is thread-local because a method is a function pointer.
    static PRODUCT: Cell<Product> = const { Cell::new(|_, _, _, _| ()) };
}

fn row_of(product: Product) -> Row {
    PRODUCT.set(product);
    let code = Code::Cpu {
        parallel: false,
        f64: |csr, _| {
            let mut before = 0;
            Ok(Prepared::new(csr, 0, move |_, x, _, y| {
                PRODUCT.get()(csr, x, y, before);
                before += 1;
                Ok(())
            }))
        },
        f32: |_, _| unreachable!("only f64 is measured"),
    };
    let method = Method { code, ..seq::METHOD };
    // Row 5 is empty.
    let entry = |row: usize, k: usize| (row, (k * 11 + row) % 97, 1.0 / (k + row + 1) as f64);
    let rows = (0..40).filter(|&row| row != 5);
    let triplets: Vec<_> = rows.flat_map(|row| (0..30).map(move |k| entry(row, k))).collect();
    let csr = Csr::<f64>::from_triplets(40, 97, &triplets);
    let settings = Settings { iterations: Some(20), ..Settings::new(Protocol::MergeSpmv) };
    let (team, clock) = (Team::floating(1), FakeClock::new(Duration::from_micros(3)));
    let result = RefCell::new(None);
    let emit = |event| {
        if let Event::Row(row, _) = event {
            result.replace(Some(*row));
        }
    };
    let bench = Bench { emit: &emit, ..Bench::new(&team, &clock, &settings) };
    let (cells, mut group) = ([execute::Cell::from(Choice::from(&method))], Group::of(vec![]));
    Problem::of(&csr, &settings).on_host(&bench, &cells, &mut group).unwrap();
    result.take().unwrap()
}

/// Returns the products that are summed in a row.
fn terms<'a>(csr: &'a Csr<f64>, row: usize, x: &'a [f64]) -> impl DoubleEndedIterator<Item = f64> + 'a {
    csr.row(row).map(|k| csr.values()[k] * x[csr.column_indices()[k] as usize])
}

fn sum(csr: &Csr<f64>, row: usize, x: &[f64]) -> f64 {
    terms(csr, row, x).sum()
}

#[test]
fn planted_bugs_are_reported_as_wrong() {
    let bugs: [(_, Product); 8] = [
        ("skips a row", |csr, x, y, _| {
            (0..y.len()).filter(|&row| row != 17).for_each(|row| y[row] = sum(csr, row, x));
        }),
        ("leaves empty rows unwritten", |csr, x, y, _| {
            let is_empty = |row: &usize| csr.row(*row).is_empty();
            (0..y.len()).filter(|row| !is_empty(row)).for_each(|row| y[row] = sum(csr, row, x));
        }),
        ("adds to a stale y", |csr, x, y, _| {
            let stale = |y: f64| if y.is_nan() { 0.0 } else { y };
            (0..y.len()).for_each(|row| y[row] = stale(y[row]) + sum(csr, row, x));
        }),
        ("computes only the first time", |csr, x, y, before| {
            (0..y.len()).filter(|_| before == 0).for_each(|row| y[row] = sum(csr, row, x));
        }),
        ("off by one column", |csr, x, y, _| {
            let shifted = [&x[1..], &x[..1]].concat();
            (0..y.len()).for_each(|row| y[row] = sum(csr, row, &shifted));
        }),
        ("loses the last nonzero of a row", |csr, x, y, _| {
            (0..y.len()).for_each(|row| y[row] = terms(csr, row, x).rev().skip(1).sum());
        }),
        ("accumulates f64 in f32", |csr, x, y, _| {
            let sum = |row| terms(csr, row, x).map(|term| term as f32).sum::<f32>();
            (0..y.len()).for_each(|row| y[row] = f64::from(sum(row)));
        }),
        ("writes one NaN", |csr, x, y, _| {
            (0..y.len()).for_each(|row| y[row] = sum(csr, row, x));
            y[39] = f64::NAN;
        }),
    ];
    for (bug, product) in bugs {
        let row = row_of(product);
        assert_eq!(row.status, Some(Status::Wrong), "{bug}: {row:?}");
    }
}

#[test]
fn another_order_of_summation_is_ok() {
    let reversed: Product = |csr, x, y, _| {
        (0..y.len()).for_each(|row| y[row] = terms(csr, row, x).rev().sum());
    };
    assert!(row_of(reversed).is_ok());
}

#[test]
fn a_panic_is_a_failure_of_the_method_alone() {
    let panics: Product = |_, _, _, _| panic!("row {}", 3);
    let Row { status, reason, .. } = row_of(panics);
    assert_eq!((status, reason.text()), (Some(Status::Failed), Some("panicked: row 3")));
}
