//! Tests of `spmv-bench explain`. Without a compiler for the kernels, the tests are skipped with a message.

use serde_json::Value;

use super::env::Dir;
use super::model::compiler;

/// A matrix with long rows, so that the lanes of a warp, each in its own row, access distant addresses.
const LONG_ROWS: &str = "gen:dense,cols=64,nnz=16384 --device model:v100";

#[test]
fn the_page_shows_the_bottleneck_the_lines_and_the_improvements() {
    let Some(()) = compiler() else { return };
    // The real program, whose method runs in a child.
    let words = format!("explain gpu-csr-scalar {LONG_ROWS} --lines 1");
    let ran = Dir::new(&[]).program(&words).exits(0);
    let page = ran.stdout;
    let parts = "gpu-csr-scalar on gen:dense,cols=64,nnz=16384: 256 x 64, 16384 nonzeros|f64, model:v100, \
                 hot cache: |csr_scalar: | bound by |wasted sectors, which|the same time without: ";
    parts.split('|').for_each(|part| assert!(page.contains(part), "{part}: {page}"));
    // The source line of the product, which wastes most of the sectors, is printed as in the source.
    let product = page.lines().find(|line| line.contains("sum += ")).unwrap();
    let (place, text) = product.split_once(':').unwrap();
    let (file, (line, text)) = (place.rsplit(' ').next().unwrap(), text.split_once(' ').unwrap());
    let source = std::fs::read_to_string(format!("cuda/{file}")).unwrap();
    let line: usize = line.parse().unwrap();
    assert_eq!(source.lines().nth(line - 1).unwrap().trim(), text.trim());
}

fn stages(dir: &Dir, words: &str) -> Vec<Value> {
    let mut page = dir.run(&format!("explain {words} --format json")).json().remove(0);
    page["stages"].as_array_mut().unwrap().drain(..).collect()
}

#[test]
fn counts_of_lines_add_up() {
    let Some(()) = compiler() else { return };
    let stage = &stages(&Dir::new(&[]), &format!("gpu-csr-scalar {LONG_ROWS}"))[0];
    let sum =
        |key: &str| -> u64 { stage["lines"].as_array().unwrap().iter().map(|line| line[key].as_u64().unwrap()).sum() };
    let count = |key: &str| stage["counts"][key].as_u64().unwrap();
    for key in ["warp_instructions", "thread_instructions"] {
        assert_eq!(count(key), sum(key), "{key}");
    }
    assert_eq!(count("loaded_sectors") + count("stored_sectors"), sum("sectors"));
    assert_eq!(stage["cured"].as_array().unwrap().len(), 5, "{stage}");
}

/// Each case is a method with a matrix, a problem, and the time without it in relation to the time with it.
#[test]
fn each_improvement_helps_a_kernel_with_the_problem_only() {
    let Some(()) = compiler() else { return };
    let v100 = include_str!("../../crates/ptx-machine/devices/v100.toml");
    let four = v100.replace("multiprocessors = 80", "multiprocessors = 4");
    let dir = Dir::new(&[("four.toml", &four)]);
    for (words, problem, ratios) in [
        // Each lane reads a sector of its own, and no results are added.
        (&*format!("gpu-csr-scalar {LONG_ROWS}"), "wasted sectors", 0.0..0.9),
        (&format!("gpu-csr-scalar {LONG_ROWS}"), "contention of atomics", 1.0..1.001),
        // Lanes read neighbours.
        (&format!("gpu-csr-vector {LONG_ROWS}"), "wasted sectors", 0.98..1.02),
        // A single row, to which all warps add their results.
        ("gpu-coo gen:dense,cols=200000,nnz=200000", "contention of atomics", 0.0..0.95),
        // Short and long rows: lanes wait for the longest row of their warp.
        ("gpu-csr-scalar gen:rmat,scale=10", "idle lanes", 0.0..0.9),
        // Each lane sums a row of 32 products, which are all in the same bank.
        ("gpu-pcsr gen:dense,cols=32,nnz=500000", "bank conflicts", 0.0..0.95),
        // With 80 registers per thread, few threads are resident, and their loads cannot keep four multiprocessors
        // busy.
        ("gpu-bccoo gen:dense,cols=64,nnz=300000 --device model:DIR/four.toml", "low occupancy", 0.0..0.95),
    ] {
        let model = if words.contains("--device") { "" } else { "--device model:v100" };
        let stages = stages(&dir, &format!("{words} {model}"));
        let without = |stage: &Value| {
            let cured = stage["cured"].as_array().unwrap();
            let cured = cured.iter().find(|cured| cured["problem"] == problem);
            cured.map_or(0.0, |cured| cured["modelled_ms"].as_f64().unwrap())
        };
        let whole: f64 = stages.iter().map(|stage| stage["modelled_ms"].as_f64().unwrap()).sum();
        let ratio = stages.iter().map(without).sum::<f64>() / whole;
        assert!(ratios.contains(&ratio), "{words}, {problem}: {ratio}");
    }
}
