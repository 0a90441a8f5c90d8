//! Tests of the results after an interrupt.

use std::collections::BTreeSet;

use spmv_bench::cli::CommandStatus;

use crate::env::{Dir, interrupted};
use crate::{EXACT, SMALL};

#[test]
fn an_interrupt_leaves_complete_rows_of_complete_matrices() {
    let dir = Dir::new(&[("0.mtx", SMALL), ("1.mtx", SMALL), ("2.mtx", SMALL)]);
    let words = dir.words(&format!("corpus DIR {EXACT}"));
    let complete = dir.run(&words).stdout;
    // The signal arrives at every 31st reading of the clock, until a run ends before it.
    for at in (1..).step_by(31) {
        let (ran, is_interrupted) = interrupted(&words, at);
        assert!(complete.starts_with(&ran.stdout), "whole rows only");
        let rows = ran.stdout.lines().count().saturating_sub(1);
        assert_eq!(rows % 3, 0, "whole matrices only");
        if is_interrupted {
            assert_eq!(ran.result, Ok(CommandStatus::Bad));
            ran.says("interrupted after");
        } else {
            assert_eq!((ran.result, rows), (Ok(CommandStatus::Ok), 9));
            return;
        }
    }
}

/// Text shows methods with samples with a note; rows are only written for complete groups.
#[test]
fn an_interrupt_of_one_matrix_shows_partial_results() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let words =
        dir.words(&format!("--mtx DIR/a.mtx {EXACT} --rounds 2").replace("--rounds 1 ", ""));
    let complete = dir.run(&format!("{words} --format csv")).stdout;
    let mut notes = BTreeSet::new();
    for at in (3..300).step_by(9) {
        if let (ran, true) = interrupted(&words, at) {
            assert_eq!(ran.result, Ok(CommandStatus::Bad));
            ran.says("a.mtx are incomplete");
            ran.prints("num_nonzeros: 4\n");
            let rows = ran.stdout.lines().filter(|line| line.contains(" PASS "));
            notes.extend(rows.map(|row| row.split_once("  (").map(|(_, note)| note.to_owned())));
        }
        if let (ran, true) = interrupted(&format!("{words} --format csv"), at) {
            assert!(ran.stdout.is_empty() || ran.stdout == complete, "{}", ran.stdout);
        }
    }
    let expected = ["interrupted after 1 of 2 rounds)", "interrupted in round 1 of 2)"];
    let expected = expected.map(|note| Some(note.to_owned()));
    assert!(expected.iter().all(|note| notes.contains(note)), "{notes:?}");
}
