//! Tests with a library that crashes or hangs: only one method of one matrix fails.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{EXACT, LITTLE_MEMORY, Place, Ran, at_once, behind, column, compiled, rows};

const METHODS: &str = "seq,mkl-ie,mkl-ie-opt,merge";

/// Creates a folder with three matrices of 40, 30 and 20 rows, and a library that fails on the middle one.
pub fn place() -> Place {
    let place = Place::with_matrices(&[40, 30, 20]);
    let libraries = place.path("libraries");
    fs::create_dir(&libraries).unwrap();
    let library = compiled("campaign/fake_mkl.c", &["-shared"]).expect("a C compiler");
    for name in ["rt", "core", "intel_lp64", "intel_thread", "def"] {
        fs::copy(&library, libraries.join(format!("libmkl_{name}.so.2"))).unwrap();
    }
    fs::copy(&library, libraries.join("libiomp5.so")).unwrap();
    place
}

/// Returns a command that runs the program with the library, which fails in this way.
fn program(place: &Place, how: &str, words: &str) -> Command {
    let mut program = place.program(words);
    program.env("SPMV_BENCH_LIBRARY_PATH", place.path("libraries"));
    program.env("FAKE_MKL", how).env("FAKE_MKL_ROWS", "30");
    program
}

/// Runs the program with the library, which fails in this way.
fn run(place: &Place, how: &str, words: &str) -> Ran {
    Ran::of(program(place, how, words).output().unwrap())
}

/// Returns status and reason of each row if the library fails in this way.
fn outcomes(place: &Place, how: &str, options: &str) -> (Option<i32>, Vec<(String, String)>) {
    let ran = run(place, how, &format!("corpus matrices {EXACT} {METHODS} {options}"));
    assert_eq!(column(&ran.stdout, "method_name").len(), 12, "{ran:?}");
    let rows = rows(&ran.stdout);
    let methods: Vec<_> = rows.iter().map(|row| &*row["method_name"]).collect();
    assert_eq!(methods, ["seq", "merge", "mkl-ie", "mkl-ie-opt"].repeat(3));
    let outcome = |row: &std::collections::BTreeMap<String, String>| {
        (row["status"].clone(), row["reason"].clone())
    };
    (ran.status, rows.iter().map(outcome).collect())
}

#[test]
fn a_crash_is_recorded_for_its_method_and_the_others_continue() {
    let place = place();
    let (status, whole) = outcomes(&place, "", "");
    assert_eq!(status, Some(0));
    assert!(whole.iter().all(|(status, _)| status == "ok"), "{whole:?}");
    let cases = [
        ("segv", ["was ended by signal 11 (SIGSEGV)", ""]),
        (
            "abort",
            [
                "was ended by signal 6 (SIGABRT)",
                ", as when memory runs out or after an uncaught C++ exception",
            ],
        ),
        ("kill", ["was ended by signal 9 (SIGKILL)", ", as when memory runs out"]),
        ("exit", ["exited with status 3", ""]),
    ];
    at_once(&cases, |(how, [exit, cause])| {
        let (status, outcomes) = outcomes(&place, how, "");
        assert_eq!(status, Some(1), "{how}");
        for (k, (status, reason)) in outcomes.iter().enumerate() {
            if k == 7 {
                assert_eq!(status, "failed", "{how}");
                assert_eq!(
                    *reason,
                    format!("the child process {exit} while running mkl-ie-opt{cause}")
                );
            } else {
                assert_eq!(status, "ok", "{how} {k}: {reason}");
            }
        }
    });
}

/// Other methods would have other times and results if the state stayed as the library leaves it.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_library_that_flushes_subnormal_numbers_to_zero_is_found() {
    let place = place();
    let (status, outcomes) = outcomes(&place, "flush", "");
    assert_eq!(status, Some(1));
    let changed = "flush-to-zero (FTZ), denormals-are-zero (DAZ)";
    for (k, outcome) in outcomes.iter().enumerate() {
        let reason = format!("it has changed {changed}, and not restored it");
        let expected = if k == 7 { ("failed", &*reason) } else { ("ok", &*outcome.1) };
        assert_eq!((&*outcome.0, &*outcome.1), expected, "{k}");
    }
    let ran = run(&place, "load-flush", &format!("--mtx matrices/m1.mtx {EXACT} seq,mkl-ie"));
    let warning = format!("libmkl_rt.so.2: opening it has changed {changed}; this was undone");
    assert!(ran.status == Some(0) && ran.stderr.contains(&warning), "{ran:?}");
}

#[test]
fn a_method_that_hangs_is_stopped() {
    let (status, outcomes) = outcomes(&place(), "hang", "--timeout 2");
    assert_eq!(status, Some(1));
    let (status, reason) = &outcomes[7];
    assert_eq!(status, "timeout");
    assert_eq!(reason, "did not end within the 2 s of --timeout while running mkl-ie-opt");
    let others = outcomes.iter().enumerate().filter(|(k, _)| *k != 7);
    assert!(others.clone().all(|(_, (status, _))| status == "ok"), "{outcomes:?}");
}

/// Results that were complete before a crash are neither lost nor measured again.
#[test]
fn a_crash_does_not_affect_the_groups_before_it() {
    let place = place();
    let words = format!("corpus matrices {EXACT} {METHODS} --precision both --output out.csv");
    let ran = run(&place, "segv-f32", &words);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let text = place.read("out.csv");
    let of_matrix = ["ok", "ok", "ok", "ok", "ok", "ok", "failed", "failed"];
    assert_eq!(column(&text, "status"), of_matrix.repeat(3), "{text}");
    assert_eq!(column(&text, "precision"), [["f64"; 4], ["f32"; 4]].concat().repeat(3));
}

/// Returns status and reason of each row for a single matrix with a library that fails in this way.
fn of_one(place: &Place, how: &str, options: &str) -> Vec<(String, String)> {
    let words = format!("--mtx matrices/m2.mtx {EXACT} {METHODS} --format csv {options}");
    let ran = run(place, how, &words);
    assert_eq!(column(&ran.stdout, "method_name"), ["seq", "merge", "mkl-ie", "mkl-ie-opt"]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let rows = rows(&ran.stdout).into_iter();
    rows.map(|row| (row["status"].clone(), row["reason"].clone())).collect()
}

#[test]
fn a_library_that_fails_when_it_is_loaded_ends_its_own_methods() {
    let place = place();
    let cases = [
        ("load-segv", "", "failed", "the child process was ended by signal 11 (SIGSEGV)"),
        ("load-hang", "--timeout 1", "timeout", "did not end within the 1 s of --timeout"),
        ("load-exit", "", "failed", "the child process exited with status 0"),
    ];
    at_once(&cases, |(how, options, status, exit)| {
        let rows = of_one(&place, how, options);
        assert!(rows[..2].iter().all(|row| row.0 == "ok"), "{rows:?}");
        for (row, method) in rows[2..].iter().zip(["mkl-ie", "mkl-ie-opt"]) {
            assert_eq!((&*row.0, &*row.1), (*status, &*format!("{exit} while running {method}")));
        }
    });
    // No selected method uses the library.
    let words = format!("--mtx matrices/m2.mtx {EXACT} seq,merge");
    assert_eq!(run(&place, "load-segv", &words).status, Some(0));
}

#[test]
fn system_reports_a_library_that_ends_its_process() {
    let place = place();
    let program = program(&place, "load-exit", "system --threads 1 --format json");
    let ran = behind(&LITTLE_MEMORY, &program);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let mkl = &facts["libraries"][0];
    assert_eq!(mkl["name"], "MKL");
    assert_eq!(mkl["place"], "the child process exited with status 0 while it was opened");
    assert_eq!(facts["bandwidth"].as_array().unwrap().len(), 1);
}

/// The command has nothing to complete, so the first signal ends it.
#[test]
fn system_ends_at_the_first_signal() {
    let place = place();
    let mut program = program(&place, "load-hang", "system --threads 1");
    let mut child = program.stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
}

#[test]
fn a_library_that_cannot_be_opened_is_reported_with_the_reason() {
    let place = place();
    fs::write(place.path("libraries/libmkl_rt.so.2"), "\x7fELF and no more").unwrap();
    let words = format!("--mtx matrices/m2.mtx {EXACT} seq,mkl-ie --format csv");
    let ran = run(&place, "", &words);
    assert_eq!(column(&ran.stdout, "status"), ["ok", "skipped"], "{ran:?}");
    let reason = &column(&ran.stdout, "reason")[1];
    assert!(reason.starts_with("Intel MKL cannot be opened: "), "{reason}");
    assert!(reason.contains("libraries/libmkl_rt.so.2"), "{reason}");
}

/// The later methods are destroyed after it, and the results of all other methods are present.
#[test]
fn a_library_that_fails_while_freeing_a_matrix_is_reported() {
    let rows = of_one(&place(), "destroy-segv", "");
    assert!(rows[..2].iter().all(|row| row.0 == "ok"), "{rows:?}");
    for (row, method) in rows[2..].iter().zip(["mkl-ie", "mkl-ie-opt"]) {
        let reason =
            format!("the child process was ended by signal 11 (SIGSEGV) while running {method}");
        assert_eq!((&*row.0, &row.1), ("failed", &reason));
    }
}

#[test]
fn a_version_that_is_too_long_is_cut_off() {
    let place = place();
    let words = format!("--mtx matrices/m2.mtx {EXACT} mkl-ie --format csv");
    let mut program = program(&place, "", &words);
    program.env("FAKE_MKL_VERSION", format!("Version {}", "1".repeat(4000)));
    let ran = Ran::of(program.output().unwrap());
    assert_eq!(column(&ran.stdout, "library_version"), [format!("MKL {}", "1".repeat(292))]);
}

/// All rows of a run must be measured with the same version of a library.
#[test]
fn a_run_is_not_continued_with_another_library_version() {
    let place = place();
    let run = |version: &str, options: &str| {
        let words = format!("corpus matrices {EXACT} seq,mkl-ie --output out.csv {options}");
        let mut program = program(&place, "", &words);
        program.env("FAKE_MKL_VERSION", format!("Version {version}"));
        Ran::of(program.output().unwrap())
    };
    assert_eq!(run("1", "").status, Some(0));
    let whole = place.read("out.csv");
    let cut: String = whole.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write(place.path("out.csv"), &cut).unwrap();
    let ran = run("2", "--resume");
    assert_eq!((ran.status, place.read("out.csv")), (Some(2), cut), "{ran:?}");
    assert!(ran.stderr.contains("the run began with MKL 1 ("), "{ran:?}");
    assert!(ran.stderr.contains(", but now uses MKL 2 ("), "{ran:?}");
    assert_eq!(run("1", "--resume").status, Some(0));
}

/// The parent reports the refusal of the child as its own error.
#[test]
fn a_refused_command_line_is_reported_once() {
    let ran = place().run("corpus matrices --device cpu --threads 100000");
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.starts_with("spmv-bench: --threads 100000: this process may run on"),
        "{ran:?}"
    );
    assert_eq!(ran.stderr.lines().count(), 1);
}
