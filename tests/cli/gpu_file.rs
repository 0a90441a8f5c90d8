//! Tests of `spmv-bench gpu-file` on models: the measured values must be those of the model's device file.

use std::fs;

use super::env::{Dir, run};

/// Asserts that a measured device file is that of the model: texts exactly, numbers within 15 %.
fn assert_reproduces(name: &str, measured: &str) {
    let expected = fs::read_to_string(format!("crates/ptx-machine/devices/{name}.toml")).unwrap();
    let [found, expected] = [measured, &expected].map(|text| text.parse::<toml::Table>().unwrap());
    let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|n| n as f64));
    for (key, value) in &expected {
        let is_close = |found: &toml::Value| match (number(found), number(value)) {
            (Some(found), Some(expected)) => (found / expected - 1.0).abs() < 0.15,
            _ => found == value,
        };
        let is_measured = !key.starts_with("validated_") && !["name", "compiled_for"].contains(&&**key);
        let found = found.get(key);
        assert!(!is_measured || found.is_some_and(is_close), "{name}: {key}: {found:?}, not {value}");
    }
}

#[test]
fn measuring_a_model_reproduces_its_device_file() {
    let ran = run("gpu-file --device model:v100").exits(0);
    assert_reproduces("v100", &ran.stdout);
}

/// The first-level cache of this GPU caches only read-only data. The written file can be used as a model.
#[test]
fn a_written_device_file_can_be_used_as_a_model() {
    let dir = Dir::new(&[]);
    dir.run("gpu-file --device model:k40m --output DIR/mine.toml").exits(0);
    assert_reproduces("k40m", &dir.read("mine.toml"));
    dir.run("gen:grid2d,n=9 --methods gpu-merge --device model:DIR/mine.toml")
        .exits(0)
        .prints("mine.toml");
}
