//! Checks that the real program accepts the command lines of the steps: it must report for each that there is no GPU.
//! On a machine with a GPU the test is skipped with a message, because it would measure.

use std::io::Write;
use std::os::unix::fs::symlink;

use spmv_bench::library;

use crate::{Place, steps};

/// Steps that do not run the real program, or that detect themselves that there is no GPU.
const OTHERS: [&str; 3] = ["battery", "reproduce", "profile"];

#[test]
fn the_program_understands_every_step() {
    if library::open(None, "libcuda.so.1").is_ok() {
        let _ = writeln!(std::io::stderr(), "skipped: this machine has a CUDA driver");
        return;
    }
    let place = Place::new();
    symlink(env!("CARGO_BIN_EXE_spmv-bench"), place.path("real")).unwrap();
    place.program("target/gpu-check/spmv-bench", "[ $1 = system ] || exec ./real \"$@\"\necho '{ \"gpus\": [ { \"name\": \"Some GPU\" } ] }'");
    place.program(
        "bin/compute-sanitizer",
        "while [ \"$1\" != --error-exitcode ]; do shift; done; shift 2; exec \"$@\"",
    );
    place.run("out");
    for (step, _) in steps().iter().filter(|(step, _)| !OTHERS.contains(&&**step)) {
        let log = place.read(&format!("out/{step}.log"));
        // A device file must be measured on a real GPU, so the message does not suggest a modelled one.
        let ending =
            if step == "gpu-file" { "on this machine\n" } else { "or --device model:h200\n" };
        let is_reported = log.contains("no CUDA driver") && log.ends_with(ending);
        assert!(is_reported, "{step}: {log}");
    }
}

/// The script measures the shapes with `corpus` instead of `tune shapes`, because `corpus` can be resumed.
#[test]
fn the_sweep_is_that_of_tune_shapes() {
    let script = include_str!("../../scripts/gpu-check");
    let words = script.lines().filter_map(|line| line.strip_prefix("sweep"));
    let words: Vec<_> = words.filter_map(|line| line.split('\'').nth(1)).collect();
    let words: Vec<_> =
        words.iter().flat_map(|line| line.split(',')).filter(|word| !word.is_empty()).collect();
    let source = include_str!("../../src/cli/tune/shapes.rs");
    let (_, list) = source.split_once("DEFAULT: &[&str] = &[").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    let tuned: Vec<_> = list.split('"').skip(1).step_by(2).collect();
    assert_eq!(words, tuned);
    assert!(words.len() > 3, "{words:?}");
}
