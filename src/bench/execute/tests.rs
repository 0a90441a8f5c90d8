//! Tests the order of events and the exact times, with a clock that the methods advance.

mod disturbed;
mod duel;
mod energy;

use std::cell::RefCell;
use std::time::Duration;

use super::{Bench, Cell};
use crate::bench::clock::{Clock, ThreadClock};
use crate::bench::event::{Event, Step, Turn};
use crate::bench::problem::{Problem, Reordered};
use spmv_matrix::Csr;
use spmv_matrix::order::Permutation;
use spmv_methods::cpu::seq;
use spmv_methods::method::{Choice, Code, Method, Prepare, Prepared, Unavailable};
use spmv_methods::team::Team;
use spmv_results::matrix::{Group, Reordering};
use spmv_results::row::{Row, Status};
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

/// Measures methods and returns their rows, in the order of the methods.
fn rows(bench: Bench, problem: &mut Problem<f64>, methods: &[Method]) -> Vec<Row> {
    let rows = RefCell::new(Vec::new());
    let emit = |event| match event {
        Event::Row(row, _) => rows.borrow_mut().push(*row),
        event => (bench.emit)(event),
    };
    let cell = |(place, method): (usize, _)| {
        let mut cell = Cell::from(Choice::from(method));
        cell.key.method = place.to_string();
        cell
    };
    let cells: Vec<_> = methods.iter().enumerate().map(cell).collect();
    let bench = Bench { emit: &emit, row: Row::default(), ..bench };
    problem.on_host(&bench, &cells, &mut Group::of(Vec::new())).unwrap();
    let mut rows = rows.take();
    rows.sort_by(|a, b| a.method_name.cmp(&b.method_name));
    rows
}

fn measure(settings: Settings) -> (Vec<Row>, String) {
    measure_methods(settings, |csr, _| prepare(csr, 'a'))
}

/// Measures the method `first` and a second one, the steady `b`.
fn measure_methods(settings: Settings, first: Prepare<f64>) -> (Vec<Row>, String) {
    measure_all(settings, &[method(first), method(|csr, _| prepare(csr, 'b'))])
}

fn measure_all(settings: Settings, methods: &[Method]) -> (Vec<Row>, String) {
    LOG.take();
    let csr = Csr::<f64>::from_triplets(3, 3, &[]);
    let team = Team::floating(1);
    let bench = Bench::new(&team, &ThreadClock, &settings);
    (rows(bench, &mut Problem::of(&csr, &settings), methods), LOG.take())
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

/// Returns the row of the first method, which was verified and timed.
fn first(rows: &[Row]) -> &Row {
    assert!(rows[0].is_ok(), "{rows:?}");
    &rows[0]
}

#[test]
fn methods_take_turns_and_times_are_exact() {
    let (rows, log) = measure(settings());
    // Each method is prepared and multiplies on a small matrix, then on this one; then two rounds follow.
    assert_eq!(turns(&log), "|a|a|b|babab");
    // The product on the small matrix initialises libraries, which is not part of the setup.
    let measured = first(&rows);
    assert!((measured.setup_ms.unwrap() - 5.0).abs() < 1e-9);
    assert_eq!((measured.samples, measured.iterations), (Some(6), Some(6)));
    assert!((measured.avg_spmv_ms.unwrap() - 2.0).abs() < 1e-9);
    assert!(measured.std_dev_ms.unwrap() < 1e-9);
    assert_eq!((measured.extra_bytes, measured.error_ratio), (Some(40), Some(0.0)));
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
        let settings = Settings { protocol: Protocol::Power, iterations: Some(90), ..settings() };
        let team = Team::floating(1);
        let bench = Bench::new(&team, &ThreadClock, &settings);
        rows(bench, &mut Problem::of(&csr, &settings), &[method(prepare)])
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
    let rows = run(moves);
    let row = first(&rows);
    // 45 products per round are asked for; samples are whole chains.
    assert_eq!(row.iterations.unwrap() % 4, 0);
    let times = [row.median_ms, row.independent_ms];
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
    let rows = run(remembers);
    assert_eq!(rows[0].status, Some(Status::Wrong), "{rows:?}");
}

/// The first method gives other bits in every other product. In the first case each round has one sample.
#[test]
fn results_that_vary_are_found_in_every_setting() {
    let varies: Prepare<f64> = |csr, _| {
        let mut is_negative = false;
        Ok(Prepared::new(csr, 0, move |_, _, _, y| {
            ThreadClock.pause(Duration::from_millis(2));
            is_negative = !is_negative;
            y.fill(if is_negative { -0.0 } else { 0.0 });
            Ok(())
        }))
    };
    for iterations in [20, 200] {
        let settings = Settings { rounds: 20, iterations: Some(iterations), ..settings() };
        let (rows, _) = measure_methods(settings, varies);
        let [varying, steady] = [0, 1].map(|place: usize| {
            assert!(rows[place].is_ok(), "{rows:?}");
            rows[place].distinct_results.as_ref().unwrap().count()
        });
        assert_eq!((varying, steady), (2, 1), "{iterations} products");
        assert_eq!(rows[0].iterations, Some(iterations));
    }
}

/// The rounds are counted over all processes, of which this one takes the last two.
#[test]
fn rounds_are_counted_over_all_processes() {
    let told = RefCell::new(Vec::new());
    let emit = |event| {
        if let Event::Step(Step::Method(_, Turn::Round { number, of })) = event {
            told.borrow_mut().push((number, of));
        }
    };
    for (share, expected) in [([2, 2], [(3, 4), (4, 4)]), ([4, 2], [(5, 6), (6, 6)])] {
        let settings = Settings { rounds: 4, ..settings() };
        let (csr, team) = (Csr::<f64>::from_triplets(3, 3, &[]), Team::floating(1));
        let share = Some(share);
        let bench = Bench { share, emit: &emit, ..Bench::new(&team, &ThreadClock, &settings) };
        let methods = [method(|csr, _| prepare(csr, 'a'))];
        rows(bench, &mut Problem::of(&csr, &settings), &methods);
        assert_eq!(told.take(), expected);
    }
}

/// Measures three methods that need 4 MiB each, where 9 MiB are available. Returns the log, and the note of each
/// method.
fn measure_in_9_mib(settings: Settings) -> (String, Vec<String>) {
    let prepares: [Prepare<f64>; 3] =
        [|csr, _| prepare(csr, 'a'), |csr, _| prepare(csr, 'b'), |csr, _| prepare(csr, 'c')];
    let methods = prepares.map(|prepare| Method { memory: |_| 4 << 20, ..method(prepare) });
    // One of the 10 MiB is reserved for the run itself.
    let (rows, log) = measure_all(Settings { max_memory: Some(10 << 20), ..settings }, &methods);
    assert!(rows.iter().all(Row::is_ok), "{rows:?}");
    (log, rows.iter().map(|row| row.reason.text().unwrap_or_default().to_owned()).collect())
}

#[test]
fn methods_that_do_not_fit_together_are_measured_in_parts() {
    let (log, notes) = measure_in_9_mib(settings());
    assert_eq!(turns(&log), "|a|a|b|babab|c|c");
    let part = |number| format!("measured in part {number} of 2: memory is too small for all methods at once");
    assert_eq!(notes, [part(1), part(1), part(2)]);
    // With one round, methods run one by one anyway, so there is no note about memory.
    assert_eq!(measure_in_9_mib(Settings { rounds: 1, ..settings() }).1, [""; 3]);
}

#[test]
fn time_bounds_take_precedence_over_the_count() {
    let millis = Duration::from_millis;
    let bounded = Settings { max_time: millis(8), iterations: Some(1000), ..settings() };
    assert_eq!(first(&measure(bounded).0).iterations, Some(4));
    let extended = Settings { min_time: millis(40), ..settings() };
    assert_eq!(first(&measure(extended).0).iterations, Some(20));
}

/// 9 ms for preparation and verification, then at least 20 ms per round.
#[test]
fn a_method_ends_when_its_time_limit_is_exceeded() {
    let (rows, _) = measure(Settings { timeout: Duration::from_millis(20), ..settings() });
    assert_eq!(rows[0].status, Some(Status::Timeout));
    let reason = rows[0].reason.text().unwrap();
    let took = reason.strip_prefix("took ").and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(took.trim_start_matches(['0', '.']).len() >= 3, "three digits: {reason}");
    assert!(reason.ends_with(" s, longer than the 0.02 s of --timeout"), "{reason}");
    let (rows, _) = measure(Settings { timeout: Duration::from_secs(1), ..settings() });
    assert_eq!(first(&rows).iterations, Some(6));
}

#[test]
fn cold_samples_are_single_products_and_beta_feeds_back_fresh_values() {
    let cold = Settings { cache: CacheState::Cold, ..settings() };
    assert_eq!(first(&measure(cold).0).samples, Some(6));
    // β = 1: the method returns zeros, but y0 is expected.
    let (rows, _) = measure(Settings { beta: 1.0, ..settings() });
    assert_eq!(rows[0].status, Some(Status::Wrong));
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
        let is_right = |csr: &Csr<f64>| {
            let (csr, permutation) = (csr.clone(), permutation.clone());
            let cost = Reordering { order_ms: None, bandwidth: [0, 0], profile: [0, 0] };
            let reordered = Reordered { csr, permutation, groups: vec![], cost };
            let mut problem = Problem::<f64>::new(&natural, Some(&reordered), &settings).unwrap();
            let bench = Bench::new(&team, &ThreadClock, &settings);
            rows(bench, &mut problem, std::slice::from_ref(&seq::METHOD))[0].is_ok()
        };
        assert!(is_right(&natural.permuted(&permutation)));
        assert!(!is_right(&natural));
        let inverse = Permutation::new(vec![1, 2, 0]).unwrap();
        assert!(!is_right(&natural.permuted(&inverse)));
    }
}
