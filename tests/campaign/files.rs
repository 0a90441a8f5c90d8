//! Tests of output files: contents are kept until there is a replacement, and different outputs need different
//! files.

use std::fs;
use std::path::Path;

use crate::{EXACT, Place, behind, column, eventually, rows};

#[test]
fn a_matrix_file_to_be_measured_is_not_overwritten() {
    let place = Place::with_matrices(&[20, 30]);
    std::os::unix::fs::symlink("matrices/m2.mtx", place.path("link")).unwrap();
    let before = place.read("matrices/m2.mtx");
    for (words, message) in [
        (
            "--mtx matrices/m2.mtx --output ./matrices/m2.mtx",
            "matrices/m2.mtx is a matrix that is measured",
        ),
        ("--mtx matrices/m2.mtx --run-record link", "matrices/m2.mtx is a matrix that is measured"),
        ("corpus matrices --output link", "matrices/m2.mtx is a matrix that is measured"),
        (
            "corpus matrices --output out.csv --run-record matrices/m2.mtx",
            "is a matrix that is measured",
        ),
        (
            "corpus matrices --output out.csv --run-record ./out.csv",
            "--run-record and --output need different files",
        ),
        (
            "tune csr-k matrices --output matrices/m2.mtx",
            "matrices/m2.mtx is a matrix that is measured",
        ),
    ] {
        let ran = place.run(&format!("{words} --device cpu --threads 1"));
        assert_eq!((ran.status, ran.stderr.lines().count()), (Some(2), 1), "{words}: {ran:?}");
        assert!(ran.stderr.contains(message), "{words}: {ran:?}");
        assert_eq!(place.read("matrices/m2.mtx"), before, "{words}");
        assert!(!place.path("out.csv").exists(), "{words}");
    }
}

#[test]
fn a_run_without_results_keeps_earlier_ones() {
    let place = Place::with_matrices(&[20]);
    let words = |mtx: &str, format: &str| {
        format!("--mtx matrices/{mtx} {EXACT} seq --format {format} --output out --force")
    };
    for format in ["csv", "json", "text"] {
        let ran = place.run(&words("m1.mtx", format));
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let there = || (place.read("out"), place.read("out.run.json"));
        let before = there();
        assert!(before.0.len() > 100 && before.1.len() > 100);
        assert_eq!(place.run(&words("typo.mtx", format)).status, Some(2));
        assert!(there() == before, "{format}");
        assert_eq!(place.run(&words("m1.mtx", "text")).status, Some(0));
        assert!(place.read("out").starts_with("matrices/m1.mtx"), "nothing of the older is left");
    }
}

/// An unbalanced quote joins the rows after it into one field.
#[test]
fn an_unbalanced_quote_loses_no_row() {
    let place = Place::with_matrices(&[20, 30]);
    let words = |more: &str| format!("corpus matrices {EXACT} seq,merge --output out.csv {more}");
    assert_eq!(place.run(&words("")).status, Some(0));
    let edited = place.read("out.csv").replacen("\nmatrices", "\n\"matrices", 1);
    fs::write(place.path("out.csv"), &edited).unwrap();
    for more in ["", "--resume", "--resume --warmups 9"] {
        let ran = place.run(&words(more));
        let message = "spmv-bench: out.csv:2: a quote that is not closed: ";
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.starts_with(message), "{more}: {ran:?}");
        assert_eq!(place.read("out.csv"), edited, "{more}");
    }
    // A command that is refused for another reason does not remove the incomplete last row either.
    let torn = &edited.replacen('"', "", 1)[..edited.len() - 9];
    fs::write(place.path("out.csv"), torn).unwrap();
    for more in ["", "--resume --warmups 9"] {
        assert_eq!(place.run(&words(more)).status, Some(2));
        assert_eq!(place.read("out.csv"), torn, "{more}");
    }
}

#[test]
fn two_runs_do_not_write_one_file() {
    let place = Place::with_matrices(&[20]);
    let endless = "corpus gen:grid2d,n=300,points=5 --no-bandwidth --methods seq --min-time 60 \
                   --max-time 60 --format json --output out.json";
    let mut first = place.program(endless).spawn().unwrap();
    assert!(eventually(|| place.path("out.json.run.json").exists()));
    let record = place.read("out.json.run.json");
    let second = place.run(&format!("corpus matrices {EXACT} seq --format json --output out.json"));
    first.kill().unwrap();
    first.wait().unwrap();
    let message = "spmv-bench: out.json.run.json already exists: name another file, or replace it with --force\n";
    assert_eq!((second.status, &*second.stderr), (Some(2), message));
    assert_eq!(place.read("out.json.run.json"), record);
}

#[test]
fn an_output_that_is_not_a_file_has_no_run_record() {
    let place = Place::with_matrices(&[20]);
    for format in ["csv", "json", "text"] {
        let words = format!("corpus matrices {EXACT} seq --format {format}");
        let [piped, plain] = ["--output /dev/stdout", ""].map(|output| {
            let ran = place.run(&format!("{words} {output}"));
            assert_eq!(ran.status, Some(0), "{ran:?}");
            ran.stdout.lines().count()
        });
        assert_eq!(piped, plain, "{format}");
        assert!(!Path::new("/dev/stdout.run.json").exists());
    }
}

/// If nobody reads the warnings, the rows are still written.
#[test]
fn a_closed_stderr_does_not_end_the_run() {
    let place = Place::with_matrices(&[20, 30]);
    let twice = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 1\n2 2 1\n";
    fs::write(place.path("matrices/a.mtx"), twice).unwrap();
    let words = |more: &str| format!("corpus matrices {EXACT} seq,merge {more}");
    for to in ["2>/dev/full", "2>&1 | true", "2>&-"] {
        let shell = format!("\"$@\" {to}");
        let front = ["bash", "-o", "pipefail", "-c", &shell, "sh"];
        let ran = behind(&front, &place.program(&words("--output out.csv")));
        assert_eq!(ran.status, Some(0), "{to}: {ran:?}");
        assert_eq!(column(&place.read("out.csv"), "status"), ["ok"; 6], "{to}");
        for name in ["out.csv", "out.csv.run.json"] {
            fs::remove_file(place.path(name)).unwrap();
        }
        let ran = behind(&front, &place.program("corpus absent"));
        assert_eq!(ran.status, Some(2), "{to}: {ran:?}");
    }
}

/// A failure to write the cache does not end the run; a failure to write a row does, with a message.
#[test]
fn a_limited_file_size_is_a_write_error() {
    let place = Place::with_matrices(&[6000, 30, 20]);
    let words = format!("corpus matrices {EXACT} seq,merge,csr-rows,csr5 --output out.csv");
    let run = |kib: usize| {
        let limit = format!("ulimit -f {kib} && exec \"$@\"");
        behind(&["bash", "-c", &limit, "sh"], &place.program(&words))
    };
    let ran = run(20);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("File too large"), "{ran:?}");
    assert_eq!(column(&place.read("out.csv"), "status"), ["ok"; 12]);
    for name in ["out.csv", "out.csv.run.json"] {
        fs::remove_file(place.path(name)).unwrap();
    }
    let ran = run(4);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("cannot write out.csv: File too large"), "{ran:?}");
    assert!((4..12).contains(&rows(&place.read("out.csv")).len()));
}
