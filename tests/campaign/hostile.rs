//! Tests with hostile text in file names and matrix comments, which must not reach a terminal or a spreadsheet
//! unescaped.

use std::fs;
use std::process::{Command, Stdio};

use crate::{Dir, EXACT, column, skip};

/// A file name that changes the window's title, moves the cursor up, and reverses the text direction.
const NAME: &str = "matrices/a\u{1b}]0;owned\u{7}\u{1b}[1A\u{9b}2J\u{202e}.mtx";

fn place() -> Dir {
    let place = Dir::with_matrices(&[30]);
    fs::rename(place.path("matrices/m1.mtx"), place.path(NAME)).unwrap();
    place
}

fn assert_harmless(what: &str, text: &str) {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    assert!(!text.contains(obeyed), "{what}: {text:?}");
}

#[test]
fn a_terminal_receives_no_control_characters() {
    let place = place();
    let ran = |words: &str| place.run(&words.replace('~', NAME));
    let quick = "--methods seq --no-bandwidth --max-time 0.001 --rounds 1";
    let csv = ran(&format!("corpus matrices --output a.csv {quick}")).exits(0);
    assert_harmless("the summary of corpus", &csv.stderr);
    assert_eq!(column(&place.read("a.csv"), "file"), [NAME], "a CSV is exact");
    let text = ran(&format!("--mtx ~ {quick}"));
    text.prints("matrices/a\\u{1b}]0;owned");
    assert_harmless("the text report", &text.stdout);
    for words in ["report a.csv", "compare a.csv a.csv", "merge ~"] {
        let shown = ran(words);
        assert_harmless(words, &(shown.stdout + &shown.stderr));
    }
    place.write(NAME, "%%MatrixMarket matrix\n");
    for words in ["--mtx ~", "corpus matrices", "~", "--threads ~"] {
        assert_harmless(words, &ran(&format!("{words} {quick}")).stderr);
    }
}

/// The command `script` records the output to a terminal.
#[test]
fn rows_on_a_terminal_are_escaped() {
    let place = place();
    let program = env!("CARGO_BIN_EXE_spmv-bench");
    let words = format!("{program} corpus matrices {EXACT} seq --quiet");
    let typed = Command::new("script")
        .args(["--quiet", "--return", "--command", &words, "/dev/null"])
        .current_dir(place.path(""))
        .env("SPMV_BENCH_CACHE", place.path("cache"))
        .stdin(Stdio::null())
        .output();
    let Ok(typed) = typed else { return skip("there is no `script` to have a terminal of") };
    let text = String::from_utf8_lossy(&typed.stdout).replace('\r', "");
    assert!(text.contains("matrices/a\\u{1b}]0;owned"), "{text:?}");
    assert_harmless("rows", &text);
}

/// A kind that is a formula is escaped in the files, and unescaped when the files are read.
#[test]
fn a_spreadsheet_receives_no_formulas() {
    let place = Dir::with_matrices(&[]);
    let text = "%%MatrixMarket matrix coordinate real general\n% kind: =cmd|' /C calc'!A0\n2 2 2\n1 1 1\n2 1 3\n";
    place.write("matrices/=1+1.mtx", text);
    place.run(&format!("corpus matrices {EXACT} seq --output a.csv")).exits(0);
    assert_eq!(column(&place.read("a.csv"), "kind"), ["'=cmd|' /C calc'!A0"]);
    let compared = place.run("compare a.csv a.csv --format csv");
    assert_eq!(compared.column("matrix"), ["'=1+1"], "{compared:?}");
    // Reading and writing the file again does not add further apostrophes.
    let before = place.read("a.csv");
    assert_eq!(place.run("merge a.csv").exits(0).stdout, before);
}
