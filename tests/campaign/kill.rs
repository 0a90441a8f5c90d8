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
use crate::{Dir, EXACT, assert_same, children, column, end_of, eventually, in_front, signal};

const KILLS: usize = 12;
const METHODS: &str = "seq,csr-rows,merge,csr5";

fn place() -> Dir {
    Dir::with_matrices(&[200, 120, 80, 40])
}

fn words(output: &str) -> String {
    format!("corpus matrices {EXACT} {METHODS} --quiet --resume --output {output}")
}

#[test]
fn a_run_killed_at_random_moments_and_resumed_writes_the_same_file() {
    let place = place();
    // The first run fills the cache.
    place.run(&words("warm.csv"));
    let start = Instant::now();
    place.run(&words("whole.csv")).exits(0);
    let (whole, time) = (place.read("whole.csv"), start.elapsed());
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

/// Starts a run of the methods `seq` and `waits` of a plug-in, which ends only if there is a file `go`. Returns when
/// the child waits.
fn waiting(place: &Dir) -> Child {
    waiting_without(place, "")
}

/// The same with these signals ignored, as `nohup` and shells do it.
fn waiting_without(place: &Dir, ignored: &str) -> Child {
    let library = plugin(place, "faulty.c", &[]).display().to_string();
    let words = format!("corpus matrices/m1.mtx {EXACT} seq,waits --output out.csv --plugin {library}");
    let trap = if ignored.is_empty() { String::new() } else { format!("trap '' {ignored}; ") };
    let shell = format!("{trap}exec \"$@\"");
    let process = in_front(&["sh", "-c", &shell, "sh"], &place.program(&words)).spawn().unwrap();
    assert!(eventually(|| place.path("waiting").exists()));
    process
}

/// Batch systems warn before they kill. A child hears its parent also if a script ignores signals.
#[test]
fn warnings_end_a_run_in_order_and_ignored_signals_do_not() {
    for (ignored, sent, status) in [
        ("", Signal::SIGUSR1, 1),
        ("", Signal::SIGUSR2, 1),
        ("", Signal::SIGXCPU, 1),
        ("HUP INT", Signal::SIGHUP, 0),
        ("HUP INT", Signal::SIGINT, 0),
        ("INT TERM", Signal::SIGHUP, 1),
    ] {
        let place = Dir::with_matrices(&[40]);
        let process = waiting_without(&place, ignored);
        signal(&process, sent);
        // The parent looks for signals every 100 ms. Of a signal that it ignores, nothing can be seen.
        std::thread::sleep(Duration::from_millis(200));
        place.write("go", "");
        let ran = end_of(process).exits(status);
        let continues = ran.stderr.contains("to continue: spmv-bench corpus");
        assert_eq!(continues, status == 1, "{ignored} {sent}: {ran:?}");
    }
}

/// Kills the parent of a process, which then ends too.
fn assert_ends_with_parent(mut parent: Child, child: Pid) {
    parent.kill().unwrap();
    parent.wait().unwrap();
    let gone = || fs::read_link(format!("/proc/{child}/exe")).is_err();
    assert!(eventually(gone), "process {child} is still there");
}

/// If the parent is killed, the child ends too, even while a method is running.
#[test]
fn a_child_does_not_outlive_its_parent() {
    let place = place();
    let process = waiting(&place);
    let child = children(&process)[0];
    assert_ends_with_parent(process, child);
}

/// The statistics of the matrix are printed before the measurement, and at the end the samples of a slow method.
#[test]
fn an_interrupt_of_one_matrix_shows_its_statistics_and_samples() {
    let place = place();
    let words = "--mtx matrices/m1.mtx --threads 1 --device cpu --methods seq --min-time 900 --max-time 900";
    for pause in [0.2, 1.0, 4.0, 16.0, 60.0] {
        let mut process = place.program(words).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("length 1-9: ")));
        // Nothing shows that there are samples.
        std::thread::sleep(Duration::from_secs_f64(pause));
        signal(&process, Signal::SIGINT);
        let rest: Vec<_> = lines.collect();
        assert_eq!(process.wait().unwrap().code(), Some(1));
        if rest.iter().any(|line| line == "seq: interrupted in round 1 of 6") {
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
    kill(children(&process)[0], Signal::SIGTERM).unwrap();
    place.write("go", "");
    end_of(process).exits(1);
    let rows = place.read("out.csv");
    let mut statuses = column(&rows, "status");
    statuses.sort();
    assert_eq!(statuses, ["failed", "ok"], "{rows}");
    let reported = rows.matches("the child process received a signal to end while running");
    assert_eq!(reported.count(), 1, "{rows}");
}

/// A child whose parent has ended does not start to measure.
#[test]
fn a_child_without_a_parent_ends_at_once() {
    let place = place();
    for delay in 0..10 {
        let words = "corpus matrices --threads 1 --device cpu --methods seq --output out.csv";
        let process = place.program(words).spawn().unwrap();
        assert!(eventually(|| !children(&process).is_empty()));
        let child = children(&process)[0];
        std::thread::sleep(Duration::from_millis(delay));
        let begun = Instant::now();
        assert_ends_with_parent(process, child);
        assert!(begun.elapsed() < Duration::from_secs(5), "process {child} goes on");
        for name in ["out.csv", "out.csv.run.json"] {
            let _ = fs::remove_file(place.path(name));
        }
    }
}
