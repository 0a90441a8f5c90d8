//! Tests the calls of the program to a CUDA driver with a fake driver that replaces the real one: the calls and their
//! contexts, the release of resources, and the messages for rejected calls. A process opens a driver only once, and
//! other tests must not get the fake one, so each version of it is tested in a process of its own.

use std::path::Path;
use std::time::Duration;

use crate::support::{compile, in_own_process, own_case, skip};
use spmv_matrix::Csr;
use spmv_matrix::scalar::Precision;
use spmv_methods::device::cuda::editions::Target;
use spmv_methods::device::cuda::nvrtc::Unit;
use spmv_methods::device::cuda::precompiled::Precompiled;
use spmv_methods::device::cuda::{self, nvrtc};
use spmv_methods::device::probe::{Probe, Timing};
use spmv_methods::device::{Buffer, DeviceCsr, Gpu, Kernel, Program};
use spmv_methods::library::{self, Library};
use spmv_methods::method::{Failed, Request, Unavailable};
use spmv_methods::plugin;
use spmv_methods::team::Team;

static PROGRAM: Program =
    Program { name: "store.cu", source: "extern \"C\" __global__ void store(VALUE_T *to, unsigned n) { *to = n; }" };

struct Fake(Library);

impl Fake {
    /// Calls a function of the fake driver by its name, which returns a count or a number of bytes.
    fn call<N>(&self, name: &str) -> N {
        // SAFETY: the signatures are those in the source.
        unsafe { self.0.get::<unsafe extern "C" fn() -> N>(name.as_bytes()).unwrap()() }
    }
}

/// Builds the fake driver and opens it, so that the loader returns it when the driver is opened later.
fn fake_driver(folder: &Path, version: &str) -> Option<Fake> {
    let version = format!("-D{version}");
    let flags = ["-shared", "-w", "-Wl,-soname,libcuda.so.1", &version];
    if !compile("cuda/driver.c", &flags, &folder.join("libcuda.so.1")) {
        return skip("no C compiler");
    }
    Some(Fake(library::open(library::RTLD_GLOBAL, Some(folder), "libcuda.so.1").unwrap()))
}

/// Each case is the macro with which the driver is compiled.
#[test]
fn all_calls_to_a_driver() {
    let Some(version) = own_case() else {
        for version in ["CUDA_13_0", "CUDA_12_0", "CUDA_6_5"] {
            in_own_process("driver::all_calls_to_a_driver", version);
        }
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(fake) = fake_driver(folder.path(), &version) else { return };
    let cache = folder.path().join("cache");
    // SAFETY: this is the only test of the process.
    unsafe { std::env::set_var("SPMV_BENCH_CACHE", &cache) };
    match &*version {
        "CUDA_13_0" => {
            precompiled(folder.path());
            persistence(&fake);
            plugin_on_gpu(folder.path());
            all(&fake, "13.0");
        }
        "CUDA_12_0" => all(&fake, "12.0"),
        _ => {
            let Err(Unavailable(reason)) = cuda::open(None) else { panic!("a driver?") };
            for part in [
                "the CUDA driver lacks a required function: ",
                "cuDevicePrimaryCtxRetain",
                "install a driver of CUDA 12.0 (version 525) or newer",
            ] {
                assert!(reason.contains(part), "{reason}");
            }
        }
    }
}

fn all(fake: &Fake, cuda: &str) {
    let first = cuda::open(None).unwrap();
    let second = cuda::open(Some(1)).unwrap();
    facts(&first, &second, cuda);
    for gpu in [&first, &second, &first] {
        memory(gpu);
        times(gpu);
    }
    let profiled: i32 = fake.call("fake_profiled");
    assert_eq!(profiled, 2 * 3, "the profiler is started and stopped around stages");
    let target = Target {
        architecture: first.facts().compute_capability,
        driver: cuda.split('.').next().map(|major| major.parse().unwrap()),
    };
    if let Ok(nvrtc) = nvrtc::compiler(&target) {
        assert_eq!(first.facts().nvrtc, nvrtc.to_string());
        host_times(&first);
        launches(&first, cuda != "12.0");
        graphs(&first);
        dependent_launches(&first);
        let expected = if cuda == "12.0" { 0 } else { 2 };
        assert_eq!(fake.call::<i32>("fake_dependent"), expected, "the others are plain launches");
        faults(second);
    } else {
        drop(second);
    }
    drop(first);
    assert_eq!(fake.call::<i32>("fake_alive"), 0, "everything was released");
}

/// Kernels that the folder contains are read from there; all others are compiled.
fn precompiled(folder: &Path) {
    let target = Target { architecture: (9, 0), driver: Some(13) };
    let Ok(nvrtc) = nvrtc::compiler(&target) else { return };
    let (elsewhere, cache) = (folder.join("elsewhere"), folder.join("cache"));
    let unit = Unit::new(target.architecture, &PROGRAM, Precision::F32, &[]);
    let cubin = nvrtc.compile(&unit).unwrap().cubin;
    Precompiled::store(&elsewhere, target.architecture, nvrtc, &unit, &cubin);
    // SAFETY: this is the only test of the process.
    unsafe { std::env::set_var("SPMV_BENCH_KERNELS", &elsewhere) };
    let gpu = cuda::open(None).unwrap();
    // SAFETY: this is the only test of the process.
    unsafe { std::env::remove_var("SPMV_BENCH_KERNELS") };
    let (name, place) = (nvrtc.name(), elsewhere.display());
    let origin = format!("kernels precompiled by {name} in {place}; all others by {nvrtc}");
    assert_eq!(gpu.facts().nvrtc, origin);
    gpu.compile::<f32>(&PROGRAM, &[]).unwrap();
    assert!(!cache.exists(), "nothing was compiled");
    gpu.compile::<f64>(&PROGRAM, &[]).unwrap();
    assert!(cache.exists(), "this was compiled");
}

/// The set-aside part and the window have the size of the buffer, up to the limits of the device, and end together.
fn persistence(fake: &Fake) {
    let gpu = cuda::open(None).unwrap();
    let now = || ["fake_set_aside", "fake_window"].map(|name| fake.call::<usize>(name));
    for (count, set_aside, window) in [(100, 400, 400), (300, 1000, 1200), (700, 1000, 2000)] {
        let buffer = gpu.allocate::<f32>(count).unwrap();
        assert_eq!(gpu.persist(buffer.address(), buffer.bytes()), Ok(set_aside));
        assert_eq!(now(), [set_aside as usize, window]);
        gpu.persist(0, 0).unwrap();
        assert_eq!(now(), [0, 0]);
    }
}

/// A method of a plug-in gets the addresses of the device, its stream, and memory that is counted.
fn plugin_on_gpu(folder: &Path) {
    let file = folder.join("gpu.so");
    assert!(compile("plugins/gpu.c", &["-shared"], &file));
    let [on_gpu, misaligned] = plugin::open(&file).unwrap().try_into().ok().expect("two methods");
    let (on_gpu, misaligned) = (Box::leak(Box::new(on_gpu)), Box::leak(Box::new(misaligned)));
    let (gpu, team) = (cuda::open(Some(1)).unwrap(), Team::floating(2));
    let csr: Csr<f64> = Csr::from_triplets(2, 3, &[(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)]);
    let on_device = DeviceCsr::upload(&gpu, &csr).unwrap();
    let request = Request { alpha: 2.0, beta: -1.0, ..Request::new(&team) };
    let before = gpu.allocated_bytes();
    let running = on_gpu.prepare_on_device(&on_device, &request).unwrap();
    assert_eq!(running.info().unwrap().extra_bytes, Some(3 * 4));
    assert_eq!(gpu.allocated_bytes() - before, 16, "whole words");
    let x = gpu.upload(&[1.0, 10.0, 100.0]).unwrap();
    let mut y = gpu.upload(&[5.0, 7.0]).unwrap();
    let launches = gpu.launches();
    running.multiply_on_device(2.0, &x, -1.0, &mut y).unwrap();
    assert_eq!(gpu.launches() - launches, 1);
    assert_eq!(y.to_vec().unwrap(), [397.0, 53.0]);
    assert_eq!(running.end(), Ok(()), "everything was released");
    drop((x, y));
    assert_eq!(gpu.allocated_bytes(), before);
    let refused = misaligned.prepare_on_device(&on_device, &request).err().unwrap();
    assert!(refused.to_string().contains("an alignment that"), "{refused}");
}

fn facts(first: &Gpu, second: &Gpu, cuda: &str) {
    let facts = first.facts();
    assert_eq!((&*facts.name, &*second.facts().name), ("First", "Second"));
    assert_eq!((facts.compute_capability, facts.multiprocessors), ((9, 0), 132));
    assert_eq!((facts.clock_mhz, facts.memory_clock_mhz), (1980, 2619));
    assert!((facts.nominal_gbs() - 3352.32).abs() < 0.01);
    assert!(facts.driver.ends_with(&format!("CUDA {cuda}")), "{}", facts.driver);
    let Err(Unavailable(reason)) = cuda::open(Some(2)) else { panic!("a third GPU?") };
    assert_eq!(reason, "this machine has 2 GPUs, numbered from 0");
}

fn memory(gpu: &Gpu) {
    assert_eq!(gpu.memory().unwrap(), (3 << 30, 4 << 30));
    let mut to = gpu.upload(&[1u32, 2, 3, 4]).unwrap();
    to.copy_half().unwrap();
    assert_eq!(to.to_vec().unwrap(), [1, 2, 1, 2]);
    to.fill(0xff).unwrap();
    to.upload_some(&[(2, 8), (0, 9)]).unwrap();
    assert_eq!(to.to_vec().unwrap(), [9, u32::MAX, 8, u32::MAX]);
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

/// The host needs at least two milliseconds for the batch, longer than it is expected to, so the batch is timed again.
fn host_times(gpu: &Gpu) {
    let (probe, mut calls) = (Probe::new(gpu).unwrap(), 0);
    let timing = probe.time(2, Duration::ZERO, || {
        calls += 1;
        std::thread::sleep(Duration::from_millis(1));
        probe.launch_empty()
    });
    let Timing { device, host } = timing.unwrap();
    assert!(calls >= 4 && host >= Duration::from_millis(2), "{calls} calls, {host:?}");
    assert_eq!(device.as_micros(), 1000);
}

fn kernel(gpu: &Gpu, name: &'static str) -> Result<Kernel, Failed> {
    gpu.compile::<f32>(&PROGRAM, &[]).unwrap().kernel(name)
}

/// The sizes of arguments are checked if the driver reports those of parameters.
fn launches(gpu: &Gpu, reports_parameters: bool) {
    let to: Buffer<f32> = gpu.upload(&[0.0]).unwrap();
    let store = kernel(gpu, "store").unwrap();
    store.launch(1, 32, 0, &[&to, &7u32]).unwrap();
    assert_eq!(to.to_vec().unwrap()[0].to_bits(), 7);
    // More than the default limit.
    store.launch(1, 32, 100 << 10, &[&to, &7u32]).unwrap();
    assert_eq!(store.resident_blocks(256, 120 << 10).unwrap(), 8 * 132);
    let wrong = kernel(gpu, "store").unwrap().launch(1, 32, 0, &[&to, &7u64]);
    let sizes = "store expects parameters of [8, 4] bytes but got [8, 8]";
    assert_eq!(wrong.err().map(|Failed(why)| why).as_deref(), reports_parameters.then_some(sizes));
    let missing = kernel(gpu, "missing").map(drop);
    for (result, refusal) in [
        (
            store.launch(12, 2048, 0, &[&to, &7u32]),
            "cuLaunchKernelEx of store, grid 12, block 2048: CUDA_ERROR_INVALID_VALUE (meaning)",
        ),
        (
            store.launch(1, 32, 300 << 10, &[&to, &7u32]),
            "cuFuncSetAttribute of store, 307200 bytes shared: CUDA_ERROR_INVALID_VALUE (meaning)",
        ),
        (missing, "cuModuleGetFunction of missing: CUDA_ERROR_NOT_FOUND (meaning)"),
    ] {
        assert_eq!(result, Err(Failed(refusal.into())));
    }
}

/// Launches two kernels that may overlap with the one before them, one of them in a graph, and others that may not,
/// because the operation before them is another kernel, a fill, or outside the graph.
fn dependent_launches(gpu: &Gpu) {
    let mut to: Buffer<f32> = gpu.upload(&[0.0]).unwrap();
    let (store, other) = (kernel(gpu, "store").unwrap(), kernel(gpu, "store").unwrap());
    let after = |earlier| store.launch_after(earlier, 1, 32, 0, &[&to, &7u32]);
    after(&other).unwrap();
    after(&other).unwrap();
    after(&store).unwrap();
    let graph = gpu.capture(|| after(&store).and_then(|()| after(&store))).unwrap();
    graph.launch().unwrap();
    drop(graph);
    store.launch(1, 32, 0, &[&to, &7u32]).unwrap();
    to.fill(0).unwrap();
    store.launch_after(&store, 1, 32, 0, &[&to, &7u32]).unwrap();
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
    // A capture that fails is ended, and later captures work.
    let failed = gpu.capture(|| Err(Failed("no".into()))).err();
    assert_eq!(failed, Some(Failed("no".into())));
    drop(gpu.capture(|| Ok(())).unwrap());
}

fn faults(gpu: Gpu) {
    let fault = kernel(&gpu, "fault").unwrap();
    fault.launch(1, 32, 0, &[]).unwrap();
    let error = "CUDA_ERROR_ILLEGAL_ADDRESS (meaning)";
    let expected = format!("cuCtxSynchronize, after fault: {error}");
    assert_eq!(gpu.synchronize(), Err(Failed(expected)));
    let launched = fault.launch(1, 32, 0, &[]).unwrap_err().0;
    let expected = format!("cuLaunchKernelEx of fault, grid 1, block 32, after fault: {error}");
    assert_eq!(launched, expected);
    assert!(gpu.time(|| Ok(())).is_err());
    let loaded = gpu.compile::<f64>(&PROGRAM, &[]).err().unwrap().to_string();
    let expected = format!("cuModuleLoadData of store.cu, after fault: {error}; ");
    assert!(loaded.starts_with(&expected), "{loaded}");
}
