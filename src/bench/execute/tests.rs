//! Tests the order of events and the exact times, with a clock that the methods advance.

mod duel;

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::bench::clock::{Clock, ThreadClock};
use crate::bench::event::Step;
use crate::bench::problem::{Problem, Reordered};
use spmv_matrix::Csr;
use spmv_matrix::order::Permutation;
use spmv_matrix::system::energy::Rapl;
use spmv_methods::cpu::seq;
use spmv_methods::method::{Code, Method, Prepare, Prepared, Unavailable};
use spmv_methods::team::Team;
use spmv_results::matrix::Reordering;
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
        let settings = Settings { protocol: Protocol::Power, iterations: Some(9), ..settings() };
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
    // Five products per round are asked for; samples are whole chains.
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

/// Prepares a method with 2 ms per product, but in about a fourth of the first `noisy` ones its thread waits for 4 ms.
/// The first ten products fill y with negative zeros.
fn unsteady<'a>(csr: &'a Csr<f64>, noisy: usize) -> Result<Prepared<'a, f64>, Unavailable> {
    let mut products = 0;
    Ok(Prepared::new(csr, 0, move |_, _, _, y| {
        // About a fourth of the products, at irregular places.
        let is_slow = (products as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
        ThreadClock.pause(Duration::from_millis(2));
        if products < noisy && is_slow {
            ThreadClock::delay(Duration::from_millis(4));
        }
        LOG.with_borrow_mut(|log| log.push('u'));
        y.fill(if products < 10 { -0.0 } else { 0.0 });
        products += 1;
        Ok(())
    })
    .with_note("first"))
}

/// Each product takes 2 ms, in which the fake counter counts 0.1 J: 50 W. It begins again at 2000 J, in the first turn.
/// A counter that goes backwards by 1 J in each product has no value.
#[test]
fn the_power_is_that_of_intervals_with_enough_updates() {
    thread_local! {
        static COUNTER: RefCell<(PathBuf, u64)> = const { RefCell::new((PathBuf::new(), 0)) };
    }
    const RANGE: u64 = 2_000_000_000;
    fn count(microjoules: u64) {
        COUNTER.with_borrow_mut(|(zone, counted)| {
            *counted = (*counted + microjoules) % RANGE;
            fs::write(zone.join("energy_uj"), counted.to_string()).unwrap();
        });
    }
    fn prepare_counted(csr: &Csr<f64>, each: u64) -> Result<Prepared<'_, f64>, Unavailable> {
        Ok(Prepared::new(csr, 0, move |_, _, _, y| {
            ThreadClock.pause(Duration::from_millis(2));
            count(each);
            y.fill(0.0);
            Ok(())
        }))
    }
    let folder = tempfile::tempdir().unwrap();
    let zone = folder.path().join("intel-rapl:0");
    fs::create_dir(&zone).unwrap();
    fs::write(zone.join("name"), "package-0").unwrap();
    fs::write(zone.join("max_energy_range_uj"), RANGE.to_string()).unwrap();
    COUNTER.set((zone, RANGE - 1_000_000));
    count(0);
    let rapl = Rapl::open(folder.path()).unwrap();
    let cold = CacheState::Cold;
    let forward: Prepare<f64> = |csr, _| prepare_counted(csr, 100_000);
    let backward: Prepare<f64> = |csr, _| prepare_counted(csr, RANGE - 1_000_000);
    for (settings, prepare, joules) in [
        // A turn has ten products or more, which take 20 ms.
        (Settings { iterations: Some(20), ..settings() }, forward, Some(0.1)),
        (Settings { iterations: Some(20), ..settings() }, backward, None),
        (Settings { iterations: Some(2), ..settings() }, forward, None),
        // The pauses after evicted caches take as long as the products.
        (Settings { iterations: Some(100), cache: cold, ..settings() }, forward, None),
    ] {
        let (csr, team) = (Csr::<f64>::from_triplets(3, 3, &[]), Team::floating(1));
        let bench = Bench { rapl: Some(&rapl), ..Bench::new(&team, &ThreadClock, &settings) };
        let methods = [method(prepare)];
        let rows = rows(bench, &mut Problem::of(&csr, &settings), &methods);
        let got = first(&rows).joules_per_product;
        // The pauses after verification are part of the intervals.
        assert_eq!(got.map(|joules| (1e1 * joules).round() / 1e1), joules, "{settings:?}");
    }
}

/// The samples in which a thread waited are taken again, so the slow products do not count.
#[test]
fn disturbed_samples_are_taken_again() {
    let (rows, _) = measure_methods(Settings { iterations: Some(24), ..settings() }, |csr, _| {
        unsteady(csr, 99)
    });
    let measured = first(&rows);
    assert_eq!((measured.samples, measured.iterations), (Some(24), Some(24)));
    assert!((measured.avg_spmv_ms.unwrap() - 2.0).abs() < 1e-9, "{measured:?}");
    assert!((0.1..0.9).contains(&measured.disturbed.unwrap()), "{measured:?}");
    assert_eq!((measured.reason.text(), rows[1].disturbed), (Some("first"), Some(0.0)));
    let results = measured.distinct_results.as_ref().unwrap().count();
    assert_eq!(results, 2, "counted over all products");
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

/// Each product is disturbed: a turn has as many disturbed samples as it needs, and no more.
#[test]
fn without_undisturbed_samples_the_least_disturbed_count() {
    let always: Prepare<f64> = |csr, _| {
        Ok(Prepared::new(csr, 0, |_, _, _, y| {
            ThreadClock.pause(Duration::from_millis(2));
            ThreadClock::delay(Duration::from_millis(1));
            y.fill(0.0);
            Ok(())
        }))
    };
    let (rows, _) = measure_methods(settings(), always);
    let measured = first(&rows);
    assert_eq!((measured.iterations, measured.disturbed), (Some(6), Some(1.0)));
    let note = "other programs disturbed too many samples: in those that count, threads waited for up to 33 % of the \
                time";
    assert_eq!(measured.reason.text(), Some(note));
}

/// Another program uses the CPU for 0 to 6 ms after 0 to 12 ms. A product that takes longer meets it more often, but in
/// the samples that count neither has met it.
#[test]
fn what_is_taken_again_favours_neither_short_nor_long_products() {
    thread_local! {
        /// When the other program begins the next time, by the fake clock, and a seed.
        static OTHER: RefCell<(Duration, u64)> = const { RefCell::new((Duration::ZERO, 1)) };
    }
    fn random(most: Duration, seed: &mut u64) -> Duration {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        most.mul_f64((*seed >> 11) as f64 / (1u64 << 53) as f64)
    }
    fn run(time: Duration) {
        OTHER.with_borrow_mut(|(next, seed)| {
            ThreadClock.pause(time);
            while *next < ThreadClock.now() {
                let slice = random(Duration::from_millis(6), seed);
                ThreadClock::delay(slice);
                *next = ThreadClock.now() + random(Duration::from_millis(12), seed);
            }
        });
    }
    fn prepare_of(csr: &Csr<f64>, time: Duration) -> Result<Prepared<'_, f64>, Unavailable> {
        Ok(Prepared::new(csr, 0, move |_, _, _, y| {
            run(time);
            y.fill(0.0);
            Ok(())
        }))
    }
    let short: Prepare<f64> = |csr, _| prepare_of(csr, Duration::from_micros(100));
    let long: Prepare<f64> = |csr, _| prepare_of(csr, Duration::from_millis(3));
    let max_time = Duration::from_secs(2);
    let settings = Settings { iterations: Some(200), max_time, ..settings() };
    let rows = measure_all(settings, &[method(short), method(long)]).0;
    let [short, long] = [0, 1].map(|place: usize| rows[place].avg_spmv_ms.unwrap());
    assert!((long / short - 30.0).abs() < 0.3, "{short} {long}");
    assert!(rows[1].disturbed > rows[0].disturbed, "{rows:?}");
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
        let settings = Settings { rounds: 4, share: Some(share), ..settings() };
        let (csr, team) = (Csr::<f64>::from_triplets(3, 3, &[]), Team::floating(1));
        let bench = Bench { emit: &emit, ..Bench::new(&team, &ThreadClock, &settings) };
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
