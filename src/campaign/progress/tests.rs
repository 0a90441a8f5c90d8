//! Tests the progress estimate with simulated times.

use super::pace::Pace;
use super::*;
use crate::bench::event::{Step, Turn};
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Device;
use spmv_results::matrix::MatrixReport;
use spmv_results::row::Status;
use spmv_results::settings::Protocol;

fn cells(count: usize) -> Vec<RowKey> {
    let cell = |number| RowKey {
        precision: Precision::F64,
        device: Device::Cpu,
        method: format!("m{number}"),
        threads: None,
        cache: None,
        order: None,
    };
    (0..count).map(cell).collect()
}

fn settings() -> Settings {
    let max_time = Duration::from_secs(2);
    let usual = Settings::new(Protocol::MergeSpmv);
    // With a number of products there is no duel. These take 2 s for 100000 entries.
    Settings { rounds: 2, processes: 1, iterations: Some(20_000), max_time, ..usual }
}

fn final_row(cell: &RowKey, status: Status) -> Event {
    let row = Row { status: Some(status), ..Row::default().with_key(cell) };
    Event::Row(Box::new(row), Vec::new())
}

/// Simulates a run over matrices with these numbers of entries, in which a turn takes `turn` seconds. Returns the time
/// of each event and the estimated remaining time.
fn estimates(matrices: &[u64], turn: impl Fn(u64) -> f64) -> Vec<(f64, f64)> {
    let (cells, mut now, mut estimates) = (cells(10), 0.0, Vec::new());
    let seconds = |&entries| Estimate::of(entries, &settings()).seconds(10);
    let mut pace = Pace::new(settings(), matrices.len(), matrices.iter().map(seconds).sum());
    for &entries in matrices {
        pace.begin("a".into(), entries, cells.clone());
        let mut at = |event: Event, takes: f64, now: &mut f64| {
            pace.note(&event, *now);
            estimates.push((*now, pace.left(*now)));
            *now += takes;
        };
        at(Event::Step(Step::Load), 0.1, &mut now);
        at(Event::Matrix(Box::default()), 0.1, &mut now);
        for cell in &cells {
            at(Event::Step(Step::Method(cell.clone(), Turn::Prepare)), 0.05, &mut now);
        }
        for number in 1..=2 {
            let round = Turn::Round { number, of: 2 };
            for cell in &cells {
                let step = Event::Step(Step::Method(cell.clone(), round));
                at(step, turn(entries), &mut now);
            }
        }
        for cell in &cells {
            at(Event::Step(Step::Method(cell.clone(), Turn::Other)), 0.0, &mut now);
            at(final_row(cell, Status::Ok), 0.0, &mut now);
        }
        pace.end();
    }
    estimates.push((now, pace.left(now)));
    estimates
}

/// If everything takes the expected time, the error is at most a sixth from the first to the last event.
#[test]
fn the_remaining_time_is_right_if_the_expectation_is() {
    let estimates = estimates(&[100_000; 5], |_| 1.0);
    let (end, nothing) = *estimates.last().unwrap();
    assert!(nothing.abs() < 1e-9 && end > 90.0, "{nothing} left at {end}");
    for (now, left) in estimates {
        let truth = end - now;
        let is_close = (left - truth).abs() <= truth / 6.0 + 1.0;
        assert!(is_close, "{left:.1} s left at {now}, not {truth:.1}");
    }
}

/// The machine is four times slower than expected: after two of twenty matrices the error is less than a third, and the
/// remaining time never jumps.
#[test]
fn measured_times_correct_the_expectation() {
    let estimates = estimates(&[100_000; 20], |_| 4.0);
    let end = estimates.last().unwrap().0;
    for pair in estimates.windows(2) {
        let [(_, before), (now, left)] = [pair[0], pair[1]];
        let truth = end - now;
        assert!(left <= 1.2 * before + 1.0, "from {before:.0} s to {left:.0} s at {now:.0}");
        let is_learnt = now > 0.1 * end;
        let is_close = (left - truth).abs() <= truth / 3.0 + 5.0;
        assert!(is_close || !is_learnt, "{left:.0} s left at {now:.0}, not {truth:.0}");
    }
}

#[test]
fn methods_that_end_early_need_no_time() {
    let cells = cells(2);
    let mut pace = Pace::new(settings(), 1, 0.0);
    pace.begin("a".into(), 100_000, cells.clone());
    pace.note(&Event::Matrix(Box::default()), 0.0);
    let two = pace.left(0.0);
    pace.note(&final_row(&cells[0], Status::Skipped), 0.0);
    assert!((pace.left(0.0) - two / 2.0).abs() < 1e-9);
    let turn = Turn::Round { number: 2, of: 2 };
    pace.note(&Event::Step(Step::Method(cells[1].clone(), turn)), 0.0);
    assert!(pace.left(0.0) < two / 2.0);
    pace.note(&final_row(&cells[1], Status::Ok), 2.0);
    assert_eq!((pace.left(2.0), pace.share(2.0)), (0.0, 1.0));
}

#[test]
fn a_matrix_that_is_not_measured_corrects_nothing() {
    let mut pace = Pace::new(settings(), 2, 200.0);
    pace.begin("a.mtx".into(), 100_000, cells(10));
    let ahead = pace.left(0.0) - Estimate::of(100_000, &settings()).seconds(10);
    let skipped = MatrixReport::without_groups("a".into(), "r", Status::Skipped, "b".into());
    pace.note(&Event::Matrix(Box::new(skipped)), 0.1);
    pace.end();
    assert!((pace.left(0.1) - ahead).abs() < 1e-9);
}

#[test]
fn a_line_shows_progress_remaining_time_and_current_step() {
    let round = Step::Method(cells(1).remove(0), Turn::Round { number: 2, of: 6 });
    for (step, expected) in [(round, "f64 on cpu, round 2 of 6: m0"), (Step::Duel(cells(2)), "running m0, m1 in turns")]
    {
        let mut one = Pace::new(settings(), 1, 0.0);
        one.begin("a.mtx".into(), 100_000, cells(1));
        one.note(&Event::Step(step), 1.0);
        let text = one.describe(1.0);
        assert!(text.ends_with(&format!(" s left: {expected}")), "{text}");
    }
    let mut many = Pace::new(settings(), 3, 400.0);
    many.end();
    many.begin("a.mtx".into(), 100_000, cells(1));
    assert_eq!(many.describe(0.0), "1 of 3 matrices, 0 %, 7 min left: a.mtx");
}

/// A terminal with few lines shows only the last methods, and a narrow one only their names.
#[test]
fn methods_are_listed_below_as_far_as_there_is_room() {
    let rows = ["first", "second", "third method"].map(|name| Row { method_name: Some(name.into()), ..Row::default() });
    let pace = Pace::new(settings(), 1, 0.0);
    let mut state = State { pace, clock: Instant::now(), methods: Some(rows.to_vec()) };
    let text = state.text(24, 200);
    let first = format!("{} 100 %, 0 s left", "█".repeat(BAR));
    assert!(text.starts_with(&format!("{first}\nmethod   ")), "{text}");
    assert_eq!(text.lines().count(), 5);
    assert_eq!(state.text(6, 9), "███████…\nmethod …\nsecond …\nthird m…");
    state.methods = Some(Vec::new());
    assert_eq!(state.text(24, 80), first);
}
