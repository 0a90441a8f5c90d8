//! Tests of the GPU options, with a modelled GPU and without a GPU.

use serde_json::{Value, json};
use spmv_bench::bench::clock::SystemClock;
use spmv_methods::device::facts::{Activity, Clocks};
use spmv_methods::device::model::Model;

use super::env::{Dir, Ran, run, run_on};

const QUICK: &str = "--mtx gen:wheel,spokes=40 --threads 1 --iterations 3 --rounds 1";

fn run_with_gpu(words: &str) -> Ran {
    run_on(&format!("{QUICK} {words}"), &SystemClock::default(), || Model::tiny(1))
}

/// Runs a command on this GPU. Returns its result and the facts of the GPU in the run record.
fn recorded(words: &str, model: impl Fn() -> Model) -> (Ran, Value) {
    let dir = Dir::new(&[]);
    let words = dir.words(&format!("{QUICK} {words} --run-record DIR/run.json"));
    let ran = run_on(&words, &SystemClock::default(), model);
    (ran, dir.json("run.json")["gpu"].take())
}

/// Requested methods are never skipped silently.
#[test]
fn without_a_gpu_requested_gpu_methods_are_an_error() {
    for (words, demand) in [
        ("--device gpu", "--device gpu"),
        ("--device gpu --methods *", "--device gpu"),
        ("--methods gpu-light,seq", "--methods gpu-light"),
        ("--methods seq,gpu-merge:block=*", "--methods gpu-merge:block=*"),
        ("--methods g*,*", "--methods g*"),
        ("--methods cusparse*", "--methods cusparse*"),
        ("--device 0", "--device 0"),
    ] {
        let expected =
            format!("{demand}: no CUDA driver; GPU methods need an NVIDIA GPU and its driver, or --device model:h200");
        let ran = run(&format!("{QUICK} {words}"));
        assert_eq!((ran.error(), &*ran.stdout), (&*expected, ""), "{words}");
    }
}

/// A pattern that matches methods of both devices does not require a GPU, nor does a pattern for methods that another
/// option excludes.
#[test]
fn without_a_gpu_cpu_methods_run_and_one_message_names_the_others() {
    let patterns = ["--methods c*", "--methods * --device all", "--methods seq,*csr*"];
    for words in patterns.into_iter().chain(["--precision both"]) {
        let ran = run(&format!("{QUICK} {words} --format csv")).exits(0);
        ran.says("GPU methods are skipped: no CUDA driver");
        assert_eq!(ran.stderr.matches("no CUDA driver").count(), 1, "{}", ran.stderr);
        assert!(ran.column("device").iter().all(|device| device == "cpu"), "{words}");
    }
    let ran = run(&format!("{QUICK} --methods gpu-light,seq --device cpu --format csv"));
    assert_eq!(ran.exits(0).column("method_name"), ["seq"]);
    assert_eq!(run(&format!("{QUICK} --quiet")).stderr, "");
}

#[test]
fn rows_of_a_gpu_contain_its_device() {
    let methods = "--methods gpu-pcsr,gpu-light:level=vector";
    let ran = run_with_gpu(&format!("--device gpu {methods} --order rcm --format csv")).exits(0);
    assert_eq!(ran.column("method_name"), ["gpu-pcsr", "gpu-light:level=vector"]);
    for (name, value) in [("device", "gpu"), ("threads", ""), ("status", "ok"), ("order", "rcm")] {
        assert_eq!(ran.column(name), [value; 2], "{name}");
    }
    assert_eq!(ran.column("extra_bytes"), ["640", "4"]);
}

#[test]
fn graphs_are_measured_in_addition_to_launched_kernels() {
    let ran = run_with_gpu("--methods seq,gpu-pcsr,gpu-pcsr:graph=on --format csv").exits(0);
    assert_eq!(ran.column("method_name"), ["seq", "gpu-pcsr", "gpu-pcsr:graph=on"]);
    assert_eq!(ran.column("launches"), ["", "2", "1"]);
    // With the model's clock, every launch takes a millisecond.
    assert_eq!(ran.column("launch_floor_ms"), ["", "2.0", "1.0"]);
}

#[test]
fn both_devices_have_a_table_each() {
    let ran = run_with_gpu("--methods seq,gpu-merge,gpu-pcsr --stages").exits(0);
    let at = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("{text}: {}", ran.stdout));
    assert!(at("f64, CPU, 1 thread") < at("seq ") && at("seq ") < at("f64, GPU, hot cache"));
    assert!(at("kernels compiled in") < at("gpu-pcsr"));
    assert!(at("gpu-pcsr") < at("  pcsr_products") && at("  pcsr_products") < at("  pcsr_sums"));
}

#[test]
fn a_gpu_is_chosen_by_number_and_unknown_devices_and_parameters_are_reported() {
    run_with_gpu("--device 0 --methods gpu-csr-scalar").exits(0);
    for (words, expected) in [
        ("--methods gpu-light:speed=9", "has no parameter 'speed'; it has level, lanes, rows, block"),
        ("--methods gpu-light:level=9", "of gpu-light cannot be '9'; it can be warp, vector, or *"),
        ("--methods gpu-light:level=*:level=*", "gpu-light is given the parameter level twice"),
        ("--methods seq:block=9", "seq has no parameters"),
        ("--methods seq:graph=on", "seq has no parameters"),
        ("--methods seq --device gpu", "none of these methods runs on --device gpu"),
        ("--device 3", "spmv-bench: --device 3: there is one GPU; "),
        ("--device tpu", "it must be cpu, gpu, all, the number of a GPU, or model:NAME"),
    ] {
        run_with_gpu(words).exits(2).says(expected);
    }
}

#[test]
fn the_run_record_describes_the_gpu() {
    let (_, gpu) = recorded("--methods gpu-merge", || Model::tiny(1));
    assert_eq!(gpu["name"], "model of a tiny GPU");
    assert!(gpu["nominal_gbs"].as_f64().unwrap() > 0.0);
    // The working sets are half, four times and 32 times the size of the second-level cache.
    let bandwidth = gpu["bandwidth"].as_array().unwrap();
    let bytes: Vec<_> = bandwidth.iter().map(|measured| &measured["bytes"]).collect();
    assert_eq!(bytes, [32 << 10, 256 << 10, 2 << 20]);
    for rate in ["copy_gbs", "read_gbs"] {
        assert!(bandwidth.iter().all(|measured| measured[rate].as_f64().unwrap() > 0.0), "{rate}");
    }
    assert_eq!((&gpu["launch_us"], &gpu["clocks"]), (&json!(1000.0), &Value::Null));
}

#[test]
fn a_throttled_gpu_is_reported_and_recorded() {
    let throttled = || {
        let clocks = Clocks {
            multiprocessor_mhz: 1200,
            memory_mhz: 2600,
            temperature: Some(88),
            throttled_by: vec!["hw thermal slowdown".into()],
        };
        Model::tiny(1).with(|model| model.clocks = Some(clocks))
    };
    let (ran, gpu) = recorded("--methods gpu-csr-scalar", throttled);
    ran.says("warning: the GPU was throttled (hw thermal slowdown): 1200 to 1200 MHz\n");
    let clocks = ["multiprocessor_mhz", "temperature", "throttled_by"].map(|fact| &gpu["clocks"][fact]);
    assert_eq!(json!(clocks), json!([[1200, 1200], 88, ["hw thermal slowdown"]]));
}

#[test]
fn the_energy_of_a_gpu_is_measured_over_two_seconds() {
    let model = || Model::tiny(1).with(|model| model.watts = Some([100.0, 1e6]));
    let words = format!("{QUICK} --methods gpu-csr-scalar --no-bandwidth --format csv");
    for (iterations, is_known) in [(100, false), (2100, true)] {
        let words = words.replace("--iterations 3", &format!("--iterations {iterations}"));
        let ran = run_on(&words, &SystemClock::default(), model).exits(0);
        let joules = ran.column("joules_per_product")[0].parse::<f64>();
        assert_eq!(joules.is_ok_and(|joules| joules > 0.0), is_known, "{iterations}");
        let doubt = "W by the counter, 1000000 W by samples of the power";
        assert_eq!(ran.column("reason")[0].contains(doubt), is_known, "{ran:?}");
    }
}

#[test]
fn a_gpu_that_others_use_is_reported_and_recorded() {
    for (utilisation_percent, other_processes, words) in [
        (0, Some(0), None),
        (0, None, None),
        (0, Some(2), Some("0 % busy, other processes: 2")),
        (37, None, Some("37 % busy, other processes: unknown")),
    ] {
        let activity = Activity { utilisation_percent, other_processes };
        let model = move || Model::tiny(1).with(|model| model.activity = Some(activity));
        let (ran, gpu) = recorded("--methods gpu-csr-scalar --no-bandwidth", model);
        let warning = ran
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("warning: the GPU was not idle before the first measurement ("));
        let expected = words.map(|words| format!("{words}): times may be too long"));
        assert_eq!(warning, expected.as_deref(), "{}", ran.stderr);
        assert_eq!(gpu["activity"], json!(activity));
    }
}
