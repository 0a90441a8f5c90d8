//! Tests of `spmv-bench gpu-file` on models: the measured values must be those of the model's device file.

use std::fs;

use spmv_bench::cli::CommandStatus;

use crate::env::run;

fn table(text: &str) -> toml::Table {
    text.parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Asserts that a measured device file is that of the model: texts exactly, numbers within 15 %.
fn assert_reproduces(name: &str, measured: &str) {
    let expected = fs::read_to_string(format!("crates/ptx-machine/devices/{name}.toml")).unwrap();
    let (found, expected) = (table(measured), table(&expected));
    for (key, value) in &expected {
        let number =
            |value: &toml::Value| value.as_float().or(value.as_integer().map(|n| n as f64));
        match (key.as_str(), number(value)) {
            ("name" | "validated_percent" | "compiled_for", _) => {}
            (_, Some(expected)) => {
                let found = number(&found[key]).unwrap();
                assert!(
                    (found / expected - 1.0).abs() < 0.15,
                    "{name}: {key} = {found}, not {expected}"
                );
            }
            (_, None) => assert_eq!(&found[key], value, "{name}: {key}"),
        }
    }
}

#[test]
fn measuring_a_model_reproduces_its_device_file() {
    let ran = run("gpu-file --device model:v100");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    assert_reproduces("v100", &ran.stdout);
}

/// The first-level cache of this GPU caches only read-only data. The written file can be used as a model.
#[test]
fn a_written_device_file_can_be_used_as_a_model() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    let words = format!("gpu-file --device model:k40m --output {}", file.display());
    assert_eq!(run(&words).result, Ok(CommandStatus::Ok));
    assert_reproduces("k40m", &fs::read_to_string(&file).unwrap());
    let words = format!("gen:grid2d,n=9 --methods gpu-merge --device model:{}", file.display());
    let ran = run(&words);
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    assert!(ran.stdout.contains("mine.toml"), "{}", ran.stdout);
}

#[test]
fn one_gpu_is_measured() {
    let error = |device: &str| run(&format!("gpu-file --device {device}")).result.unwrap_err();
    assert!(error("cpu").contains("choose one GPU"));
    assert!(error("model:v100,k40m").contains("choose one GPU"));
    assert!(error("gpu").contains("no CUDA driver"), "{}", error("gpu"));
}
