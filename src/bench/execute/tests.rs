//! Tests the order of events and the exact times, with a clock that the methods advance.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::bench::clock::{Clock, ThreadClock};
use crate::bench::outcome::Measurement;
use crate::bench::problem::{Problem, Reordered};
use spmv_matrix::Csr;
use spmv_matrix::order::Permutation;
use spmv_matrix::system::energy::Rapl;
use spmv_methods::cpu::seq;
use spmv_methods::method::{Code, Method, Prepare, Prepared, Unavailable};
use spmv_methods::team::Team;
use spmv_results::matrix::group::Reordering;
use spmv_results::settings::{CacheState, Protocol, Settings};

thread_local! {
    /// One character per preparation (`|`) and per product, in the order in which they ran.
    static LOG: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Prepares a method with 5 ms of setup and 2 ms per product, which fills y with zeros.
fn prepare<'a>(csr: &'a Csr<f64>, letter: char) -> Result<Prepared<'a, f64>, Unavailable> {
    ThreadClock.pause(Duration::from_millis(5));
    LOG.with_borrow_mut(|log| log.push('|'));
    Ok(Prepared::new(csr, 40, move |_, _, _, y| {
        ThreadClock.pause(Duration::from_millis(2));
        LOG.with_borrow_mut(|log| log.push(letter));
        y.fill(0.0);
        Ok(())
    }))
}

fn method(f64: Prepare<f64>) -> Method {
    Method { code: Code::Cpu { parallel: false, f64, f32: |_, _| unreachable!() }, ..seq::METHOD }
}

fn measure(settings: Settings) -> (Results, String) {
    measure_methods(settings, |csr, _| prepare(csr, 'a'))
}

/// Measures the method `first` and a second one, the steady `b`.
fn measure_methods(settings: Settings, first: Prepare<f64>) -> (Results, String) {
    measure_all(settings, &[method(first), method(|csr, _| prepare(csr, 'b'))])
}

fn measure_all(settings: Settings, methods: &[Method]) -> (Results, String) {
    LOG.take();
    let csr = Csr::<f64>::from_triplets(3, 3, &[]);
    let team = Team::floating(1);
    let bench = Bench::new(&team, &ThreadClock, &settings);
    let choices: Vec<_> = methods.iter().map(Choice::from).collect();
    (Problem::of(&csr, &settings).on_host(&bench, &choices).unwrap(), LOG.take())
}

/// Returns the sequence of turns: successive products of one method are reduced to one character.
fn turns(log: &str) -> String {
    let mut turns: Vec<char> = log.chars().collect();
    turns.dedup();
    turns.into_iter().collect()
}

fn settings() -> Settings {
    let default = Settings::new(Protocol::MergeSpmv);
    Settings { iterations: Some(6), warmups: 1, rounds: 2, ..default }
}

fn measurement(report: &Results) -> &Measurement {
    let Outcome::Ok(measurement) = &report.outcomes[0] else { panic!("{report:?}") };
    measurement
}

#[test]
fn methods_take_turns_and_times_are_exact() {
    let (report, log) = measure(settings());
    // Each method is prepared and multiplies on a small matrix, then on this one; then two rounds follow.
    assert_eq!(turns(&log), "|a|a|b|babab");
    // The product on the small matrix initialises libraries, which is not part of the setup.
    let measured = measurement(&report);
    assert!((measured.setup_ms - 5.0).abs() < 1e-9);
    assert_eq!((measured.summary.samples, measured.summary.iterations), (6, 6));
    assert!((measured.summary.mean_ms - 2.0).abs() < 1e-9);
    assert!(measured.summary.std_dev_ms.unwrap() < 1e-9);
    assert_eq!((measured.extra_bytes, measured.error_ratio), (Some(40), 0.0));
}

#[test]
fn with_one_round_only_one_method_is_prepared_at_a_time() {
    let (_, log) = measure(Settings { rounds: 1, iterations: Some(2), ..settings() });
    assert_eq!(turns(&log), "|a|a|b|b");
}

/// Multiplies by the matrix that moves each element of x to the row before. What a chain of products leaves is correct
/// only if each of them has multiplied the result of the one before.
#[test]
fn products_of_the_power_protocol_multiply_the_results_before_them() {
    let csr = Csr::<f64>::from_triplets(3, 3, &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]);
    let run = |prepare: Prepare<f64>| {
        let settings = Settings { protocol: Protocol::Power, iterations: Some(9), ..settings() };
        let team = Team::floating(1);
        let bench = Bench::new(&team, &ThreadClock, &settings);
        let method = method(prepare);
        let choices = [Choice::from(&method)];
        Problem::of(&csr, &settings).on_host(&bench, &choices).unwrap()
    };
    // It takes 2 ms with the usual x, and 3 ms with a result.
    let moves: Prepare<f64> = |csr, _| {
        let mut usual = None;
        Ok(Prepared::new(csr, 0, move |_, x, _, y| {
            let is_usual = x.as_ptr().addr() == *usual.get_or_insert(x.as_ptr().addr());
            ThreadClock.pause(Duration::from_millis(if is_usual { 2 } else { 3 }));
            let last = x.len() - 1;
            y[..last].copy_from_slice(&x[1..]);
            y[last] = x[0];
            Ok(())
        }))
    };
    let results = run(moves);
    let summary = &measurement(&results).summary;
    // Five products per round are asked for; samples are whole chains.
    assert_eq!(summary.iterations % 4, 0);
    let times = [Some(summary.median_ms), summary.independent_ms];
    assert_eq!(times.map(|ms| ms.map(|ms| (1e3 * ms).round())), [Some(2750.0), Some(2000.0)]);
    let remembers: Prepare<f64> = |csr, _| {
        let mut first = Vec::new();
        Ok(Prepared::new(csr, 0, move |_, x, _, y| {
            ThreadClock.pause(Duration::from_millis(2));
            if first.len() != x.len() {
                first = [&x[1..], &x[..1]].concat();
            }
            y.copy_from_slice(&first);
            Ok(())
        }))
    };
    let outcome = &run(remembers).outcomes[0];
    assert!(matches!(outcome, Outcome::Wrong { .. }), "{outcome:?}");
}

/// Prepares a method with 2 ms per product, but 6 ms for every other one of the first `noisy` products. The first ten
/// products fill y with negative zeros.
fn unsteady<'a>(csr: &'a Csr<f64>, noisy: usize) -> Result<Prepared<'a, f64>, Unavailable> {
    let mut products = 0;
    Ok(Prepared::new(csr, 0, move |_, _, _, y| {
        // About half of the products, at irregular places.
        let is_slow = (products as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0;
        let extra = if products < noisy && is_slow { 4 } else { 0 };
        ThreadClock.pause(Duration::from_millis(2 + extra));
        LOG.with_borrow_mut(|log| log.push('u'));
        y.fill(if products < 10 { -0.0 } else { 0.0 });
        products += 1;
        Ok(())
    })
    .with_note("first"))
}

/// Each product takes 2 ms, in which the fake counter counts 0.1 J: 50 W. It begins again at 2 J, in about every other
/// turn.
#[test]
fn the_power_is_that_of_intervals_with_enough_updates() {
    thread_local! {
        static COUNTER: RefCell<(PathBuf, u64)> = const { RefCell::new((PathBuf::new(), 0)) };
    }
    fn count(microjoules: u64) {
        COUNTER.with_borrow_mut(|(zone, counted)| {
            *counted = (*counted + microjoules) % 2_000_000;
            fs::write(zone.join("energy_uj"), counted.to_string()).unwrap();
        });
    }
    fn prepare_counted(csr: &Csr<f64>) -> Result<Prepared<'_, f64>, Unavailable> {
        Ok(Prepared::new(csr, 0, |_, _, _, y| {
            ThreadClock.pause(Duration::from_millis(2));
            count(100_000);
            y.fill(0.0);
            Ok(())
        }))
    }
    let folder = tempfile::tempdir().unwrap();
    let zone = folder.path().join("intel-rapl:0");
    fs::create_dir(&zone).unwrap();
    fs::write(zone.join("name"), "package-0").unwrap();
    fs::write(zone.join("max_energy_range_uj"), "2000000").unwrap();
    COUNTER.set((zone, 0));
    count(0);
    let rapl = Rapl::open(folder.path()).unwrap();
    let cold = CacheState::Cold;
    for (settings, watts) in [
        // A turn has ten products or more, which take 20 ms.
        (Settings { iterations: Some(20), ..settings() }, Some(50.0)),
        (Settings { iterations: Some(4), ..settings() }, None),
        // The pauses after evicted caches take as long as the products.
        (Settings { iterations: Some(100), cache: cold, ..settings() }, None),
    ] {
        let (csr, team) = (Csr::<f64>::from_triplets(3, 3, &[]), Team::floating(1));
        let bench = Bench { rapl: Some(&rapl), ..Bench::new(&team, &ThreadClock, &settings) };
        let method = method(|csr, _| prepare_counted(csr));
        let results = Problem::of(&csr, &settings).on_host(&bench, &[(&method).into()]).unwrap();
        let got = measurement(&results).watts;
        assert_eq!(got.map(|watts| watts.round()), watts, "{settings:?}");
    }
}

#[test]
fn a_noisy_method_is_measured_again_until_it_is_steady() {
    let (report, log) = measure_methods(settings(), |csr, _| unsteady(csr, 20));
    assert_eq!(turns(&log), "u|b|bububu", "only the noisy method");
    let measured = measurement(&report);
    assert_eq!((measured.summary.samples, measured.summary.iterations), (6, 6));
    assert!((measured.summary.mean_ms - 2.0).abs() < 1e-9, "{measured:?}");
    assert_eq!(measured.remarks.text(), Some("first"));
    assert_eq!(measured.distinct_results.count(), 2, "counted over all measurements");
}

#[test]
fn a_method_that_stays_noisy_reports_its_steadiest_measurement_with_a_note() {
    let (report, log) = measure_methods(settings(), |csr, _| unsteady(csr, usize::MAX));
    let once = measure_methods(settings(), |csr, _| unsteady(csr, 0)).1;
    let products = |log: &str| log.matches('u').count() as f64;
    assert!(products(&log) > 2.0 * products(&once), "three measurements");
    let measured = measurement(&report);
    assert!((2.0..6.0).contains(&measured.summary.mean_ms), "{measured:?}");
    let note = measured.remarks.text().unwrap();
    assert!(note.starts_with("first; 95 % interval "), "{note}");
    assert!(note.ends_with(" % wide after 2 re-measurements"), "{note}");
}

/// A method that stays noisy repeats the two rounds of this process, after two of another one, twice.
#[test]
fn rounds_are_counted_over_all_processes_and_repeated_ones_are_told() {
    let told = RefCell::new(Vec::new());
    let report = |news: News| {
        if let News::Next(_, Turn::Round { number, of, again }) = news {
            told.borrow_mut().push((number, of, again));
        }
    };
    let settings = Settings { rounds: 4, share: Some([2, 2]), iterations: Some(24), ..settings() };
    let (csr, team) = (Csr::<f64>::from_triplets(3, 3, &[]), Team::floating(1));
    let bench = Bench { report: &report, ..Bench::new(&team, &ThreadClock, &settings) };
    let method = method(|csr, _| unsteady(csr, usize::MAX));
    Problem::of(&csr, &settings).on_host(&bench, &[Choice::from(&method)]).unwrap();
    let [first, again] = [false, true].map(|again| [(3, 4, again), (4, 4, again)]);
    assert_eq!(told.take(), [first, again, again].concat());
}

#[test]
fn a_single_sample_is_not_noisy() {
    let single = Settings { rounds: 1, iterations: Some(1), ..settings() };
    let (report, log) = measure_methods(single, |csr, _| unsteady(csr, usize::MAX));
    assert_eq!(turns(&log), "u|b|b");
    assert_eq!(measurement(&report).remarks.text(), Some("first"));
}

/// Measures three methods that need 4 MiB each, where 9 MiB are available. Returns the log, and the note of each
/// method.
fn measure_in_9_mib(settings: Settings) -> (String, Vec<String>) {
    let prepares: [Prepare<f64>; 3] =
        [|csr, _| prepare(csr, 'a'), |csr, _| prepare(csr, 'b'), |csr, _| prepare(csr, 'c')];
    let methods = prepares.map(|prepare| Method { memory: |_| 4 << 20, ..method(prepare) });
    // One of the 10 MiB is reserved for the run itself.
    let (report, log) = measure_all(Settings { max_memory: Some(10 << 20), ..settings }, &methods);
    let note = |outcome: &Outcome| match outcome {
        Outcome::Ok(measurement) => measurement.remarks.text().unwrap_or_default().to_owned(),
        other => panic!("{other:?}"),
    };
    (log, report.outcomes.iter().map(note).collect())
}

#[test]
fn methods_that_do_not_fit_together_are_measured_in_parts() {
    let (log, notes) = measure_in_9_mib(settings());
    assert_eq!(turns(&log), "|a|a|b|babab|c|c");
    let part = |number| {
        format!("measured in part {number} of 2: memory is too small for all methods at once")
    };
    assert_eq!(notes, [part(1), part(1), part(2)]);
    // With one round, methods run one by one anyway, so there is no note about memory.
    assert_eq!(measure_in_9_mib(Settings { rounds: 1, ..settings() }).1, [""; 3]);
}

#[test]
fn time_bounds_take_precedence_over_the_count() {
    let millis = Duration::from_millis;
    let bounded = Settings { max_time: millis(8), iterations: Some(1000), ..settings() };
    assert_eq!(measurement(&measure(bounded).0).summary.iterations, 4);
    let extended = Settings { min_time: millis(40), ..settings() };
    assert_eq!(measurement(&measure(extended).0).summary.iterations, 20);
}

/// 9 ms for preparation and verification, then at least 20 ms per round.
#[test]
fn a_method_ends_when_its_time_limit_is_exceeded() {
    let (report, _) = measure(Settings { timeout: Duration::from_millis(20), ..settings() });
    let Outcome::Timeout(reason) = &report.outcomes[0] else { panic!("{report:?}") };
    let took = reason.strip_prefix("took ").and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(took.trim_start_matches(['0', '.']).len() >= 3, "three digits: {reason}");
    assert!(reason.ends_with(" s, longer than the 0.02 s of --timeout"), "{reason}");
    let (report, _) = measure(Settings { timeout: Duration::from_secs(1), ..settings() });
    assert_eq!(measurement(&report).summary.iterations, 6);
}

#[test]
fn cold_samples_are_single_products_and_beta_feeds_back_fresh_values() {
    let cold = Settings { cache: CacheState::Cold, ..settings() };
    assert_eq!(measurement(&measure(cold).0).summary.samples, 6);
    // β = 1: the method returns zeros, but y0 is expected.
    let (report, _) = measure(Settings { beta: 1.0, ..settings() });
    assert!(matches!(report.outcomes[0], Outcome::Wrong { .. }));
}

/// Vectors and reference are those of the natural matrix, so a wrongly permuted matrix gives wrong results.
#[test]
fn a_matrix_that_was_permuted_wrongly_is_detected() {
    let triplets = [(0, 0, 1.0), (0, 2, 2.0), (1, 2, 3.0), (2, 0, 4.0)];
    let natural = Csr::<f64>::from_triplets(3, 3, &triplets);
    let permutation = Permutation::new(vec![2, 0, 1]).unwrap();
    for beta in [0.0, 2.0] {
        let settings = Settings { beta, ..settings() };
        let team = Team::floating(1);
        let bench = Bench::new(&team, &ThreadClock, &settings);
        let is_right = |csr: &Csr<f64>| {
            let (csr, permutation) = (csr.clone(), permutation.clone());
            let cost = Reordering { order_ms: None, bandwidth: [0, 0], profile: [0, 0] };
            let reordered = Reordered { csr, permutation, groups: vec![], cost };
            let mut problem = Problem::<f64>::new(&natural, Some(&reordered), &settings).unwrap();
            let report = problem.on_host(&bench, &[(&seq::METHOD).into()]).unwrap();
            matches!(report.outcomes[0], Outcome::Ok(_))
        };
        assert!(is_right(&natural.permuted(&permutation)));
        assert!(!is_right(&natural));
        let inverse = Permutation::new(vec![1, 2, 0]).unwrap();
        assert!(!is_right(&natural.permuted(&inverse)));
    }
}
