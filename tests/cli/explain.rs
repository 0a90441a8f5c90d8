//! Tests of `spmv-bench explain`. Without a compiler for the kernels, the tests are skipped with a message.

use serde_json::Value;

use super::env::{Dir, run};
use super::model::compiler;

/// A matrix with long rows, so that the lanes of a warp, each in its own row, access distant addresses.
const LONG_ROWS: &str = "gen:dense,cols=64,nnz=16384 --device model:v100";

#[test]
fn the_page_shows_the_bottleneck_the_lines_and_the_improvements() {
    let Some(()) = compiler() else { return };
    let ran = run(&format!("explain gpu-csr-scalar {LONG_ROWS} --lines 1")).exits(0);
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

#[test]
fn counts_of_lines_add_up_and_improvements_help() {
    let Some(()) = compiler() else { return };
    let page = |method: &str| -> Value {
        run(&format!("explain {method} {LONG_ROWS} --format json")).json().remove(0)
    };
    let [scalar, vector] = ["gpu-csr-scalar", "gpu-csr-vector"].map(page);
    let [of_scalar, of_vector] = [&scalar, &vector].map(|page| &page["stages"][0]);
    for stage in [of_scalar, of_vector] {
        let sum = |key: &str| -> u64 {
            stage["lines"].as_array().unwrap().iter().map(|line| line[key].as_u64().unwrap()).sum()
        };
        let counts = &stage["counts"];
        for key in ["warp_instructions", "thread_instructions"] {
            assert_eq!(counts[key], sum(key), "{key}");
        }
        let of_all = ["loaded_sectors", "stored_sectors"].map(|key| counts[key].as_u64().unwrap());
        assert_eq!(of_all.iter().sum::<u64>(), sum("sectors"));
    }
    let without = |stage: &Value, problem: &str| {
        let cured = stage["cured"].as_array().unwrap();
        assert_eq!(cured.len(), 5, "{stage}");
        let cured = cured.iter().find(|cured| cured["problem"] == problem).unwrap();
        cured["modelled_ms"].as_f64().unwrap() / stage["modelled_ms"].as_f64().unwrap()
    };
    let few = without(of_scalar, "wasted sectors");
    assert!(few < 0.9, "each lane reads a sector of its own: {few}");
    let none = without(of_vector, "wasted sectors");
    assert!((none - 1.0).abs() < 0.02, "lanes read neighbours: {none}");
    assert_eq!(without(of_scalar, "contention of atomics"), 1.0, "it has none");
}

#[test]
fn each_improvement_helps_a_kernel_with_the_problem() {
    let Some(()) = compiler() else { return };
    let dir = Dir::new(&[]);
    let ratio = |words: &str, problem: &str| {
        let page = dir.run(&format!("explain {words} --format json")).json().remove(0);
        let stages = page["stages"].as_array().unwrap();
        let of = |stage: &Value| {
            let cured = stage["cured"].as_array().unwrap();
            let cured = cured.iter().find(|cured| cured["problem"] == problem);
            cured.map_or(0.0, |cured| cured["modelled_ms"].as_f64().unwrap())
        };
        let whole: f64 = stages.iter().map(|stage| stage["modelled_ms"].as_f64().unwrap()).sum();
        stages.iter().map(of).sum::<f64>() / whole
    };
    for (words, problem, most) in [
        // A single row, to which all warps add their results.
        ("gpu-coo gen:dense,cols=200000,nnz=200000", "contention of atomics", 0.95),
        // Short and long rows: lanes wait for the longest row of their warp.
        ("gpu-csr-scalar gen:rmat,scale=10", "idle lanes", 0.9),
        // Each lane sums a row of 32 products, which are all in the same bank.
        ("gpu-pcsr gen:dense,cols=32,nnz=500000", "bank conflicts", 0.95),
    ] {
        let ratio = ratio(&format!("{words} --device model:v100"), problem);
        assert!(ratio < most, "{words}, {problem}: {ratio}");
    }
    // With 80 registers per thread, few threads are resident, and their loads cannot keep four multiprocessors busy.
    let v100 = include_str!("../../crates/ptx-machine/devices/v100.toml");
    dir.write("four.toml", v100.replace("multiprocessors = 80", "multiprocessors = 4"));
    let words = "gpu-bccoo gen:dense,cols=64,nnz=300000 --device model:DIR/four.toml";
    let ratio = ratio(words, "low occupancy");
    assert!(ratio < 0.95, "{ratio}");
}

#[test]
fn methods_that_cannot_be_explained_are_refused() {
    let grid = "explain gpu-ell gen:grid2d,n=8";
    Dir::new(&[]).refuses(&[
        ("explain merge gen:grid2d,n=8", "merge does not run on a GPU"),
        ("explain gpu-csr-* gen:grid2d,n=8", "choose one"),
        (&format!("{grid} --device gpu"), "needs a modelled GPU"),
        (&format!("{grid} --device model:a100,h200"), "choose one"),
        (&format!("{grid} --precision both"), "one precision"),
        ("explain gpu-ell nowhere.mtx", "nowhere.mtx"),
        ("explain cusparse-csr gen:grid2d,n=8", "cusparse-csr: "),
        ("explain cusparse-csr gen:grid2d,n=8", "machine code"),
    ]);
}
