//! What of CUDA works without a GPU: the compiler, its cache on disk, cuSPARSE's symbols, and the
//! words for what is absent. Where NVIDIA's wheels are not installed, tests say so and end.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use spmv_bench::cache::{Cache, Key};
use spmv_bench::device::Program;
use spmv_bench::device::cuda::usage::Usage;
use spmv_bench::device::cuda::{self, cusparse, nvrtc};
use spmv_bench::method::{Failed, Unavailable, Unprepared};
use spmv_bench::scalar::Precision;

const PRECISIONS: [Precision; 2] = [Precision::F64, Precision::F32];

const GATHER: Program = Program {
    name: "gather.cu",
    source: r#"
extern "C" __global__ void __launch_bounds__(BLOCK)
gather(const unsigned *from, const VALUE_T *x, VALUE_T *y, unsigned n) {
    __shared__ VALUE_T turned[BLOCK];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    turned[BLOCK - 1 - threadIdx.x] = i < n ? x[from[i]] : VALUE_T(0);
    __syncthreads();
    if (i < n) y[i] = turned[threadIdx.x];
}
"#,
};
const BLOCK: &[(&str, usize)] = &[("BLOCK", 128)];

/// Past the test runner, which keeps back what a passing test prints.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What a test needs; said aloud when it is absent.
fn present<T>(library: Result<T, Unavailable>) -> Option<T> {
    library.inspect_err(|absent| say(&format!("skipped: {absent}"))).ok()
}

#[test]
fn usage_is_read_from_the_log() {
    let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for a
ptxas         .     800 bytes stack frame, 24 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 800 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Used 8 registers, used 0 barriers";
    let a = Usage {
        kernel: "a".into(),
        registers: 32,
        stack: 800,
        spill_stores: 24,
        spill_loads: 16,
        shared: 1024,
    };
    let b = Usage { kernel: "b".into(), registers: 8, ..Usage::default() };
    assert_eq!(Usage::of(log), [a, b]);
}

#[test]
fn usage_of_a_compiled_kernel() {
    if present(nvrtc::nvrtc()).is_some() {
        let compiled = nvrtc::compile_for((9, 0), &GATHER, Precision::F64, BLOCK).unwrap();
        let usage = &Usage::of(&compiled.log)[0];
        assert_eq!((&*usage.kernel, usage.shared, usage.spill_stores), ("gather", 1024, 0));
        assert!((1..=64).contains(&usage.registers), "{usage:?}");
    }
}

#[test]
fn an_error_names_program_and_line() {
    if present(nvrtc::nvrtc()).is_none() {
        return;
    }
    let wrong =
        Program { name: "wrong.cu", source: "\n__device__ VALUE_T f() { return missing; }" };
    let error = nvrtc::compile_for((9, 0), &wrong, Precision::F32, &[]).unwrap_err();
    let Unprepared::Failed(Failed(reason)) = error else { panic!("{error:?}") };
    assert!(reason.starts_with("wrong.cu does not compile: NVRTC_ERROR_COMPILATION"), "{reason}");
    assert!(reason.contains("wrong.cu(2): error: identifier \"missing\" is undefined"), "{reason}");
}

#[test]
fn an_unknown_architecture_is_refused_in_words() {
    if present(nvrtc::nvrtc()).is_some() {
        let error = nvrtc::compile_for((1, 0), &GATHER, Precision::F32, BLOCK).unwrap_err();
        assert!(error.to_string().contains("invalid value for --gpu-architecture"), "{error}");
    }
}

#[test]
fn cusparse_has_every_function_that_is_used() {
    if let Some(library) = present(cusparse::library()) {
        say(&format!("{} in {}", library.version, library.folder.display()));
        assert!(library.version.starts_with("cuSPARSE 12."), "{}", library.version);
    }
}

#[test]
fn without_a_driver_there_is_a_reason() {
    let libcuda = spmv_bench::methods::vendor::library::open(None, "libcuda.so.1");
    if libcuda.is_ok() {
        return say("skipped: this machine has a CUDA driver");
    }
    for number in [None, Some(0), Some(7)] {
        let Err(Unavailable(reason)) = cuda::open(number) else { panic!("a GPU?") };
        assert_eq!(reason, "no CUDA driver: libcuda.so.1 is not on this machine");
    }
}

fn key(text: &str) -> Key {
    Key::of([text])
}

/// The entry of `key` in the cache of `folder`, and whether it had to be made.
fn get(folder: &Path, key: &Key, value: &[u8]) -> (Vec<u8>, bool) {
    let mut made = false;
    let entry = Cache::at(folder).get_or(key, || {
        made = true;
        Ok::<_, ()>(value.to_vec())
    });
    (entry.unwrap(), made)
}

#[test]
fn a_cached_entry_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new/kernels");
    assert_eq!(get(&folder, &key("a"), b"one"), (b"one".to_vec(), true));
    assert_eq!(get(&folder, &key("a"), b"two"), (b"one".to_vec(), false));
    assert_eq!(get(&folder, &key("b"), b"two"), (b"two".to_vec(), true));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing temporary stays");
}

#[test]
fn keys_keep_texts_apart() {
    let folder = tempfile::tempdir().unwrap();
    get(folder.path(), &Key::of(["ab", "c"]), b"one");
    assert!(get(folder.path(), &Key::of(["a", "bc"]), b"two").1);
    assert!(!get(folder.path(), &Key::of(["ab"]).and(["c"]), b"two").1);
}

#[test]
fn a_damaged_entry_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    for damage in [&b""[..], b"short", &[7; 64]] {
        get(folder.path(), &key("a"), b"one");
        let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(&path, damage).unwrap();
        assert_eq!(get(folder.path(), &key("a"), b"one"), (b"one".to_vec(), true));
        assert!(!get(folder.path(), &key("a"), b"one").1);
    }
}

#[test]
fn an_unwritable_folder_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for _ in 0..2 {
        assert_eq!(get(&file.join("kernels"), &key("a"), b"one"), (b"one".to_vec(), true));
    }
}

#[test]
fn two_threads_share_a_cache() {
    if present(nvrtc::nvrtc()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path());
    let compile =
        |precision| nvrtc::compile_cached(&cache, (9, 0), &GATHER, precision, BLOCK).unwrap();
    let cubins = std::thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|n| scope.spawn(move || compile(PRECISIONS[n % 2])));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!((&cubins[0], &cubins[1]), (&cubins[2], &cubins[3]));
    assert_ne!(cubins[0], cubins[1]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    assert_eq!(compile(PRECISIONS[0]), cubins[0]);
}

#[test]
fn what_fails_to_compile_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let tries = AtomicUsize::new(0);
    for _ in 0..2 {
        let failing = || {
            tries.fetch_add(1, Ordering::Relaxed);
            Err::<Vec<u8>, _>("no")
        };
        assert_eq!(Cache::at(folder.path()).get_or(&key("a"), failing), Err("no"));
    }
    assert_eq!(tries.into_inner(), 2);
}
