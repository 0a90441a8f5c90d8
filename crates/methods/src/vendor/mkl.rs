//! Intel MKL's sparse routines, opened at run time.
//!
//! `libmkl_rt` opens its layers itself and ends the process if one is missing. Therefore the OpenMP library is opened
//! first, and the layers are checked to exist. The threading layer is set to Intel's OpenMP, with as many threads as
//! the team has, on the same CPUs.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use libloading::os::unix::{Library, Symbol};

use crate::library;
use crate::method::{Failed, Prepared, Unavailable, by_precision};
use crate::simd::Isa;
use crate::team;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;

/// The file names of `libmkl_rt`, newest first: MKL 2026, then 2021 to 2025.
const NAMES: [&str; 2] = ["libmkl_rt.so.3", "libmkl_rt.so.2"];
const HOW_TO_GET: &str = "Intel MKL not found: `pip install mkl==2025.3.1` in the active virtual \
    environment, or in .venv of the current directory if only you can write to it, or add its folder to \
    SPMV_BENCH_LIBRARY_PATH";

pub type Handle = *mut c_void;

/// The type and form of a matrix (`struct matrix_descr`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Description {
    kind: c_int,
    fill: c_int,
    diagonal: c_int,
}

/// The description of a general matrix (`SPARSE_MATRIX_TYPE_GENERAL`), for which MKL ignores the other fields.
pub const GENERAL: Description = Description { kind: 20, fill: 40, diagonal: 50 };
pub const NON_TRANSPOSE: c_int = 10;
pub const TRANSPOSE: c_int = 11;
const INTERFACE_LP64: c_int = 0;
const THREADING_INTEL: c_int = 0;
const SSE4_2: c_int = 0;
const AVX2: c_int = 2;

/// The type of `mkl_cspblas_?csrgemv(trans, rows, values, row offsets, columns, x, y)`.
pub type CsrGemv<T> =
    unsafe extern "C" fn(*const c_char, *const c_int, *const T, *const c_int, *const c_int, *const T, *mut T);
/// The type of `mkl_?csrmv(trans, rows, cols, α, description, values, columns, starts, ends, x, β, y)`.
pub type CsrMv<T> = unsafe extern "C" fn(
    *const c_char,
    *const c_int,
    *const c_int,
    *const T,
    *const c_char,
    *const T,
    *const c_int,
    *const c_int,
    *const c_int,
    *const T,
    *const T,
    *mut T,
);
/// The type of `mkl_sparse_?_create_csr(handle, base, rows, cols, starts, ends, columns, values)`.
pub type CreateCsr<T> =
    unsafe extern "C" fn(*mut Handle, c_int, c_int, c_int, *const c_int, *const c_int, *const c_int, *const T) -> c_int;
/// The type of `mkl_sparse_?_mv(operation, α, handle, description, x, β, y)`.
pub type SparseMv<T> = unsafe extern "C" fn(c_int, T, Handle, Description, *const T, T, *mut T) -> c_int;

/// The type of the OpenMP library's `GOMP_parallel(body, argument, threads, flags)`.
type Parallel = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, c_uint, c_uint);

pub struct Typed<T> {
    /// The product y = Ax of a square matrix. Absent since MKL 2026.
    pub csrgemv: Option<Symbol<CsrGemv<T>>>,
    /// The product y = αAx + βy. Absent since MKL 2026.
    pub csrmv: Option<Symbol<CsrMv<T>>>,
    pub create_csr: Symbol<CreateCsr<T>>,
    pub mv: Symbol<SparseMv<T>>,
}

pub struct Mkl {
    /// The version, for example `MKL 2025.3-Product Build 20251007`.
    pub version: String,
    /// The processors for which the code was written that MKL uses here, in its words; `None` if it does not say.
    pub processors: Option<String>,
    pub file: PathBuf,
    set_num_threads: Symbol<unsafe extern "C" fn(c_int)>,
    threads: AtomicU32,
    parallel: Symbol<Parallel>,
    pub set_mv_hint: Symbol<unsafe extern "C" fn(Handle, c_int, Description, c_int) -> c_int>,
    pub optimize: Symbol<unsafe extern "C" fn(Handle) -> c_int>,
    pub destroy: Symbol<unsafe extern "C" fn(Handle) -> c_int>,
    f64: Typed<f64>,
    f32: Typed<f32>,
}

const AFFINITY: &str = "KMP_AFFINITY";

/// Returns the variables of the environment that set the CPUs of the threads of the OpenMP library that MKL will use.
/// They also limit the time for which the threads spin after a region to one millisecond (default 200), so that they do
/// not occupy cores while another method is measured.
pub fn placement(cpus: &[usize]) -> [(&'static str, String); 2] {
    let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
    let affinity = match team::may_pin() {
        true => format!("norespect,granularity=fine,explicit,proclist=[{}]", list.join(",")),
        // The library would end the process because it cannot bind its threads.
        false => "disabled".into(),
    };
    [(AFFINITY, affinity), ("KMP_BLOCKTIME", "1".into())]
}

/// Variables that let the threads of OpenMP compute while they wait for work, as job scripts set them for programs that
/// have the machine to themselves. Here they would take the CPUs of the methods that are measured next.
const SPINNING: [&str; 3] = ["GOMP_SPINCOUNT", "KMP_LIBRARY", "OMP_WAIT_POLICY"];

/// Sets the variables of [`placement`], and removes those by which threads that wait would disturb other methods.
/// OpenMP libraries, also those of plug-ins, read them when they are opened.
///
/// # Safety
/// No other thread may be running, because this changes the environment.
pub unsafe fn place_threads(cpus: &[usize]) {
    for name in SPINNING {
        // SAFETY: the caller guarantees that no other thread is running.
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in placement(cpus) {
        // SAFETY: the caller guarantees that no other thread is running.
        unsafe { std::env::set_var(name, value) };
    }
}

pub fn threads_are_placed() -> bool {
    std::env::var_os(AFFINITY).is_some()
}

/// Returns the bytes of products without optimisation: for the transpose one y per thread.
pub fn memory(extent: &Extent) -> u64 {
    let sums = extent.threads * extent.cols * extent.value;
    if extent.transpose { sums } else { 0 }
}

/// The constant by which MKL knows the widest instruction set that it may use, or -1 for no limit.
static WIDEST: AtomicI32 = AtomicI32::new(-1);

/// Limits MKL to an instruction set and narrower ones, so that it is compared on the same terms with own methods that
/// are limited to it. This has an effect only before the first call of [`mkl`].
pub fn limit(isa: Isa) {
    match isa {
        Isa::Portable => WIDEST.store(SSE4_2, Ordering::Relaxed),
        Isa::Avx2 => WIDEST.store(AVX2, Ordering::Relaxed),
        Isa::Avx512 => (),
    }
}

static MKL: OnceLock<Result<Mkl, Unavailable>> = OnceLock::new();

pub fn mkl() -> Result<&'static Mkl, Unavailable> {
    MKL.get_or_init(Mkl::open).as_ref().map_err(Clone::clone)
}

/// Returns the result of the first call of [`mkl`], or `None` if there was none.
pub fn opened() -> Option<Result<&'static Mkl, Unavailable>> {
    MKL.get().map(|mkl| mkl.as_ref().map_err(Clone::clone))
}

/// Wakes the threads that MKL's next call will use. They stay awake for `KMP_BLOCKTIME`.
fn wake() {
    extern "C" fn nothing(_: *mut c_void) {}
    if let Ok(mkl) = mkl() {
        // SAFETY: the body does not use its argument.
        unsafe { (mkl.parallel)(nothing, null_mut(), mkl.threads.load(Ordering::Relaxed), 0) }
    }
}

impl Mkl {
    pub fn routines<T: Scalar>(&self) -> &Typed<T> {
        by_precision::<T, _>(&self.f64, &self.f32)
    }

    /// Marks a product as computed by MKL.
    pub fn computing<'a, T>(&self, product: Prepared<'a, T>) -> Prepared<'a, T> {
        let mut product = product.with_library(&self.version, None);
        product.wake = Some(wake);
        product.with_notes(defect(&self.version))
    }

    /// Sets the number of threads of later calls; at most the number of CPUs passed to [`place_threads`].
    pub fn set_threads(&self, threads: usize) {
        self.threads.store(threads as u32, Ordering::Relaxed);
        // SAFETY: any count is allowed.
        unsafe { (self.set_num_threads)(threads as c_int) }
    }

    fn open() -> Result<Self, Unavailable> {
        let mut refused = None;
        let places = library::folders().into_iter().map(Some).chain([None]);
        for (folder, name) in places.flat_map(|folder| NAMES.map(|name| (folder.clone(), name))) {
            if folder.as_ref().is_some_and(|folder| !folder.join(name).exists()) {
                continue;
            }
            let open = |name| library::open(library::RTLD_GLOBAL, folder.as_deref(), name);
            let (openmp, rt) = match open("libiomp5.so").and_then(|openmp| Ok((openmp, open(name)?))) {
                Ok(opened) => opened,
                // A library that the system's loader does not find is not installed.
                Err(_) if folder.is_none() => continue,
                Err(error) => {
                    refused.get_or_insert(library::words(&error));
                    continue;
                }
            };
            let folder = folder.or_else(|| library::folder_of(name)).unwrap_or_default();
            check_layers(&folder, name)?;
            return Self::resolve(rt, openmp, folder.join(name)).map_err(|error| {
                let error = library::words(&error);
                Unavailable(format!("{name} lacks a required routine: {error}"))
            });
        }
        let refused = refused.map(|reason| format!("Intel MKL cannot be opened: {reason}"));
        Err(Unavailable(refused.unwrap_or_else(|| HOW_TO_GET.into())))
    }

    fn resolve(rt: Library, openmp: Library, file: PathBuf) -> Result<Self, libloading::Error> {
        // SAFETY: the signatures are those of MKL's C headers, LP64 interface.
        unsafe {
            let set_layer =
                |name: &[u8], layer| rt.get::<unsafe extern "C" fn(c_int) -> c_int>(name).map(|set| set(layer));
            set_layer(b"MKL_Set_Interface_Layer", INTERFACE_LP64)?;
            set_layer(b"MKL_Set_Threading_Layer", THREADING_INTEL)?;
            let (widest, limit) = match WIDEST.load(Ordering::Relaxed) {
                SSE4_2 => (Some(SSE4_2), " (at most SSE 4.2)"),
                AVX2 => (Some(AVX2), " (at most AVX2)"),
                _ => (None, ""),
            };
            if let Some(widest) = widest {
                set_layer(b"MKL_Enable_Instructions", widest)?;
            }
            // Otherwise MKL may use fewer threads than requested.
            rt.get::<unsafe extern "C" fn(c_int)>(b"MKL_Set_Dynamic")?(0);
            let mkl = Self {
                version: version(&rt)? + limit,
                processors: processors(&rt),
                file,
                set_num_threads: rt.get(b"MKL_Set_Num_Threads")?,
                threads: AtomicU32::new(0),
                parallel: openmp.get(b"GOMP_parallel")?,
                set_mv_hint: rt.get(b"mkl_sparse_set_mv_hint")?,
                optimize: rt.get(b"mkl_sparse_optimize")?,
                destroy: rt.get(b"mkl_sparse_destroy")?,
                f64: typed(&rt, 'd')?,
                f32: typed(&rt, 's')?,
            };
            // The symbols are used until the process ends.
            std::mem::forget((rt, openmp));
            Ok(mkl)
        }
    }
}

/// Resolves the routines whose names contain the letter of a precision.
///
/// # Safety
/// `letter` must be that of `T`.
unsafe fn typed<T>(library: &Library, letter: char) -> Result<Typed<T>, libloading::Error> {
    // SAFETY: the caller guarantees the letter; the signatures are those of MKL's headers.
    unsafe {
        Ok(Typed {
            csrgemv: library.get(format!("mkl_cspblas_{letter}csrgemv").as_bytes()).ok(),
            csrmv: library.get(format!("mkl_{letter}csrmv").as_bytes()).ok(),
            create_csr: library.get(format!("mkl_sparse_{letter}_create_csr").as_bytes())?,
            mv: library.get(format!("mkl_sparse_{letter}_mv").as_bytes())?,
        })
    }
}

/// Returns an error if a layer is missing, because MKL would end the process at the first call.
fn check_layers(folder: &Path, rt: &str) -> Result<(), Unavailable> {
    let suffix = rt.trim_start_matches("libmkl_rt");
    for layer in ["libmkl_core", "libmkl_intel_lp64", "libmkl_intel_thread", "libmkl_def"] {
        let path = folder.join(format!("{layer}{suffix}"));
        if !path.exists() {
            let path = path.display();
            return Err(Unavailable(format!("{rt} exists but {path} does not: reinstall mkl")));
        }
    }
    Ok(())
}

/// Returns what is wrong with a version of MKL, as was reported.
fn defect(version: &str) -> Option<String> {
    let is_slow = ["MKL 2024.2-", "MKL 2024.2.0", "MKL 2024.2.1"];
    let is_known = is_slow.iter().any(|start| version.starts_with(start));
    is_known.then(|| "regressions of MKL 2024.2.0 and 2024.2.1 were reported: use a newer one".into())
}

/// What MKL writes about itself: its structure `MKLVersion`, of which only `processor` is read.
#[repr(C)]
struct Version {
    numbers: [c_int; 3],
    status: *const c_char,
    build: *const c_char,
    processor: *const c_char,
    platform: *const c_char,
}

/// Returns for which processors the code is that MKL has chosen.
///
/// # Safety
/// `library` must be MKL.
unsafe fn processors(library: &Library) -> Option<String> {
    let mut version = Version { numbers: [0; 3], status: null(), build: null(), processor: null(), platform: null() };
    // SAFETY: the function fills the structure, with pointers to texts that end with 0 and stay.
    unsafe {
        let get = library.get::<unsafe extern "C" fn(*mut Version)>(b"MKL_Get_Version").ok()?;
        get(&mut version);
        let text = (!version.processor.is_null()).then(|| CStr::from_ptr(version.processor))?;
        Some(text.to_string_lossy().into_owned())
    }
}

/// Extracts the version from a text of the form `… Version 2025.3-Product Build 20251007 for …`.
///
/// # Safety
/// `library` must be MKL.
unsafe fn version(library: &Library) -> Result<String, libloading::Error> {
    type GetVersionString = unsafe extern "C" fn(*mut c_char, c_int);
    const LENGTH: usize = 300;
    // The buffer is larger than the length passed, in case a library writes more; the excess is ignored.
    let mut text = [0u8; 16 * LENGTH];
    // SAFETY: the function writes at most as many bytes as the length passed, the last one 0.
    unsafe {
        let get = library.get::<GetVersionString>(b"MKL_Get_Version_String")?;
        get(text.as_mut_ptr().cast(), LENGTH as c_int);
    }
    let text = String::from_utf8_lossy(text[..LENGTH].split(|&byte| byte == 0).next().unwrap_or_default());
    let version = text.split_once("Version ").map_or(&*text, |(_, version)| version);
    let version = version.split_once(" for ").map_or(version, |(version, _)| version);
    Ok(format!("MKL {}", version.trim()))
}

pub fn check(call: &str, status: c_int) -> Result<(), Failed> {
    let meaning = match status {
        0 => return Ok(()),
        1 => "not initialised",
        2 => "out of memory",
        3 => "invalid value",
        4 => "execution failed",
        6 => "not supported",
        _ => "internal error",
    };
    Err(Failed(format!("{call} returned {status} ({meaning})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_known_regressions_are_found() {
        for (version, is_known) in [
            ("MKL 2024.2-Product Build 20240605", true),
            ("MKL 2024.2.1-Product Build 20240722", true),
            ("MKL 2024.2.2-Product Build 20240823", false),
            ("MKL 2025.3-Product Build 20251007", false),
        ] {
            assert_eq!(defect(version).is_some(), is_known, "{version}");
        }
    }
}
