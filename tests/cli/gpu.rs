//! Tests of the GPU options, with a modelled GPU and without a GPU.

use std::sync::atomic::AtomicBool;

use spmv_bench::bench::clock::SystemClock;
use spmv_bench::cli::CommandStatus;
use spmv_methods::device::Gpu;
use spmv_methods::device::facts::{Activity, Clocks};
use spmv_methods::device::model::Model;
use spmv_methods::method::Unavailable;

use super::env::{Ran, run, run_on};
use super::folder;

const QUICK: &str = "--mtx gen:wheel,spokes=40 --threads 1 --iterations 3 --rounds 1";

/// Runs a command on a machine whose only GPU has the number 0.
fn run_with_gpu(words: &str) -> Ran {
    run_with(words, || Model::tiny(1))
}

fn run_with(words: &str, model: impl Fn() -> Model) -> Ran {
    let open = |number: Option<usize>| match number {
        None | Some(0) => Ok(Gpu::new(model())),
        Some(_) => Err(Unavailable("there is one GPU".into())),
    };
    run_on(&format!("{QUICK} {words}"), &SystemClock::default(), &AtomicBool::new(false), &open)
}

/// Returns the cells of a column.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let at = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[at].to_owned()).collect()
}

#[test]
fn without_a_gpu_its_methods_are_skipped_with_one_message() {
    let ran = run(&format!("{QUICK} --precision both --format csv"));
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    assert_eq!(ran.stderr.matches("no CUDA driver").count(), 1, "{}", ran.stderr);
    assert!(column(&ran.stdout, "device").iter().all(|device| device == "cpu"));
    assert_eq!(run(&format!("{QUICK} --quiet")).stderr, "");
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
        ("--gpu 1", "GPU 1"),
        ("--device 0", "GPU 0"),
    ] {
        let expected = format!(
            "{demand}: no CUDA driver; GPU methods need an NVIDIA GPU and its driver, or --device model:h200"
        );
        let ran = run(&format!("{QUICK} {words}"));
        assert_eq!((ran.result, &*ran.stdout), (Err(expected), ""), "{words}");
    }
}

/// A pattern that matches methods of both devices does not require a GPU, nor does a pattern for methods that another
/// option excludes.
#[test]
fn without_a_gpu_cpu_methods_run() {
    for words in ["--methods c*", "--methods * --device all", "--methods seq,*csr*"] {
        let ran = run(&format!("{QUICK} {words} --format csv"));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{words}: {}", ran.stderr);
        assert_eq!(ran.stderr.matches("GPU methods are skipped: no CUDA driver").count(), 1);
        assert!(column(&ran.stdout, "device").iter().all(|device| device == "cpu"), "{words}");
    }
    let ran = run(&format!("{QUICK} --methods gpu-light,seq --device cpu --format csv"));
    assert_eq!(
        (ran.result, column(&ran.stdout, "method_name")),
        (Ok(CommandStatus::Ok), vec!["seq".into()])
    );
}

#[test]
fn rows_of_a_gpu_contain_its_device() {
    let ran = run_with_gpu("--device gpu --methods gpu-pcsr,gpu-light:level=vector --format csv");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stdout);
    let column = |name| column(&ran.stdout, name);
    assert_eq!(column("method_name"), ["gpu-pcsr", "gpu-light:level=vector"]);
    assert_eq!(column("device"), ["gpu", "gpu"]);
    assert_eq!(column("threads"), ["", ""]);
    assert_eq!(column("status"), ["ok", "ok"]);
    assert_eq!(column("extra_bytes"), ["640", "4"]);
}

#[test]
fn graphs_are_measured_in_addition_to_launched_kernels() {
    let ran = run_with_gpu("--methods seq,gpu-pcsr --graphs --format csv");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stdout);
    let column = |name| column(&ran.stdout, name);
    assert_eq!(column("method_name"), ["seq", "gpu-pcsr", "gpu-pcsr:graph=on"]);
    assert_eq!(column("launches"), ["", "2", "1"]);
    // With the model's clock, every launch takes a millisecond.
    assert_eq!(column("launch_floor_ms"), ["", "2.0", "1.0"]);
    let ran = run_with_gpu("--methods gpu-pcsr:graph=on --graphs --format csv");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("gpu-pcsr").count(), 1, "{}", ran.stdout);
}

#[test]
fn both_devices_have_a_table_each() {
    let ran = run_with_gpu("--methods seq,gpu-merge,gpu-pcsr --stages");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stdout);
    let at = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("{text}: {}", ran.stdout));
    assert!(at("f64, CPU, 1 thread") < at("seq ") && at("seq ") < at("f64, GPU, hot cache"));
    assert!(at("kernels compiled in") < at("gpu-pcsr"));
    assert!(at("gpu-pcsr") < at("  pcsr_products") && at("  pcsr_products") < at("  pcsr_sums"));
}

#[test]
fn a_gpu_is_chosen_by_number() {
    for words in ["--device 0", "--gpu 0", "--device gpu --gpu 0"] {
        let ran = run_with_gpu(&format!("{words} --methods gpu-csr-scalar"));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{words}");
    }
    for words in ["--device 3", "--gpu 3"] {
        let message = run_with_gpu(words).result.unwrap_err();
        assert!(message.starts_with("GPU 3: there is one GPU; "), "{message}");
    }
}

#[test]
fn unknown_devices_and_parameters_are_reported() {
    for (words, expected) in [
        (
            "--methods gpu-light:speed=9",
            "gpu-light has no parameter 'speed'; it has level, lanes, rows, block",
        ),
        (
            "--methods gpu-light:level=9",
            "level of gpu-light cannot be '9'; it can be warp, vector, or *",
        ),
        ("--methods gpu-light:level=*:level=*", "gpu-light is given the parameter level twice"),
        ("--methods seq:block=9", "seq has no parameters"),
        ("--methods seq:graph=on", "seq has no parameters"),
        ("--methods seq --device gpu", "none of these methods runs on --device gpu"),
        ("--device tpu", "it must be cpu, gpu, all, the number of a GPU, or model:NAME"),
    ] {
        let message = run_with_gpu(words).result.unwrap_err();
        assert!(message.contains(expected), "{words}: {message}");
    }
}

#[test]
fn the_run_record_describes_the_gpu() {
    let dir = folder(&[]);
    let path = dir.path().join("run.json");
    run_with_gpu(&format!("--methods gpu-merge --run-record {}", path.display())).result.unwrap();
    let record = std::fs::read_to_string(path).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["gpu"]["name"], "model of a tiny GPU");
    assert!(record["gpu"]["nominal_gbs"].as_f64().unwrap() > 0.0);
    // The working sets are half, four times and 32 times the size of the second-level cache.
    let bandwidth = record["gpu"]["bandwidth"].as_array().unwrap();
    let bytes: Vec<_> =
        bandwidth.iter().map(|measured| measured["bytes"].as_u64().unwrap()).collect();
    assert_eq!(bytes, [32 << 10, 256 << 10, 2 << 20]);
    for rate in ["copy_gbs", "read_gbs"] {
        assert!(bandwidth.iter().all(|measured| measured[rate].as_f64().unwrap() > 0.0), "{rate}");
    }
    assert_eq!(record["gpu"]["launch_us"], 1000.0);
    assert_eq!(record["gpu"]["clocks"], serde_json::Value::Null);
}

#[test]
fn a_throttled_gpu_is_reported_and_recorded() {
    let throttled = || {
        Model::tiny(1).with_clocks(Clocks {
            multiprocessor_mhz: 1200,
            memory_mhz: 2600,
            temperature: Some(88),
            throttled_by: vec!["hw thermal slowdown".into()],
        })
    };
    let dir = folder(&[]);
    let path = dir.path().join("run.json");
    let words = format!("--methods gpu-csr-scalar --run-record {}", path.display());
    let ran = run_with(&words, throttled);
    let warning = "warning: the GPU was throttled (hw thermal slowdown): 1200 to 1200 MHz\n";
    assert!(ran.stderr.ends_with(warning), "{}", ran.stderr);
    let record = std::fs::read_to_string(path).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let clocks = &record["gpu"]["clocks"];
    assert_eq!(clocks["multiprocessor_mhz"], serde_json::json!([1200, 1200]));
    assert_eq!(clocks["temperature"], 88);
    assert_eq!(clocks["throttled_by"], serde_json::json!(["hw thermal slowdown"]));
}

#[test]
fn a_gpu_that_others_use_is_reported_and_recorded() {
    let of =
        |utilisation_percent, other_processes| Activity { utilisation_percent, other_processes };
    let cases = [
        (of(0, Some(0)), None),
        (of(0, None), None),
        (of(0, Some(2)), Some("0 % busy, other processes: 2")),
        (of(37, None), Some("37 % busy, other processes: unknown")),
    ];
    for (activity, words) in cases {
        let dir = folder(&[]);
        let path = dir.path().join("run.json");
        let arguments = "--methods gpu-csr-scalar --no-bandwidth --run-record";
        let arguments = format!("{arguments} {}", path.display());
        let ran = run_with(&arguments, move || Model::tiny(1).with_activity(activity));
        let warning = words.map(|words| {
            format!("warning: the GPU was not idle before the first measurement ({words}): times may be too long\n")
        });
        assert_eq!(ran.stderr.contains("not idle"), warning.is_some(), "{}", ran.stderr);
        assert!(ran.stderr.contains(&warning.unwrap_or_default()), "{}", ran.stderr);
        let record = std::fs::read_to_string(path).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["gpu"]["activity"], serde_json::to_value(activity).unwrap());
    }
}

#[test]
fn gpu_methods_use_the_reordered_matrix() {
    let ran = run_with_gpu("--order rcm --methods seq,gpu-csr-vector --format csv");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    assert_eq!(column(&ran.stdout, "order"), ["rcm", "rcm"]);
    assert_eq!(column(&ran.stdout, "status"), ["ok", "ok"]);
}
