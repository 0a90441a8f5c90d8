//! `spmv-bench gpu-file`, on models: what it measures must be what they were told.

use std::fs;

use spmv_bench::cli::CommandStatus;

use crate::env::run;

fn table(text: &str) -> toml::Table {
    text.parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Clocks and sizes exactly, measured numbers within 15 %.
fn assert_gives_back(name: &str) {
    let ran = run(&format!("gpu-file --device model:{name}"));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    let (found, told) = (table(&ran.stdout), fs::read_to_string(format!("devices/{name}.toml")));
    let told = table(&told.unwrap());
    for (key, value) in &told {
        let number =
            |value: &toml::Value| value.as_float().or(value.as_integer().map(|n| n as f64));
        match (key.as_str(), number(value)) {
            ("name" | "validated_percent" | "compiled_for", _) => {}
            (_, Some(told)) => {
                let found = number(&found[key]).unwrap();
                assert!((found / told - 1.0).abs() < 0.15, "{name}: {key} = {found}, not {told}");
            }
            (_, None) => assert_eq!(&found[key], value, "{name}: {key}"),
        }
    }
}

#[test]
fn a_model_measures_as_it_was_told() {
    assert_gives_back("v100");
}

/// Its first-level cache holds only what is read-only, and its file serves as a model.
#[test]
fn the_file_of_a_gpu_is_a_model_of_it() {
    assert_gives_back("k40m");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    let words = format!("gpu-file --device model:k40m --output {}", file.display());
    assert_eq!(run(&words).result, Ok(CommandStatus::Ok));
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
