//! Tests with a library that crashes, hangs or skips products: only one method of one matrix fails.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use nix::sys::signal::Signal;

use crate::{Dir, EXACT, LITTLE_MEMORY, Ran, at_once, behind, children, compiled, eventually, signal};

const METHODS: &str = "seq,mkl-ie,mkl-ie-opt,merge";
const SEGV: &str = "the child process was ended by signal 11 (SIGSEGV)";

/// Creates a folder with three matrices of 40, 30 and 20 rows, and a library that fails on the middle one.
pub fn place() -> Dir {
    let place = Dir::with_matrices(&[40, 30, 20]);
    let library = fs::read(compiled("campaign/fake_mkl.c", &["-shared"]).expect("a C compiler"));
    let library = library.unwrap();
    for name in ["mkl_rt", "mkl_core", "mkl_intel_lp64", "mkl_intel_thread", "mkl_def"] {
        place.write(&format!("libraries/lib{name}.so.2"), &library);
    }
    place.write("libraries/libiomp5.so", library);
    place
}

pub fn run_with_library(place: &Dir, words: &str, variables: &[(&str, &str)]) -> Ran {
    let libraries = place.path("libraries").display().to_string();
    place.run_with(words, &[variables, &[("SPMV_BENCH_LIBRARY_PATH", &libraries)]].concat())
}

/// Runs the program with the library, which fails in this way.
fn run(place: &Dir, how: &str, words: &str) -> Ran {
    run_with_library(place, words, &[("FAKE_MKL", how), ("FAKE_MKL_ROWS", "30")])
}

/// Returns status and reason of each row. The rows must be those of all methods for each of so many matrices.
fn ends(ran: &Ran, matrices: usize) -> Vec<(String, String)> {
    let methods = ["seq", "merge", "mkl-ie", "mkl-ie-opt"].repeat(matrices);
    assert_eq!(ran.column("method_name"), methods, "{ran:?}");
    ran.column("status").into_iter().zip(ran.column("reason")).collect()
}

/// Asserts that the only row that is not ok is that of `mkl-ie-opt` on the middle matrix.
fn assert_one_fails(place: &Dir, how: &str, reason: &str) {
    let ran = run(place, how, &format!("corpus matrices {EXACT} {METHODS}")).exits(1);
    let mut ends = ends(&ran, 3);
    assert_eq!(ends.remove(7), ("failed".into(), reason.into()), "{how}");
    assert!(ends.iter().all(|(status, _)| status == "ok"), "{how}: {ends:?}");
}

#[test]
fn a_crash_is_recorded_for_its_method_and_the_others_continue() {
    let place = place();
    let whole = run(&place, "", &format!("corpus matrices {EXACT} {METHODS}")).exits(0);
    assert!(ends(&whole, 3).iter().all(|(status, _)| status == "ok"), "{whole:?}");
    let memory = ", as when memory runs out";
    let uncaught = ", as when memory runs out or after an uncaught C++ exception";
    let cases = [
        ("segv", "was ended by signal 11 (SIGSEGV)", ""),
        ("abort", "was ended by signal 6 (SIGABRT)", uncaught),
        ("kill", "was ended by signal 9 (SIGKILL)", memory),
        ("exit", "exited with status 3", ""),
    ];
    at_once(&cases, |(how, exit, cause)| {
        let reason = format!("the child process {exit} while running mkl-ie-opt{cause}");
        assert_one_fails(&place, how, &reason);
    });
}

/// All methods share the matrix and the process.
#[test]
fn a_library_that_changes_what_all_share_is_named_and_the_others_are_right() {
    let place = place();
    let folder = "the working directory, and not restored it";
    let cases = [("values", "the matrix"), ("columns", "the matrix"), ("folder", folder)];
    at_once(&cases, |(how, what)| {
        assert_one_fails(&place, how, &format!("it has changed {what}"));
    });
}

/// Other methods would have other times and results if the state stayed as the library leaves it.
#[test]
#[cfg(target_arch = "x86_64")]
fn opening_a_library_that_flushes_subnormal_numbers_to_zero_is_undone() {
    let words = format!("--mtx matrices/m1.mtx {EXACT} seq,mkl-ie");
    run(&place(), "load-flush", &words)
        .exits(0)
        .says("libmkl_rt.so.2: opening it has changed flush-to-zero (FTZ), denormals-are-zero (DAZ); this was undone");
}

#[test]
fn a_library_that_fails_when_it_is_loaded_or_frees_a_matrix_ends_its_own_methods() {
    let place = place();
    let cases = [
        ("load-segv", "", "failed", SEGV),
        ("load-hang", "--timeout 1", "timeout", "did not end within the 1 s of --timeout"),
        ("load-exit", "", "failed", "the child process exited with status 0"),
        ("destroy-segv", "", "failed", SEGV),
    ];
    at_once(&cases, |(how, options, status, exit)| {
        let words = format!("--mtx matrices/m2.mtx {EXACT} {METHODS} --format csv {options}");
        let rows = ends(&run(&place, how, &words).exits(1), 1);
        assert!(rows[..2].iter().all(|row| row.0 == "ok"), "{rows:?}");
        for (row, method) in rows[2..].iter().zip(["mkl-ie", "mkl-ie-opt"]) {
            assert_eq!((&*row.0, &*row.1), (*status, &*format!("{exit} while running {method}")));
        }
    });
    // No selected method uses the library.
    run(&place, "load-segv", &format!("--mtx matrices/m2.mtx {EXACT} seq,merge")).exits(0);
}

#[test]
fn system_reports_a_library_that_ends_its_process() {
    let place = place();
    let mut program = place.program("system --threads 1 --format json");
    program.env("SPMV_BENCH_LIBRARY_PATH", place.path("libraries")).env("FAKE_MKL", "load-exit");
    let ran = behind(&LITTLE_MEMORY, &program).exits(0);
    let facts = ran.json().remove(0);
    let mkl = &facts["libraries"][0];
    assert_eq!(mkl["name"], "MKL");
    assert_eq!(mkl["place"], "the child process exited with status 0 while it was opened");
    assert_eq!(facts["bandwidth"].as_array().unwrap().len(), 1);
}

/// The command has nothing to complete, so the first signal ends it.
#[test]
fn system_ends_at_the_first_signal() {
    let place = place();
    let mut program = place.program("system --threads 1");
    program.env("SPMV_BENCH_LIBRARY_PATH", place.path("libraries")).env("FAKE_MKL", "load-hang");
    let mut child = program.stdout(Stdio::null()).spawn().unwrap();
    assert!(eventually(|| !children(&child).is_empty()));
    signal(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
}

#[test]
fn a_library_that_cannot_be_opened_is_reported_with_the_reason() {
    let place = place();
    place.write("libraries/libmkl_rt.so.2", "\x7fELF and no more");
    let words = format!("--mtx matrices/m2.mtx {EXACT} seq,mkl-ie --format csv");
    let ran = run(&place, "", &words);
    assert_eq!(ran.column("status"), ["ok", "skipped"], "{ran:?}");
    ran.prints("Intel MKL cannot be opened: ").prints("libraries/libmkl_rt.so.2");
}

#[test]
fn a_version_that_is_too_long_is_cut_off() {
    let words = format!("--mtx matrices/m2.mtx {EXACT} mkl-ie --format csv");
    let version = format!("Version {}", "1".repeat(4000));
    let ran = run_with_library(&place(), &words, &[("FAKE_MKL_VERSION", &version)]);
    assert_eq!(ran.column("library_version"), [format!("MKL {}", "1".repeat(292))]);
}

/// All rows of a run must be measured with the same version of a library.
#[test]
fn a_run_is_not_continued_with_another_library_version() {
    let place = place();
    let run = |version: &str, more: &str| {
        let words = format!("corpus matrices {EXACT} seq,mkl-ie --output out.csv {more}");
        run_with_library(&place, &words, &[("FAKE_MKL_VERSION", version)])
    };
    run("Version 1", "").exits(0);
    let cut: String = place.read("out.csv").split_inclusive('\n').take(3).collect();
    place.write("out.csv", &cut);
    let ran = run("Version 2", "--resume").exits(2);
    assert_eq!(place.read("out.csv"), cut);
    ran.says("the run began with MKL 1 (").says(", but now uses MKL 2 (");
    run("Version 1", "--resume").exits(0);
}

/// The parent reports the refusal of the child as its own error.
#[test]
fn a_refused_command_line_is_reported_once() {
    let ran = place().run("corpus matrices --device cpu --threads 100000").exits(2);
    let begin = "spmv-bench: --threads 100000: this process may run on";
    assert!(ran.stderr.starts_with(begin) && ran.stderr.lines().count() == 1, "{ran:?}");
}

/// Each case is what the library does, and the options. More kinds of such methods are in `tests/liars`.
#[test]
fn a_library_that_skips_products_or_continues_after_them_is_wrong() {
    let place = place();
    for (how, options) in [
        ("", "--iterations 50"),
        ("known-x", "--iterations 50"),
        // Each product follows the eviction of the caches, which may be large.
        ("known-x", "--iterations 20 --rounds 2 --cache cold"),
        ("thread", "--iterations 50"),
        ("thread", "--iterations 50 --rounds 1"),
    ] {
        let matrix = "--mtx gen:uniform,rows=5000,nnz=1000000";
        let words = format!("{matrix} --methods mkl-ie --threads 1 {options} --format csv");
        let ran = run_with_library(&place, &words, &[("FAKE_MKL", how)]);
        let expected: &[&str] = match how {
            "" => &["ok"],
            // A thread that continues after its matrix has been freed may crash the process.
            "thread" => &["wrong", "failed"],
            _ => &["wrong"],
        };
        let status = ran.column("status").concat();
        assert!(expected.contains(&&*status), "{how} {options}: {ran:?}");
    }
}
