//! Tests of `--device model:NAME`: products that are executed on the host and timed by a model. Without a compiler for
//! the kernels, the tests are skipped with a message.

use spmv_methods::device::cuda::nvrtc;
use spmv_results::row::Row;

use super::env::{Dir, run, skip};

const GRID: &str = "gen:grid3d,n=24 --threads 1";

/// Returns `None` and prints a message if kernels cannot be compiled on this machine.
pub fn compiler() -> Option<()> {
    if nvrtc::compilers().is_ok() { Some(()) } else { skip("NVRTC is not on this machine") }
}

fn rows(csv: &str) -> Vec<Row> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn times_are_modelled_verified_and_always_the_same() {
    let Some(()) = compiler() else { return };
    let methods = "--methods gpu-[a-m]*,cusparse-csr --format csv";
    let words = format!("gen:grid3d,n=12 --threads 1 --device model:h200 {methods}");
    let [first, again] = [0, 1].map(|_| rows(&run(&words).exits(0).stdout));
    let (cusparse, ours): (Vec<_>, Vec<_>) =
        first.iter().partition(|row| row.method_name.as_deref().unwrap().starts_with("cusparse"));
    assert!(cusparse[0].reason.text().unwrap().contains("machine code"));
    assert!(ours.len() > 10);
    for row in &ours {
        assert_eq!(row.device.map(|device| device.name()), Some("model:h200"));
        if row.reason.text() != Some("it has no plain product") {
            assert!(row.is_ok(), "{row:?}");
            assert_eq!((row.samples, row.iterations), (Some(1), Some(1)));
        }
    }
    let time = |row: &Row| (row.method_name.clone(), row.median_ms);
    assert!(first.iter().map(time).eq(again.iter().map(time)));
}

#[test]
fn faster_memory_shortens_and_cold_caches_lengthen_the_time() {
    let Some(()) = compiler() else { return };
    let time = |device: &str, cache: &str| {
        let methods = "--methods gpu-csr-vector --format csv --cache";
        let ran = run(&format!("gen:grid3d,n=60 --threads 1 --device {device} {methods} {cache}"));
        rows(&ran.stdout)[0].median_ms.unwrap()
    };
    let (k40m, v100) = (time("model:k40m", "hot"), time("model:v100", "hot"));
    assert!(k40m > 3.0 * v100, "{k40m} {v100}");
    let (hot, cold) = (time("model:h200", "hot"), time("model:h200", "cold"));
    assert!(cold > 1.1 * hot, "{cold} {hot}");
}

/// The matrix fits into the second-level cache, but not together with the matrix of the previous method.
#[test]
fn a_hot_product_finds_the_data_of_the_previous_product_in_the_cache() {
    let Some(()) = compiler() else { return };
    let read = |methods: &str| {
        let words = format!("--device model:v100 --threads 1 --methods {methods} --format csv");
        let ran = run(&format!("gen:grid3d,n=36 {words}"));
        let row = &rows(&ran.stdout)[methods.matches(',').count()];
        (row.memory_bytes.unwrap(), row.compulsory_bytes().unwrap())
    };
    assert_eq!(read("gpu-kokkos-style").0, 0);
    // Random lines are evicted, so some are of the matrix that replaces the others.
    let (bytes, all) = read("gpu-ell,gpu-sell,gpu-kokkos-style");
    assert!(bytes < all / 4, "{bytes} of {all} bytes of the last matrix, which is CSR");
}

#[test]
fn every_output_states_that_times_are_modelled() {
    let Some(()) = compiler() else { return };
    let ran = run(&format!("{GRID} --device model:h200 --methods gpu-csr-vector --stages"));
    ran.prints("f64, h200, modelled, hot cache")
        .prints("bound by ")
        .prints("modelled, not measured: in the median they are 12 % off measured times of this GPU");
    run(&format!("{GRID} --device model:h100 --methods gpu-csr-vector"))
        .prints("they have not been compared with measured times of this GPU");
    run(&format!("{GRID} --device model:h200 --methods gpu-csr-vector --format md")).prints("h200, modelled");
}

/// Counts that do not depend on the caches are exact: ELL with one entry per row loads a value, a column index and an
/// element of x for each row, in complete sectors.
#[test]
fn counts_are_those_of_the_kernel() {
    let Some(()) = compiler() else { return };
    let words = "gen:dense,cols=1,nnz=4096 --threads 1 --device model:a100 --methods gpu-ell --stages --format json";
    let report = &run(words).json()[0];
    let counts = &report["groups"][0]["stages"][0][0]["counts"];
    assert_eq!(counts["loaded_bytes"], 4096 * (8 + 4 + 8), "{counts}");
    assert_eq!(counts["stored_bytes"], 4096 * 8);
    // All rows have the same column: each warp loads one sector for its element of x.
    assert_eq!(counts["loaded_sectors"], 4096 * (8 + 4) / 32 + 4096 / 32);
    assert_eq!(counts["stored_sectors"], 4096 * 8 / 32);
    assert_eq!(counts["atomics"], 0);
    let row = &report["groups"][0]["rows"][0];
    assert_eq!(row["warp_execution_efficiency"], 100.0, "{row}");
    let used = (8.0 + 4.0 + 8.0) / (8.0 + 4.0 + 1.0);
    assert!((row["global_load_efficiency"].as_f64().unwrap() / (100.0 * used) - 1.0).abs() < 1e-9);
    let [achieved, possible] = ["achieved_occupancy", "occupancy"].map(|column| row[column].as_f64().unwrap());
    assert!(achieved > 0.0 && achieved <= 100.0 * possible, "{achieved} {possible}");
    assert_eq!((&row["memory_bytes"], &row["bound_by"]), (&0.into(), &"imbalance".into()));
    // The hot caches contain all data.
    assert_eq!((&counts["read_bytes"], &counts["written_bytes"]), (&0.into(), &0.into()));
}

#[test]
fn several_models_and_device_files_are_measured_in_turn() {
    let Some(()) = compiler() else { return };
    let h200 = include_str!("../../crates/ptx-machine/devices/h200.toml");
    let dir = Dir::new(&[("slow.toml", &h200.replace("clock_mhz = 1980", "clock_mhz = 198"))]);
    let words = "--device model:h200,slow.toml --methods gpu-csr-vector --format csv";
    let ran = dir.program(&format!("{GRID} {words}"));
    let rows = rows(&ran.stdout);
    let times: Vec<_> = rows.iter().filter_map(|row| row.median_ms).collect();
    assert_eq!(times.len(), 2, "{rows:?} {}", ran.stderr);
    assert!(times[1] > 2.0 * times[0], "{times:?}");
    assert!(rows[1].device.unwrap().name().ends_with("slow.toml"));
}
