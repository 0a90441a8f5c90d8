//! Tests of GPU methods in child processes. The GPU is a fake driver (`tests/cuda/driver.c`) or a model. Without NVRTC
//! or a C compiler, the tests are skipped with a message.

use spmv_methods::device::cuda::editions::Target;
use spmv_methods::device::cuda::nvrtc;

use crate::{Dir, Ran, VENV, compiled, crash, skip};

/// Puts the driver into the folder `driver` of the test folder. Returns whether it could be compiled.
pub fn built_driver(place: &Dir) -> bool {
    let built = compiled("cuda/driver.c", &["-shared", "-w", "-Wl,-soname,libcuda.so.1"]);
    let library = built.map(|path| std::fs::read(path).unwrap());
    library.map(|library| place.write("driver/libcuda.so.1", library)).is_some()
}

fn has_driver(place: &Dir) -> bool {
    let target = Target { architecture: (9, 0), driver: Some(13) };
    let has_both = built_driver(place) && nvrtc::compiler(&target).is_ok();
    has_both || skip("no C compiler or no NVRTC")
}

/// Runs one matrix with the fake driver and a library that ends its process.
fn run(place: &Dir, words: &str) -> Ran {
    let driver = place.path("driver").display().to_string();
    let words = format!("--mtx matrices/m2.mtx --threads 1 --iterations 3 --rounds 1 {words}");
    let variables = [("LD_LIBRARY_PATH", &*driver), VENV, ("FAKE_MKL", "exit")];
    crash::run_with_library(place, &words, &variables)
}

#[test]
fn a_kernel_that_hangs_is_stopped() {
    let place = Dir::with_matrices(&[40, 30]);
    if !has_driver(&place) {
        return;
    }
    let methods = "seq,merge,gpu-csr-scalar,gpu-csr-vector";
    let ran = run(&place, &format!("--methods {methods} --timeout 3 --format csv")).exits(1);
    assert_eq!(ran.column("method_name").join(","), methods, "{ran:?}");
    // The driver does not support the kernel of gpu-csr-vector.
    assert_eq!(ran.column("status"), ["ok", "ok", "timeout", "failed"], "{ran:?}");
    let reasons = ran.column("reason");
    assert_eq!(reasons[2], "did not end within the 3 s of --timeout while running gpu-csr-scalar");
    assert!(reasons[3].starts_with("cuModuleGetFunction of "), "{reasons:?}");
}

/// The library ends its process: a child process, or the program itself.
#[test]
fn no_isolate_runs_without_a_child() {
    let place = crash::place();
    if !has_driver(&place) {
        return;
    }
    for (words, status) in [
        ("--methods mkl-ie-opt", 1),
        ("--methods mkl-ie-opt --no-isolate", 3),
        ("--methods mkl-ie-opt,gpu-csr-vector", 1),
        ("--methods mkl-ie-opt,gpu-csr-vector --no-isolate", 3),
    ] {
        run(&place, &format!("{words} --format csv")).exits(status);
    }
}

#[test]
fn the_limit_above_which_matrices_are_evicted_first_is_recorded_or_an_error() {
    let place = Dir::with_matrices(&[30]);
    let words = "--mtx matrices/m1.mtx --methods gpu-naive --device model:h200 --no-bandwidth --format csv \
        --run-record";
    for (number, value) in ["", "0", "25 MB"].into_iter().enumerate() {
        let name = format!("run{number}.json");
        let variables = [VENV, ("SPMV_BENCH_STREAM_ABOVE", value)];
        let ran = place.run_with(&format!("{words} {name}"), &variables);
        if ran.stdout.contains("NVRTC was not found") {
            return skip("there is no NVRTC");
        }
        let is_number = value != "25 MB";
        let status = if is_number { "ok" } else { "failed" };
        assert_eq!(ran.column("status"), [status], "{ran:?}");
        let error = "SPMV_BENCH_STREAM_ABOVE: '25 MB' is not a number of bytes: write digits";
        assert_eq!(ran.column("reason")[0].starts_with(error), !is_number, "{ran:?}");
        let stated = place.read(&name).contains("(matrices above 0 bytes are evicted first");
        assert_eq!(stated, value == "0", "{value}");
    }
}
