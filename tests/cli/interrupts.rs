//! Tests of the results after an interrupt.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use spmv_bench::bench::clock::FakeClock;
use spmv_bench::cli::CommandStatus;

use crate::env::{Interrupting, run, run_with};
use crate::{EXACT, SMALL, folder};

#[test]
fn an_interrupt_leaves_complete_rows_of_complete_matrices() {
    let files: Vec<_> = (0..3).map(|k| (format!("{k}.mtx"), SMALL)).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let dir = folder(&files);
    let words = format!("corpus {} {EXACT}", dir.path().display());
    let complete = run(&words).stdout;
    // The signal arrives at every 31st reading of the clock, until a run ends before it.
    for at in (1..).step_by(31) {
        let flag = AtomicBool::new(false);
        let clock = FakeClock::new(Duration::from_millis(1));
        let ran =
            run_with(&words, &Interrupting { clock, calls: 0.into(), at, flag: &flag }, &flag);
        assert!(complete.starts_with(&ran.stdout), "whole rows only");
        let rows = ran.stdout.lines().count().saturating_sub(1);
        assert_eq!(rows % 3, 0, "whole matrices only");
        if flag.into_inner() {
            assert_eq!(ran.result, Ok(CommandStatus::Bad));
            assert!(ran.stderr.contains("interrupted after"), "{}", ran.stderr);
        } else {
            assert_eq!((ran.result, rows), (Ok(CommandStatus::Ok), 9));
            return;
        }
    }
}

/// Text shows methods with samples with a note; rows are only written for complete groups.
#[test]
fn an_interrupt_of_one_matrix_shows_partial_results() {
    let dir = folder(&[("a.mtx", SMALL)]);
    let words = format!("--mtx {} {EXACT} --rounds 2", dir.path().join("a.mtx").display());
    let words = words.replace("--rounds 1 ", "");
    let interrupted = |words: &str, at| {
        let flag = AtomicBool::new(false);
        let clock = FakeClock::new(Duration::from_millis(1));
        let ran = run_with(words, &Interrupting { clock, calls: 0.into(), at, flag: &flag }, &flag);
        flag.into_inner().then_some(ran)
    };
    let complete = run(&format!("{words} --format csv")).stdout;
    let mut notes = BTreeSet::new();
    for at in (3..300).step_by(9) {
        if let Some(ran) = interrupted(&words, at) {
            assert_eq!(ran.result, Ok(CommandStatus::Bad));
            assert!(ran.stderr.contains("a.mtx are incomplete"), "{}", ran.stderr);
            assert!(ran.stdout.contains("num_nonzeros: 4\n"), "{}", ran.stdout);
            let rows = ran.stdout.lines().filter(|line| line.contains(" PASS "));
            notes.extend(rows.map(|row| row.split_once("  (").map(|(_, note)| note.to_owned())));
        }
        if let Some(ran) = interrupted(&format!("{words} --format csv"), at) {
            assert!(ran.stdout.is_empty() || ran.stdout == complete, "{}", ran.stdout);
        }
    }
    let expected = ["interrupted after 1 of 2 rounds)", "interrupted in round 1 of 2)"];
    let expected = expected.map(|note| Some(note.to_owned()));
    assert!(expected.iter().all(|note| notes.contains(note)), "{notes:?}");
}
