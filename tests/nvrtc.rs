//! Tests the parts of CUDA that work without a GPU: the compilers and the choice among them, their cache on disk,
//! cuSPARSE's symbols, and the messages for missing libraries. Tests that need NVIDIA's wheels print a message and end
//! if these are not installed.

use std::fs;
use std::path::Path;

use crate::support::skip;
use spmv_matrix::cache::{CacheFolder, Key};
use spmv_matrix::scalar::Precision;
use spmv_methods::device::Program;
use spmv_methods::device::cuda::editions::Target;
use spmv_methods::device::cuda::nvrtc::{Compiled, Nvrtc, Unit};
use spmv_methods::device::cuda::precompiled::Precompiled;
use spmv_methods::device::cuda::usage::Usage;
use spmv_methods::device::cuda::{self, cusparse, nvrtc};
use spmv_methods::library;
use spmv_methods::method::{Failed, Unavailable};

const STORE: Program =
    Program { name: "store.cu", source: "extern \"C\" __global__ void store(VALUE_T *to) { *to = BLOCK; }" };
const BLOCK: &[(&str, usize)] = &[("BLOCK", 128)];

/// Returns the library, or prints that the test is skipped.
fn present<T>(library: Result<T, Unavailable>) -> Option<T> {
    library.map_or_else(|absent| skip(&absent.to_string()), Some)
}

/// Returns the compiler for sm_90 without a driver, or prints that the test is skipped.
fn nvrtc() -> Option<&'static Nvrtc> {
    present(nvrtc::compiler(&Target { architecture: (9, 0), driver: None }))
}

fn store(precision: Precision) -> Unit<'static> {
    Unit::new((9, 0), &STORE, precision, BLOCK)
}

/// Returns at least two versions of a library, newer first, as `scripts/test` installs them, or prints that it cannot.
fn two<L>(editions: Result<&'static [L], Unavailable>) -> Option<&'static [L]> {
    let editions = present(editions)?;
    if editions.len() < 2 { skip("only one version is installed") } else { Some(editions) }
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
    let a = Usage { kernel: "a".into(), registers: 32, stack: 800, spill_stores: 24, spill_loads: 16, shared: 1024 };
    let b = Usage { kernel: "b".into(), registers: 8, ..Usage::default() };
    assert_eq!(Usage::of(log), [a, b]);
}

#[test]
fn an_error_names_program_and_line() {
    let Some(nvrtc) = nvrtc() else { return };
    let wrong = Program { name: "wrong.cu", source: "\n__device__ VALUE_T f() { return missing; }" };
    let Failed(reason) = nvrtc.compile(&Unit::new((9, 0), &wrong, Precision::F32, &[])).unwrap_err();
    assert!(reason.starts_with("wrong.cu does not compile: NVRTC_ERROR_COMPILATION"), "{reason}");
    assert!(reason.contains("wrong.cu(2): error: identifier \"missing\" is undefined"), "{reason}");
}

#[test]
fn two_compilers_in_one_process_do_not_disturb_each_other() {
    let Some(compilers) = two(nvrtc::compilers()) else { return };
    let program = Program {
        name: "version.cu",
        source: "#if __CUDACC_VER_MAJOR__ != MAJOR\n#error \"another compiler\"\n#endif\n\
                 extern \"C\" __global__ void version(VALUE_T *to) { *to = MAJOR; }",
    };
    let compile = |nvrtc: &Nvrtc, major: usize| -> Result<Compiled, Failed> {
        nvrtc.compile(&Unit::new((9, 0), &program, Precision::F32, &[("MAJOR", major)]))
    };
    // Each compiler runs once before and once after the other.
    for nvrtc in compilers.iter().chain(compilers) {
        let major = nvrtc.name()["NVRTC ".len()..].split('.').next().unwrap().parse().unwrap();
        assert!(compile(nvrtc, major).unwrap().cubin.starts_with(b"\x7fELF"), "{nvrtc}");
        assert!(compile(nvrtc, major + 1).is_err(), "{nvrtc}");
    }
}

type Choose = fn(&Target) -> Result<String, Unavailable>;

/// Returns the text of the compiler or library that is chosen, or the reason why none is suitable.
fn chosen(choose: Choose, architecture: (u32, u32), driver: Option<u32>) -> Result<String, String> {
    choose(&Target { architecture, driver }).map_err(|Unavailable(reason)| reason)
}

/// Asserts that for each architecture and driver, a library of this version and with an existing file is chosen.
fn assert_chosen(choose: Choose, cases: &[((u32, u32), Option<u32>, &str)]) {
    for &(architecture, driver, expected) in cases {
        let found = chosen(choose, architecture, driver).unwrap();
        assert!(found.starts_with(expected), "{architecture:?} {driver:?}: {found}");
        let file = found.split(['(', ')']).nth(1).unwrap();
        assert!(Path::new(file).is_file(), "{found}");
    }
}

#[test]
fn the_compiler_is_chosen_by_architecture_and_driver() {
    let Some(_) = two(nvrtc::compilers()) else { return };
    let choose = |target: &Target| Ok(nvrtc::compiler(target)?.to_string());
    let cases = [
        ((9, 0), None, "NVRTC 13."),
        ((9, 0), Some(14), "NVRTC 13."),
        ((9, 0), Some(12), "NVRTC 12."),
        ((7, 5), Some(13), "NVRTC 13."),
        ((7, 0), Some(13), "NVRTC 12."),
        ((6, 0), None, "NVRTC 12."),
    ];
    assert_chosen(choose, &cases);
    let refused = chosen(choose, (1, 0), None).unwrap_err();
    assert!(refused.starts_with("no installed NVRTC works for sm_10: NVRTC 13."), "{refused}");
    for part in [
        ") compiles only for sm_75, sm_80, ",
        ") compiles only for sm_50, sm_52, ",
        "; pip install 'nvidia-cuda-nvrtc-cu12==12.9.*' or set ",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    let refused = chosen(choose, (9, 0), Some(11)).unwrap_err();
    let words = "no installed NVRTC works for sm_90 with a driver of CUDA 11: NVRTC 13.";
    assert!(refused.starts_with(words), "{refused}");
    assert!(refused.contains(") compiles code that needs a newer driver; "), "{refused}");
}

#[test]
fn cusparse_is_chosen_by_architecture_and_driver() {
    let Some(_) = two(cusparse::libraries()) else { return };
    let choose = |target: &Target| Ok(cusparse::library(target)?.to_string());
    let cases = [
        ((9, 0), None, "cuSPARSE 12.6."),
        ((9, 0), Some(13), "cuSPARSE 12.6."),
        ((9, 0), Some(12), "cuSPARSE 12.5."),
        ((7, 0), Some(13), "cuSPARSE 12.5."),
    ];
    assert_chosen(choose, &cases);
    let refused = chosen(choose, (9, 0), Some(11)).unwrap_err();
    assert!(refused.contains(") belongs to CUDA 13; cuSPARSE 12.5."), "{refused}");
    assert!(
        refused.ends_with(
            ") belongs to CUDA 12; pip install 'nvidia-cusparse-cu12==12.5.*' or set SPMV_BENCH_LIBRARY_PATH"
        )
    );
}

#[test]
fn precompiled_kernels_are_found_by_everything_but_the_compiler() {
    let Some(nvrtc) = nvrtc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let open = |driver| Precompiled::open(folder.path(), &Target { architecture: (9, 0), driver: Some(driver) });
    let empty = "has no precompiled kernels for this GPU and driver";
    assert!(open(99).to_string().ends_with(empty));
    let cubin = nvrtc.compile(&store(Precision::F64)).unwrap().cubin;
    Precompiled::store(folder.path(), (9, 0), nvrtc, &store(Precision::F64), &cubin);
    let precompiled = open(99);
    assert_eq!(precompiled.get(&store(Precision::F64)), Some(cubin));
    let (name, place) = (nvrtc.name(), folder.path().display());
    assert_eq!(precompiled.to_string(), format!("kernels precompiled by {name} in {place}"));
    assert_eq!(precompiled.get(&store(Precision::F32)), None);
    assert_eq!(precompiled.get(&Unit::new((8, 0), &STORE, Precision::F64, BLOCK)), None);
    let other = Unit::new((9, 0), &STORE, Precision::F64, &[("BLOCK", 256)]);
    assert_eq!(precompiled.get(&other), None);
    // A driver of CUDA 11 could not load the kernels.
    assert_eq!(open(11).get(&store(Precision::F64)), None);
}

#[test]
fn without_a_driver_there_is_a_reason() {
    if library::open(library::RTLD_GLOBAL, None, "libcuda.so.1").is_ok() {
        return skip("this machine has a CUDA driver");
    }
    for number in [None, Some(0), Some(7)] {
        let Err(Unavailable(reason)) = cuda::open(number) else { panic!("a GPU?") };
        assert_eq!(reason, "no CUDA driver: libcuda.so.1 was not found on this machine");
    }
}

/// Returns the entry of `key` in a cache, and whether it had to be made, from `value`.
fn get(folder: &Path, key: Key, value: Result<&str, ()>) -> (Result<Vec<u8>, ()>, bool) {
    let mut made = false;
    let entry = CacheFolder::at(folder).get_or(&key, || {
        made = true;
        value.map(|value| value.as_bytes().to_vec())
    });
    (entry, made)
}

#[test]
fn a_cached_entry_is_made_again_only_if_it_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("new/kernels");
    let (one, two) = (Ok(b"one".to_vec()), Ok(b"two".to_vec()));
    for _ in 0..2 {
        assert_eq!(get(&cache, Key::of(["ab", "c"]), Err(())), (Err(()), true), "not cached");
    }
    assert_eq!(get(&cache, Key::of(["ab", "c"]), Ok("one")), (one.clone(), true));
    assert_eq!(get(&cache, Key::of(["ab"]).and(["c"]), Ok("two")), (one.clone(), false));
    let path = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    assert_eq!(get(&cache, Key::of(["a", "bc"]), Ok("two")), (two.clone(), true), "another key");
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 2, "no temporary file remains");
    for damage in [&b""[..], b"short", &[7; 64]] {
        fs::write(&path, damage).unwrap();
        assert_eq!(get(&cache, Key::of(["ab", "c"]), Ok("two")), (two.clone(), true));
        assert_eq!(get(&cache, Key::of(["ab", "c"]), Ok("one")), (two.clone(), false));
    }
    // A folder that cannot be written is not an error.
    for _ in 0..2 {
        assert_eq!(get(&path.join("kernels"), Key::of(["a"]), Ok("one")), (one.clone(), true));
    }
}

#[test]
fn two_threads_share_a_cache() {
    let Some(nvrtc) = nvrtc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::at(folder.path());
    let compile = |precision| nvrtc.compile_cached(&cache, &store(precision)).unwrap();
    let cubins = std::thread::scope(|scope| {
        let precisions = [Precision::F64, Precision::F32, Precision::F64, Precision::F32];
        let threads = precisions.map(|precision| scope.spawn(move || compile(precision)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!((&cubins[0], &cubins[1]), (&cubins[2], &cubins[3]));
    assert_ne!(cubins[0], cubins[1]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    assert_eq!(compile(Precision::F64), cubins[0]);
}
