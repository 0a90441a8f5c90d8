use std::collections::BTreeSet;

use super::env::{Dir, interrupted, run};
use super::{EXACT, SMALL};

#[test]
fn an_interrupt_leaves_complete_rows_of_complete_matrices() {
    let dir = Dir::new(&[("0.mtx", SMALL), ("1.mtx", SMALL), ("2.mtx", SMALL)]);
    let words = dir.words(&format!("corpus DIR {EXACT}"));
    let complete = run(&words).stdout;
    // The signal arrives at every 31st reading of the clock, until a run ends before it.
    for at in (1..).step_by(31) {
        let (ran, is_interrupted) = interrupted(&words, at);
        assert!(complete.starts_with(&ran.stdout), "whole rows only");
        let rows = ran.stdout.lines().count().saturating_sub(1);
        assert_eq!(rows % 3, 0, "whole matrices only");
        if !is_interrupted {
            assert_eq!((ran.status, rows), (Some(0), 9));
            return;
        }
        ran.exits(1).says("interrupted after");
    }
}

/// Text shows methods with samples with a note; rows are only written for complete groups.
#[test]
fn an_interrupt_of_one_matrix_shows_partial_results() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let words = dir.words(&format!("--mtx DIR/a.mtx {EXACT}").replace("rounds 1", "rounds 2"));
    let complete = run(&format!("{words} --format csv")).stdout;
    let mut notes = BTreeSet::new();
    for at in (3..300).step_by(9) {
        if let (ran, true) = interrupted(&words, at) {
            let ran = ran.exits(1);
            ran.prints("num_nonzeros: 4\n").says("a.mtx are incomplete");
            let remarks = ran.stdout.lines().filter_map(|line| line.split_once(": interrupted "));
            notes.extend(remarks.map(|(_, remark)| remark.to_owned()));
        }
        if let (ran, true) = interrupted(&format!("{words} --format csv"), at) {
            assert!(ran.stdout.is_empty() || ran.stdout == complete, "{}", ran.stdout);
        }
    }
    for note in ["after 1 of 2 rounds", "in round 1 of 2"] {
        assert!(notes.contains(note), "{notes:?}");
    }
}
