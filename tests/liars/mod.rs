//! Tests that methods are found wrong if they compute only the products that they believe are verified.

mod fakes;
mod liar;

use std::cell::Cell;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::support::all;
use liar::{HONEST, Liar, Otherwise, When, row};
use spmv_bench::bench::inputs::replace_values;
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_results::row::{Row, Status};
use spmv_results::settings::{Protocol, Settings, Values};

/// Returns a different number for every measurement of a test. Every test has a thread of its own and therefore the
/// same sequence in every run: in a short measurement, a liar escapes detection with a small probability.
fn entropy() -> u64 {
    thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(1) };
    }
    NEXT.replace(NEXT.get() + 1)
}

fn matrix() -> Csr<f64> {
    Generator::parse("uniform,rows=200,nnz=2000").unwrap().generate().unwrap()
}

fn settings() -> Vec<Settings> {
    let hot = Settings { iterations: Some(1000), ..Settings::new(Protocol::MergeSpmv) };
    vec![
        Settings { beta: 0.5, ..hot.clone() },
        Settings { warmups: 0, rounds: 1, iterations: Some(20), ..hot.clone() },
        hot,
    ]
}

fn rows(when: &[When], otherwise: Otherwise) -> Vec<Row> {
    let liar = Liar { when: when.to_vec(), otherwise };
    let of = |settings: &Settings| row(liar.clone(), &matrix(), settings, entropy);
    settings().iter().map(of).collect()
}

#[test]
fn a_method_that_computes_every_product_is_accepted() {
    for row in rows(&[When::Multiple(1)], Otherwise::Nothing) {
        let ms = row.avg_spmv_ms.unwrap_or_else(|| panic!("{row:?}"));
        assert!((ms / (1e3 * HONEST.as_secs_f64()) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_method_that_computes_only_when_it_detects_verification_is_wrong() {
    let tricks: [(&[When], Otherwise); 13] = [
        (&[When::Nan(0)], Otherwise::Nothing),
        (&[When::Nan(0), When::Nan(7), When::XChanged(0)], Otherwise::Nothing),
        (&[When::YChanged(0)], Otherwise::Nothing),
        (&[When::YChanged(0), When::XChanged(0)], Otherwise::Nothing),
        (&[When::AnyChange], Otherwise::Nothing),
        (&[When::NewX], Otherwise::Nothing),
        (&[When::NewX, When::YChanged(0)], Otherwise::Nothing),
        (&[When::First(1)], Otherwise::Nothing),
        (&[When::First(8), When::Nan(0)], Otherwise::Nothing),
        (&[], Otherwise::Nothing),
        // It is right in some products only.
        (&[When::Multiple(2)], Otherwise::Zero),
        (&[When::Multiple(3)], Otherwise::Zero),
        (&[When::Multiple(4)], Otherwise::Zero),
    ];
    for (when, otherwise) in tricks {
        for row in rows(when, otherwise) {
            assert_eq!(row.status, Some(Status::Wrong), "{when:?}, {otherwise:?}: {row:?}");
        }
    }
}

/// Such a method never returns a wrong result. With β ≠ 0 the first one recalls wrong ones.
#[test]
fn a_method_that_saves_work_by_what_it_remembers_is_wrong() {
    let tricks: [(&[When], Otherwise); 3] = [
        (&[When::NewX], Otherwise::Recall),
        (&[When::NewX], Otherwise::RecallSlowly),
        (&[], Otherwise::Update),
    ];
    for (when, otherwise) in tricks {
        for row in rows(when, otherwise) {
            assert_eq!(row.status, Some(Status::Wrong), "{otherwise:?}: {row:?}");
            let reason = row.reason.text().unwrap();
            assert!(reason.contains("with a new x") || reason.contains("expected"), "{reason}");
        }
    }
}

#[test]
fn what_a_method_prepares_in_its_first_product_is_setup() {
    let late_ms = 1e3 * liar::LATE_SETUP.as_secs_f64();
    for row in rows(&[], Otherwise::PrepareLate) {
        assert!((row.setup_ms.unwrap() - late_ms).abs() < 1e-6, "{row:?}");
        assert!(row.reason.text().unwrap().contains("setup includes 100.000 ms"));
    }
}

#[test]
fn values_of_lower_precision_are_remarked_upon() {
    let matrix = Generator::parse("dense,cols=4096,nnz=32768").unwrap().generate().unwrap();
    let honest = Settings { values: Values::Random, ..Settings::new(Protocol::MergeSpmv) };
    let settings = Settings { iterations: Some(10), ..honest };
    for (otherwise, is_short) in [(Otherwise::Shorten, true), (Otherwise::PrepareLate, false)] {
        let mut csr = matrix.clone();
        replace_values(&settings, &mut csr);
        let row = row(Liar { when: vec![], otherwise }, &csr, &settings, entropy);
        assert!(row.is_ok(), "{row:?}");
        let note = row.reason.text().unwrap_or_default();
        assert_eq!(note.contains("less accurate than its precision explains"), is_short, "{note}");
    }
}

/// `scripts/test --all` has more of them.
#[test]
fn random_liars_do_not_appear_much_faster() {
    for seed in 0..if all() { 200 } else { 50 } {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let bytes: Vec<u8> = (0..9).map(|_| random.random()).collect();
        liar::check(&bytes);
    }
}
