//! Tests which steps of `gpu-check` run, and how they end.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{Place, Ran, steps};

#[test]
fn all_steps_take_25_minutes_at_most_and_the_most_valuable_come_first() {
    let steps = steps();
    assert!(steps.iter().map(|(_, limit)| limit).sum::<u64>() <= 25 * 60, "{steps:?}");
    assert!(steps.iter().all(|(_, limit)| *limit < 9 * 60), "{steps:?}");
    let first =
        ["battery", "verify", "verify-transposed", "bench-regular", "bench-irregular", "shapes"];
    assert!(first.iter().zip(&steps).all(|(first, (name, _))| first == name), "{steps:?}");
}

#[test]
fn a_step_runs_once_unless_it_is_named() {
    let place = Place::new();
    let ran = place.run("out");
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let asked = place.asked();
    assert!(asked[..2].iter().all(|words| words.starts_with("battery ")), "{asked:?}");
    assert!(asked[2].contains("--output out/verify.csv --resume"), "{asked:?}");
    for (step, _) in steps() {
        let note = place.note(&step);
        let expected = if step == "profile" { "not run: no rows of profile-rows" } else { "ok, " };
        assert!(note.starts_with(expected), "{step}: {note}");
    }
    place.run("out");
    assert_eq!(place.asked(), [""; 0]);
    for name in ["out/verify.csv", "out/shapes.csv"] {
        fs::write(place.path(name), "rows\n").unwrap();
    }
    place.run("out shapes");
    let asked = place.asked();
    assert!(asked.len() == 1 && asked[0].contains("--output out/shapes.csv"), "{asked:?}");
    assert!(!place.path("out/shapes.csv").exists() && place.path("out/verify.csv").exists());
    let unknown = place.run("out nothing");
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.stderr.contains("unknown step nothing"), "{unknown:?}");
}

#[test]
fn a_step_that_was_interrupted_is_repeated_and_keeps_its_rows() {
    let place = Place::new();
    place.behaves(r#"case "$*" in *bench-regular.csv*) echo $$ >pid; echo row >out/bench-regular.csv; exec sleep 60 ;; esac"#);
    let process = place.command("out").spawn().unwrap();
    let begun = Instant::now();
    while place.read("pid").is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let signalled = Instant::now();
    let kill = Command::new("kill").arg(process.id().to_string()).status().unwrap();
    assert!(kill.success());
    let ran = Ran::of(process.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert!(signalled.elapsed() < Duration::from_secs(20), "it waits for the step");
    let step = format!("/proc/{}", place.read("pid").trim());
    assert!(!fs::exists(step).unwrap(), "the step is still running");
    assert_eq!((place.note("bench-regular"), place.asked().len()), (String::new(), 5));
    place.behaves("true");
    assert_eq!(place.run("out").status, Some(0));
    let asked = place.asked();
    assert!(asked[0].contains("--output out/bench-regular.csv --resume"), "{asked:?}");
    assert_eq!(place.read("out/bench-regular.csv"), "row\n");
}

#[test]
fn a_time_limit_ends_a_step_and_its_results_are_kept() {
    let place = Place::new();
    place.rewrites("\nverify 140\n", "\nverify 3\n");
    place.rewrites("\nGRACE=5\n", "\nGRACE=1\n");
    place.behaves(
        r#"case "$*" in *verify.csv*) echo row >out/verify.csv; trap '' TERM; sleep 30; sleep 30 ;; esac"#,
    );
    let begun = Instant::now();
    let ran = place.run("out battery verify shapes");
    assert!(begun.elapsed() < Duration::from_secs(20), "{ran:?}");
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(place.note("verify").starts_with("cut off after "), "{}", place.note("verify"));
    assert!(place.note("shapes").starts_with("ok, "), "what comes after it runs");
    place.asked();
    assert_eq!(place.run("out battery").status, Some(1), "it was cut off still");
    place.behaves("true");
    assert_eq!(place.run("out verify").status, Some(0));
    assert_eq!(place.read("out/verify.csv"), "row\n");
}

#[test]
fn steps_that_may_exceed_the_remaining_time_are_skipped() {
    let place = Place::new();
    let ran = place.run("--within 60 out");
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("not enough time was left for: battery verify bench-regular"));
    assert!(
        place.note("verify-transposed").starts_with("ok, ") && place.note("battery").is_empty()
    );
    assert_eq!(place.run("out").status, Some(0));
    assert!(place.note("battery").starts_with("ok, "));
}

#[test]
fn failures_and_wrong_results_cause_exit_status_1() {
    let place = Place::new();
    place.behaves(r#"case "$*" in battery*|*_real_gpu) echo a panic; exit 101 ;; esac"#);
    let ran = place.run("out battery verify");
    assert_eq!((ran.status, ran.stdout.contains("a panic")), (Some(1), true), "{ran:?}");
    assert!(place.note("battery").starts_with("failed with status 123, "));
    let place = Place::new();
    place.run("out verify");
    for (row, status) in [
        ("m.mtx,gpu-a,f64,ok,\n", 0),
        ("m.mtx,gpu-a,f64,skipped,would store 9.00 entries\n", 0),
        ("m.mtx,gpu-a,f64,skipped,it has no transposed product\n", 0),
        ("m.mtx,gpu-a,f64,skipped,out of memory\n", 1),
        ("m.mtx,gpu-a,f64,wrong,row 3\n", 1),
        ("m.mtx,cusparse-csr,f64,timeout,too long\n", 1),
    ] {
        fs::write(place.path("out/verify.csv"), row).unwrap();
        let ran = place.run("out");
        assert_eq!((ran.status, ran.stdout.contains(row)), (Some(status), status == 1), "{row}");
    }
}

#[test]
fn without_a_gpu_or_a_program_nothing_runs() {
    let place = Place::new();
    fs::write(place.path("no-gpu"), "").unwrap();
    let ran = place.run("out");
    assert_eq!((ran.status, &*ran.stderr), (Some(2), "gpu-check: no GPU: no CUDA driver\n"));
    fs::remove_file(place.path("target/gpu-check/spmv-bench")).unwrap();
    let ran = place.run("out");
    assert!(ran.status == Some(2) && ran.stderr.contains("--build to create it"), "{ran:?}");
    assert_eq!(place.asked(), [""; 0]);
}

#[test]
fn a_sanitizer_runs_every_method_and_its_findings_are_printed() {
    let place = Place::new();
    place.run("out memcheck racecheck");
    let asked = place.asked();
    let words = "--device gpu --no-isolate --methods gpu-a,gpu-a:block=*,gpu-b --iterations 1";
    assert!(asked[0].contains("--tool memcheck ") && asked[0].contains(words), "{asked:?}");
    assert!(asked[1].contains("--tool racecheck "), "{asked:?}");

    let found =
        "========= Invalid __global__ read of size 8 bytes\n========= ERROR SUMMARY: 1 error";
    place.behaves(&format!("printf '{found}\\n'; seq 40; exit 9"));
    let ran = place.run("out memcheck");
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.contains(found), "{ran:?}");
    assert!(place.note("memcheck").starts_with("failed with status 9, "));

    place.behaves("echo '========= Error: Device not supported. Please refer to'; exit 1");
    let ran = place.run("out memcheck");
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(place.note("memcheck"), "not run: compute-sanitizer: Device not supported");
}

#[test]
fn a_model_needs_the_file_of_the_gpu() {
    let place = Place::new();
    fs::create_dir(place.path("out")).unwrap();
    let ran = place.run("--model out");
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("no out/gpu-file.toml"), "{ran:?}");
    fs::write(place.path("out/gpu-file.toml"), "name = \"some\"\n").unwrap();
    assert_eq!(place.run("--model out").status, Some(0));
    let asked = place.asked();
    assert!(asked[0].contains("--device model:out/gpu-file.toml") && asked.len() == 1, "{asked:?}");
}
