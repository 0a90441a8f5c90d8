//! The steps' command lines and the real program, which must understand them. Here it says of each that
//! there is no GPU; with a GPU the test says so and ends, for it would measure.

use std::io::Write;
use std::os::unix::fs::symlink;

use spmv_bench::methods::vendor::library;

use crate::{Place, steps};

/// Steps that the real program has no part in, or that find out by themselves that there is no GPU.
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
        // A device file is measured, so that a model in the place of the GPU would be of no use.
        let mend =
            if step == "gpu-file" { "on this machine\n" } else { "or --device model:h200\n" };
        let told = log.contains("no CUDA driver") && log.ends_with(mend);
        assert!(told, "{step}: {log}");
    }
}

/// The shapes are swept by `corpus`, not by `tune shapes`, which could not go on where it was.
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
