//! Tests of killed and interrupted runs: a run that is killed at any moment can be resumed without losing results.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::plugins::plugin;
use crate::{EXACT, Place, assert_same, children, column, edited, eventually, rows, timeless};

const KILLS: usize = 12;
const METHODS: &str = "seq,csr-rows,merge,csr5";

fn place() -> Place {
    Place::with_matrices(&[200, 120, 80, 40])
}

fn words(output: &str) -> String {
    format!("corpus matrices {EXACT} {METHODS} --quiet --resume --output {output}")
}

/// Returns the output of an uninterrupted run, and its duration.
fn uninterrupted(place: &Place) -> (String, Duration) {
    // The first run fills the cache.
    place.run(&words("warm.csv"));
    let start = Instant::now();
    place.run(&words("whole.csv")).exits(0);
    (place.read("whole.csv"), start.elapsed())
}

#[test]
fn a_run_killed_at_random_moments_and_resumed_writes_the_same_file() {
    let place = place();
    let (whole, time) = uninterrupted(&place);
    let mut random = SmallRng::seed_from_u64(8);
    let (mut kills, mut campaigns) = (0, 0);
    while kills < KILLS {
        campaigns += 1;
        let output = format!("killed{campaigns}.csv");
        loop {
            let mut process = place.program(&words(&output)).spawn().unwrap();
            std::thread::sleep(time.mul_f64(random.random_range(0.0..1.0)));
            if kills < KILLS && process.try_wait().unwrap().is_none() {
                process.kill().unwrap();
            }
            match process.wait().unwrap().signal() {
                Some(9) => kills += 1,
                None => break,
                other => panic!("ended by {other:?}"),
            }
        }
        let text = place.read(&output);
        assert_same(&text, &whole);
        let run_ids = column(&text, "run_id");
        assert!(run_ids.iter().all(|run_id| *run_id == run_ids[0]), "{run_ids:?}");
    }
    println!("{kills} kills in {campaigns} campaigns");
}

/// Each kill of the child while a method is running causes a failed row of that method. All other rows are the same,
/// and the failed ones are measured again after they have been removed from the file.
#[test]
fn a_killed_child_is_one_failed_row() {
    let place = place();
    let (whole, time) = uninterrupted(&place);
    let mut random = SmallRng::seed_from_u64(88);
    let (mut kills, mut failures, mut campaigns) = (0, 0, 0);
    while kills < KILLS {
        campaigns += 1;
        let output = format!("child{campaigns}.csv");
        let mut process = place.program(&words(&output)).spawn().unwrap();
        let record = place.path(&format!("{output}.run.json"));
        while process.try_wait().unwrap().is_none() {
            std::thread::sleep(time.mul_f64(random.random_range(0.0..0.3)));
            // If the child is killed before it is ready, the run ends before it has begun.
            for child in children(process.id()).into_iter().filter(|_| record.exists()) {
                kills += usize::from(kill(Pid::from_raw(child), Signal::SIGKILL).is_ok());
            }
        }
        assert_eq!(process.wait().unwrap().code(), Some(1));
        let text = place.read(&output);
        for row in rows(&text).into_iter().filter(|row| row["status"] != "ok") {
            assert_eq!(row["status"], "failed", "{row:?}");
            assert!(row["reason"].contains("SIGKILL"), "{row:?}");
            failures += 1;
        }
        place.write(&output, edited(&text, |row| row["status"] == "ok"));
        place.run(&words(&output)).exits(0);
        let sorted = |text: &str| {
            let mut rows = timeless(text);
            rows.sort();
            rows
        };
        assert_eq!(sorted(&place.read(&output)), sorted(&whole));
    }
    println!("{kills} kills in {campaigns} campaigns: {failures} failed rows");
}

/// Starts a run of the methods `seq` and `waits` of a plug-in, which ends only if there is a file `go`. Returns when
/// the child waits.
fn waiting(place: &Place) -> Child {
    let library = plugin(place, "faulty.c", &[]).display().to_string();
    let words =
        format!("corpus matrices/m1.mtx {EXACT} seq,waits --output out.csv --plugin {library}");
    let process = place.program(&words).spawn().unwrap();
    assert!(eventually(|| place.path("waiting").exists()));
    process
}

/// If the parent is killed, the child ends too, even while a method is running.
#[test]
fn a_child_does_not_outlive_its_parent() {
    let place = place();
    let mut process = waiting(&place);
    let child = children(process.id())[0];
    process.kill().unwrap();
    process.wait().unwrap();
    let gone = || fs::read_link(format!("/proc/{child}/exe")).is_err();
    assert!(eventually(gone), "process {child} is still there");
}

/// An interrupt of the parent ends both processes after the current sample, and complete results are written.
#[test]
fn an_interrupt_reaches_the_child() {
    let place = place();
    let endless = format!(
        "corpus gen:grid2d,n=100,points=5 {EXACT} seq,merge --min-time 60 --max-time 60 --output out.csv"
    );
    let mut process = place.program(&endless).spawn().unwrap();
    assert!(eventually(|| place.path("out.csv.run.json").exists()));
    std::thread::sleep(Duration::from_millis(200));
    let pid = Pid::from_raw(process.id() as i32);
    let start = Instant::now();
    kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(1));
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// The statistics of the matrix are printed before the measurement, and at the end the samples of a slow method.
#[test]
fn an_interrupt_of_one_matrix_shows_its_statistics_and_samples() {
    let place = place();
    let words = "--mtx matrices/m1.mtx --threads 1 --device cpu --methods seq --min-time 900 --max-time 900";
    for pause in [0.2, 1.0, 4.0, 16.0, 60.0] {
        let mut process = place.program(words).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("Degree 1e0")));
        std::thread::sleep(Duration::from_secs_f64(pause));
        kill(Pid::from_raw(process.id() as i32), Signal::SIGINT).unwrap();
        let rest: Vec<_> = lines.collect();
        assert_eq!(process.wait().unwrap().code(), Some(1));
        if rest.iter().any(|line| line.ends_with("(interrupted in round 1 of 6)")) {
            return;
        }
        println!("after {pause} s it has no samples: {rest:?}");
    }
    panic!("it never has samples");
}

/// A signal to the child alone is not from the user: the current method fails, and the others are measured.
#[test]
fn an_interrupted_child_is_replaced() {
    let place = place();
    let process = waiting(&place);
    kill(Pid::from_raw(children(process.id())[0]), Signal::SIGTERM).unwrap();
    place.write("go", "");
    let ran = crate::Ran::of(process.wait_with_output().unwrap()).exits(1);
    let mut statuses = column(&place.read("out.csv"), "status");
    statuses.sort();
    assert_eq!(statuses, ["failed", "ok"], "{ran:?}");
    let reasons = column(&place.read("out.csv"), "reason");
    let is_reported = |reason: &&String| {
        reason.starts_with("the child process received a signal to end while running")
    };
    assert_eq!(reasons.iter().filter(is_reported).count(), 1, "{reasons:?}");
}

/// The interrupt arrives while the machine's bandwidth is measured.
#[test]
fn an_interrupt_before_the_first_method() {
    let place = place();
    let mut process =
        place.program("corpus matrices --device cpu --output out.csv").spawn().unwrap();
    assert!(eventually(|| !children(process.id()).is_empty()));
    kill(Pid::from_raw(process.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(1));
}

/// A child whose parent has ended does not start to measure.
#[test]
fn a_child_without_a_parent_ends_at_once() {
    let place = place();
    for delay in 0..10 {
        let words = "corpus matrices --threads 1 --device cpu --methods seq --output out.csv";
        let mut process = place.program(words).spawn().unwrap();
        let children = || children(process.id());
        assert!(eventually(|| !children().is_empty()));
        let child = children()[0];
        std::thread::sleep(Duration::from_millis(delay));
        process.kill().unwrap();
        process.wait().unwrap();
        let begun = Instant::now();
        while fs::read_link(format!("/proc/{child}/exe")).is_ok() {
            assert!(begun.elapsed() < Duration::from_secs(5), "process {child} goes on");
        }
        for name in ["out.csv", "out.csv.run.json"] {
            let _ = fs::remove_file(place.path(name));
        }
    }
}
