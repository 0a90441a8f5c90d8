//! The verdict on two runs of one program, measured with a clock that the methods advance. In each process a method has
//! its own speed, as pages of memory give it, and its rounds differ much less.

use std::cell::RefCell;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::bench::clock::{Clock, ThreadClock};
use crate::bench::event::Event;
use crate::bench::execute::{Bench, Cell};
use crate::bench::problem::Problem;
use spmv_matrix::Csr;
use spmv_methods::cpu::seq;
use spmv_methods::method::{Choice, Code, Method, Prepared};
use spmv_methods::team::Team;
use spmv_results::files::read::RecordedRow;
use spmv_results::matrix::Group;
use spmv_results::report::compare::{Compared, Comparison};
use spmv_results::row::Row;
use spmv_results::row::joined::joined;
use spmv_results::settings::{Protocol, Settings};

const METHODS: usize = 30;
/// The standard deviations of the speed between processes and between products, relative to it.
const BETWEEN_PROCESSES: f64 = 0.03;
const BETWEEN_PRODUCTS: f64 = 0.003;

thread_local! {
    static RANDOM: RefCell<Xoshiro256PlusPlus> = RefCell::new(Xoshiro256PlusPlus::seed_from_u64(54));
    /// The time of a product in this process, in seconds.
    static PACE: RefCell<f64> = const { RefCell::new(0.0) };
}

/// Returns 1 with a normal error of this standard deviation: the sum of twelve uniform numbers is nearly normal.
fn about_one(deviation: f64) -> f64 {
    let sum: f64 = RANDOM.with_borrow_mut(|random| (0..12).map(|_| random.random::<f64>()).sum());
    1.0 + deviation * (sum - 6.0)
}

/// Measures a method in a process of its own.
fn measured(name: usize) -> Row {
    PACE.set(2e-3 * about_one(BETWEEN_PROCESSES));
    let code = Code::Cpu {
        parallel: false,
        f64: |csr, _| {
            Ok(Prepared::new(csr, 0, |_, _, _, y| {
                ThreadClock.pause(Duration::from_secs_f64(PACE.with_borrow(f64::clone) * about_one(BETWEEN_PRODUCTS)));
                y.fill(0.0);
                Ok(())
            }))
        },
        f32: |_, _| unreachable!("only f64 is measured"),
    };
    let method = Method { code, ..seq::METHOD };
    let settings = Settings { rounds: 4, iterations: Some(12), ..Settings::new(Protocol::MergeSpmv) };
    let (csr, team) = (Csr::<f64>::from_triplets(3, 3, &[]), Team::floating(1));
    let rows = RefCell::new(Vec::new());
    let emit = |event| {
        if let Event::Row(row, _) = event {
            rows.borrow_mut().push(*row);
        }
    };
    let row = Row { file: "a.mtx".into(), ..Row::default() };
    let bench = Bench { row, emit: &emit, ..Bench::new(&team, &ThreadClock, &settings) };
    let mut cell = Cell::from(Choice::from(&method));
    cell.key.method = format!("m{name}");
    let mut group = Group::of(Vec::new());
    Problem::of(&csr, &settings).on_host(&bench, &[cell], &mut group).unwrap();
    rows.take().remove(0)
}

/// Measures all methods in several processes, as one run.
fn run(processes: usize) -> Vec<Row> {
    let measured = |method| (0..processes).map(|_| measured(method)).collect::<Vec<_>>();
    let rows: Vec<_> = (0..METHODS).map(measured).collect();
    let all: Vec<Vec<_>> = rows.iter().map(|rows| rows.iter().collect()).collect();
    all.iter().map(|rows| joined(rows)).collect()
}

#[test]
fn two_runs_of_one_program_are_the_same_if_they_have_three_processes() {
    let different = |processes| {
        let lines = |rows: Vec<Row>| rows.into_iter().map(RecordedRow::from).collect::<Vec<_>>();
        let [a, b] = [lines(run(processes)), lines(run(processes))];
        let side = |lines| Compared { name: "rows.csv", lines };
        let comparison = Comparison::of(side(&a[..]), side(&b[..]), false).unwrap();
        let [faster, _, slower, unknown] = comparison.counts().unwrap();
        assert_eq!(unknown, 0);
        faster + slower
    };
    let [one, three] = [1, 3].map(different);
    assert!(one > METHODS / 2, "{one} of {METHODS}: the speeds of single processes do differ");
    assert!(three <= 2, "{three} of {METHODS} verdicts are false");
}
