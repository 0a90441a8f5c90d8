//! What the program asks of a CUDA driver, held against a driver that is made for the test and
//! takes the real one's place: what it is asked for in which context, what is given back, and the
//! words for what it refuses.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use spmv_bench::device::cuda::{self, nvrtc};
use spmv_bench::device::{Buffer, Gpu, Kernel, Program};
use spmv_bench::method::{Failed, Unavailable};
use spmv_bench::methods::vendor::library;

type Count = unsafe extern "C" fn() -> i32;

static PROGRAM: Program = Program {
    name: "store.cu",
    source: "extern \"C\" __global__ void store(VALUE_T *to, unsigned n) { *to = n; }",
};

/// Builds the driver and opens it: whoever asks the loader for the driver now gets this one.
fn fake_driver(folder: &Path) -> Option<[Count; 2]> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cuda/driver.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", source, "-o"])
        .arg(folder.join("libcuda.so.1"))
        .status();
    if !built.is_ok_and(|status| status.success()) {
        // Past the test runner, which keeps back what a passing test prints.
        let _ = writeln!(std::io::stderr(), "skipped: no C compiler");
        return None;
    }
    let driver = library::open(Some(folder), "libcuda.so.1").unwrap();
    // SAFETY: the signatures are those of the source.
    let counts = [&b"fake_alive"[..], b"fake_profiled"]
        .map(|name| unsafe { *driver.get::<Count>(name).unwrap() });
    std::mem::forget(driver);
    Some(counts)
}

#[test]
fn all_that_is_asked_of_a_driver() {
    let folder = tempfile::tempdir().unwrap();
    let Some([alive, profiled]) = fake_driver(folder.path()) else { return };
    // SAFETY: this is the only test of the process.
    unsafe { std::env::set_var("SPMV_BENCH_CACHE", folder.path()) };
    let first = cuda::open(None).unwrap();
    let second = cuda::open(Some(1)).unwrap();
    facts(&first, &second);
    for gpu in [&first, &second, &first] {
        memory(gpu);
        times(gpu);
    }
    // SAFETY: it takes nothing.
    assert_eq!(unsafe { profiled() }, 2 * 3, "a profiler looks at stages, from begin to end");
    if nvrtc::nvrtc().is_ok() {
        launches(&first);
        graphs(&first);
        faults(second);
    }
    drop(first);
    // SAFETY: it takes nothing.
    assert_eq!(unsafe { alive() }, 0, "all was given back");
}

fn facts(first: &Gpu, second: &Gpu) {
    let facts = first.facts();
    assert_eq!((&*facts.name, &*second.facts().name), ("First", "Second"));
    assert_eq!((facts.compute_capability, facts.multiprocessors), ((9, 0), 132));
    assert_eq!((facts.clock_mhz, facts.memory_clock_mhz), (1980, 2619));
    assert!((facts.nominal_gbs() - 3352.32).abs() < 0.01);
    assert!(facts.driver.ends_with("CUDA 13.0"), "{}", facts.driver);
    let Err(Unavailable(reason)) = cuda::open(Some(2)) else { panic!("a third GPU?") };
    assert_eq!(reason, "this machine has 2 GPUs, numbered from 0");
}

fn memory(gpu: &Gpu) {
    assert_eq!(gpu.memory().unwrap(), (3 << 30, 4 << 30));
    let from = gpu.upload(&[1u32, 2, 3]).unwrap();
    let mut to = gpu.allocate(3).unwrap();
    to.copy_from(&from).unwrap();
    assert_eq!(to.to_vec().unwrap(), [1, 2, 3]);
    to.fill(0xff).unwrap();
    assert_eq!(to.to_vec().unwrap(), [u32::MAX; 3]);
    let refused = gpu.allocate::<u64>(1 << 40).err().unwrap();
    let expected = "cuMemAlloc of 8796093022208 bytes: CUDA_ERROR_OUT_OF_MEMORY (meaning)";
    assert_eq!(refused.0, expected);
}

fn times(gpu: &Gpu) {
    for _ in 0..3 {
        let time = gpu.time(|| gpu.synchronize()).unwrap();
        assert_eq!(time.as_micros(), 1000);
    }
    let stages = gpu.stages(4, || gpu.library_call("a", || Ok(()))).unwrap();
    assert_eq!((&*stages[0].name, stages[0].ms), ("a", 1.0));
}

fn kernel(gpu: &Gpu, name: &'static str) -> Result<Kernel, Failed> {
    gpu.compile::<f32>(&PROGRAM, &[]).unwrap().kernel(name)
}

fn launches(gpu: &Gpu) {
    let to: Buffer<f32> = gpu.upload(&[0.0]).unwrap();
    let store = kernel(gpu, "store").unwrap();
    store.launch(1, 32, 0, &[&to, &7u32]).unwrap();
    assert_eq!(to.to_vec().unwrap()[0].to_bits(), 7);
    // More than a kernel gets without asking.
    store.launch(1, 32, 100 << 10, &[&to, &7u32]).unwrap();
    assert_eq!(store.resident_blocks(256, 120 << 10).unwrap(), 8 * 132);
    let refused =
        |result: Result<(), Failed>, words: &str| assert_eq!(result.unwrap_err().0, words);
    refused(
        store.launch(12, 2048, 0, &[&to, &7u32]),
        "cuLaunchKernel of store, grid 12, block 2048: CUDA_ERROR_INVALID_VALUE (meaning)",
    );
    refused(
        store.launch(1, 32, 300 << 10, &[&to, &7u32]),
        "cuFuncSetAttribute of store, 307200 bytes shared: CUDA_ERROR_INVALID_VALUE (meaning)",
    );
    refused(
        kernel(gpu, "store").unwrap().launch(1, 32, 0, &[&to, &7u64]),
        "store takes parameters of [8, 4] bytes and was given [8, 8]",
    );
    refused(
        kernel(gpu, "missing").map(drop),
        "cuModuleGetFunction of missing: CUDA_ERROR_NOT_FOUND (meaning)",
    );
}

fn graphs(gpu: &Gpu) {
    let mut to: Buffer<f32> = gpu.upload(&[0.0]).unwrap();
    let store = kernel(gpu, "store").unwrap();
    let graph = gpu.capture(|| store.launch(1, 32, 0, &[&to, &7u32])).unwrap();
    assert_eq!(to.to_vec().unwrap()[0].to_bits(), 0, "captured, not run");
    for _ in 0..2 {
        graph.launch().unwrap();
        assert_eq!(to.to_vec().unwrap()[0].to_bits(), 7);
        to.fill(0).unwrap();
    }
    // What cannot be captured ends the capture, and others follow.
    let failed = gpu.capture(|| Err(Failed("no".into()))).err();
    assert_eq!(failed, Some(Failed("no".into())));
    drop(gpu.capture(|| Ok(())).unwrap());
}

fn faults(gpu: Gpu) {
    let fault = kernel(&gpu, "fault").unwrap();
    fault.launch(1, 32, 0, &[]).unwrap();
    let error = "CUDA_ERROR_ILLEGAL_ADDRESS (meaning)";
    let expected = format!("cuStreamSynchronize, after fault: {error}");
    assert_eq!(gpu.synchronize(), Err(Failed(expected)));
    let launched = fault.launch(1, 32, 0, &[]).unwrap_err().0;
    assert_eq!(
        launched,
        format!("cuLaunchKernel of fault, grid 1, block 32, after fault: {error}")
    );
    assert!(gpu.time(|| Ok(())).is_err());
    let loaded = gpu.compile::<f64>(&PROGRAM, &[]).err().unwrap().to_string();
    let expected = format!("cuModuleLoadData of store.cu, after fault: {error}; ");
    assert!(loaded.starts_with(&expected), "{loaded}");
}
