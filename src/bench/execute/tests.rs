//! The order of events and the exact times, on a clock that the methods advance.

use std::cell::RefCell;

use super::*;
use crate::bench::clock::FakeClock;
use crate::bench::plan::{Cache, Protocol};
use crate::matrix::order::Permutation;
use crate::method::{Code, Method, Prepare};
use crate::methods::cpu::seq;

thread_local! {
    /// The clock that the test's methods advance, since a `Prepare` captures nothing.
    static CLOCK: FakeClock = FakeClock::default();
    /// The products in the order in which they ran.
    static LOG: RefCell<String> = const { RefCell::new(String::new()) };
}

struct TestClock;

impl Clock for TestClock {
    fn now(&self) -> Duration {
        CLOCK.with(FakeClock::now)
    }
    fn pause(&self, time: Duration) {
        CLOCK.with(|clock| clock.pause(time));
    }
}

/// 5 ms of setup, 2 ms per product of zeros.
fn prepare<'a>(csr: &'a Csr<f64>, letter: char) -> Result<Prepared<'a, f64>, Unavailable> {
    TestClock.pause(Duration::from_millis(5));
    LOG.with_borrow_mut(|log| log.push('|'));
    Ok(Prepared::new(csr, 40, move |_, _, _, y| {
        TestClock.pause(Duration::from_millis(2));
        LOG.with_borrow_mut(|log| log.push(letter));
        y.fill(0.0);
        Ok(())
    }))
}

fn method(f64: Prepare<f64>) -> Method {
    Method { code: Code::Cpu { parallel: false, f64, f32: |_, _| unreachable!() }, ..seq::METHOD }
}

fn measure(settings: Settings) -> (Report, String) {
    LOG.take();
    let csr = Csr::<f64>::from_triplets(3, 3, &[]);
    let bench = Bench {
        team: &Team::floating(1),
        clock: &TestClock,
        interrupted: &AtomicBool::new(false),
        settings: &settings,
    };
    let (a, b) = (method(|csr, _| prepare(csr, 'a')), method(|csr, _| prepare(csr, 'b')));
    (Trial::new(&bench, &csr).on_host(&[(&a).into(), (&b).into()]).unwrap(), LOG.take())
}

fn settings() -> Settings {
    let default = Settings::new(Protocol::MergeSpmv);
    Settings { iterations: Some(6), warmups: 1, rounds: 2, ..default }
}

fn measurement(report: &Report) -> &Measurement {
    let Outcome::Ok(measurement) = &report.outcomes[0] else { panic!("{report:?}") };
    measurement
}

#[test]
fn methods_take_turns_and_times_are_exact() {
    let (report, log) = measure(settings());
    // Prepare and verify each; then two rounds of one warm-up and three products each.
    assert_eq!(log, "|a|baaaabbbbaaaabbbb");
    let measured = measurement(&report);
    assert!((measured.setup_ms - 5.0).abs() < 1e-9);
    assert_eq!((measured.summary.samples, measured.summary.iterations), (6, 6));
    assert!((measured.summary.mean_ms - 2.0).abs() < 1e-9);
    assert!(measured.summary.std_dev_ms.unwrap() < 1e-9);
    assert_eq!((measured.extra_bytes, measured.error_ratio), (Some(40), 0.0));
}

#[test]
fn one_round_keeps_one_method_at_a_time() {
    let (_, log) = measure(Settings { rounds: 1, iterations: Some(2), ..settings() });
    assert_eq!(log, "|aaaa|bbbb");
}

#[test]
fn time_bounds_hold_over_the_count() {
    let millis = Duration::from_millis;
    let bounded = Settings { max_time: millis(8), iterations: Some(1000), ..settings() };
    assert_eq!(measurement(&measure(bounded).0).summary.iterations, 4);
    let extended = Settings { min_time: millis(40), ..settings() };
    assert_eq!(measurement(&measure(extended).0).summary.iterations, 20);
}

#[test]
fn cold_samples_are_single_products_and_beta_feeds_back_fresh_values() {
    let cold = Settings { cache: Cache::Cold, ..settings() };
    assert_eq!(measurement(&measure(cold).0).summary.samples, 6);
    // β = 1: zeros are wrong, y0 is right.
    let (report, _) = measure(Settings { beta: 1.0, ..settings() });
    assert!(matches!(report.outcomes[0], Outcome::Wrong { .. }));
}

#[test]
fn an_interrupt_ends_the_measurement() {
    let csr = Csr::<f64>::from_triplets(3, 3, &[]);
    let bench = Bench {
        team: &Team::floating(1),
        clock: &TestClock,
        interrupted: &AtomicBool::new(true),
        settings: &settings(),
    };
    assert_eq!(Trial::new(&bench, &csr).on_host(&[(&seq::METHOD).into()]), Err(Interrupted));
}

/// Vectors and results are the natural matrix', so a wrong matrix shows, whatever its own product is.
#[test]
fn a_matrix_that_was_permuted_wrongly_is_found_out() {
    let triplets = [(0, 0, 1.0), (0, 2, 2.0), (1, 2, 3.0), (2, 0, 4.0)];
    let natural = Csr::<f64>::from_triplets(3, 3, &triplets);
    let permutation = Permutation::new(vec![2, 0, 1]).unwrap();
    for beta in [0.0, 2.0] {
        let settings = Settings { beta, ..settings() };
        let bench = Bench {
            team: &Team::floating(1),
            clock: &TestClock,
            interrupted: &AtomicBool::new(false),
            settings: &settings,
        };
        let is_right = |csr: &Csr<f64>| {
            let trial = Trial::reordered(&bench, &natural, csr, &permutation);
            let report = trial.on_host(&[(&seq::METHOD).into()]).unwrap();
            matches!(report.outcomes[0], Outcome::Ok(_))
        };
        assert!(is_right(&natural.permuted(&permutation)));
        assert!(!is_right(&natural));
        let inverse = Permutation::new(vec![1, 2, 0]).unwrap();
        assert!(!is_right(&natural.permuted(&inverse)));
    }
}

#[test]
fn the_occupancy_is_that_of_the_longest_kernel() {
    let stage = |ms, occupancy| Stage { name: String::new(), ms, occupancy };
    let stages = [stage(1.0, Some(0.5)), stage(2.0, Some(0.25)), stage(3.0, None)];
    assert_eq!(occupancy(&stages), Some(0.25));
    assert_eq!(occupancy(&stages[2..]), None);
}
