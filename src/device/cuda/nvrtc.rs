//! CUDA C++ to machine code of one architecture, by NVRTC: needs neither a GPU nor a driver.

use std::ffi::{CString, c_char, c_int};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::OnceLock;

use cudarc::nvrtc::sys::{self, nvrtcProgram};
use libloading::os::unix::Library;

use super::libraries::{self, Found, Sought, StatusText, functions};
use crate::cache::{Cache, Key};
use crate::device::kernel::{HEADERS, Program};
use crate::method::{Failed, Unavailable, Unprepared};
use crate::scalar::Precision;

const SOUGHT: Sought = Sought {
    title: "NVRTC",
    names: &["libnvrtc.so.13", "libnvrtc.so.12"],
    how_to_get: "pip install 'nvidia-cuda-nvrtc==13.0.*' or set SPMV_BENCH_LIBRARY_PATH",
    // NVRTC opens this part of itself by plain name at the first compilation.
    helpers: "libnvrtc-builtins.so.*",
};

functions! {
    /// NVRTC's functions.
    Functions {
        nvrtcVersion(*mut c_int, *mut c_int);
        nvrtcCreateProgram(
            *mut nvrtcProgram,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        );
        nvrtcCompileProgram(nvrtcProgram, c_int, *const *const c_char);
        nvrtcGetProgramLogSize(nvrtcProgram, *mut usize);
        nvrtcGetProgramLog(nvrtcProgram, *mut c_char);
        nvrtcGetCUBINSize(nvrtcProgram, *mut usize);
        nvrtcGetCUBIN(nvrtcProgram, *mut c_char);
        nvrtcDestroyProgram(*mut nvrtcProgram);
    }
}

/// The compiler, open.
pub struct Nvrtc {
    /// For example `NVRTC 13.0`.
    pub version: String,
    /// Where it was found.
    pub folder: PathBuf,
    functions: Functions,
    error_string: StatusText,
}

/// A compiled program.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// Machine code.
    pub cubin: Vec<u8>,
    /// Warnings, and what each kernel uses; see [`usage`](super::usage).
    pub log: String,
}

/// The compiler, or how to get it.
pub fn nvrtc() -> Result<&'static Nvrtc, Unavailable> {
    static NVRTC: OnceLock<Result<Nvrtc, Unavailable>> = OnceLock::new();
    NVRTC.get_or_init(Nvrtc::open).as_ref().map_err(Clone::clone)
}

/// Compiles `program` for an architecture, (9, 0) for sm_90, with `VALUE_T` and the constants
/// defined.
///
/// # Errors
/// How to get NVRTC, or what it says about the program.
pub fn compile_for(
    architecture: (u32, u32),
    program: &Program,
    precision: Precision,
    constants: &[(&'static str, usize)],
) -> Result<Compiled, Unprepared> {
    Ok(nvrtc()?.compile(program, &options(architecture, precision, constants))?)
}

/// The machine code of the same, from `cache` when it is there.
///
/// # Errors
/// See [`compile_for`].
pub fn compile_cached(
    cache: &Cache,
    architecture: (u32, u32),
    program: &Program,
    precision: Precision,
    constants: &[(&'static str, usize)],
) -> Result<Vec<u8>, Unprepared> {
    let nvrtc = nvrtc()?;
    let options = options(architecture, precision, constants);
    let headers = HEADERS.iter().flat_map(|(name, text)| [*name, *text]);
    let key = Key::of([&*nvrtc.version, program.name, program.source].into_iter().chain(headers))
        .and(options.iter().map(String::as_str));
    Ok(cache.get_or(&key, || Ok::<_, Failed>(nvrtc.compile(program, &options)?.cubin))?)
}

fn options(
    (major, minor): (u32, u32),
    precision: Precision,
    constants: &[(&'static str, usize)],
) -> Vec<String> {
    let value = match precision {
        Precision::F32 => "float",
        Precision::F64 => "double",
    };
    let mut options = vec![
        format!("--gpu-architecture=sm_{major}{minor}"),
        "--std=c++17".into(),
        "--ptxas-options=-v".into(),
        format!("-DVALUE_T={value}"),
    ];
    options.extend(constants.iter().map(|(name, value)| format!("-D{name}={value}")));
    options
}

impl Nvrtc {
    fn open() -> Result<Self, Unavailable> {
        let Found { library, folder } = SOUGHT.open()?;
        let incomplete = libraries::incomplete("NVRTC", SOUGHT.how_to_get);
        let nvrtc = Self::find(&library, folder).map_err(incomplete)?;
        // Its functions are used until the process ends.
        std::mem::forget(library);
        Ok(nvrtc)
    }

    fn find(library: &Library, folder: PathBuf) -> Result<Self, libloading::Error> {
        let functions = Functions::find(library)?;
        // SAFETY: the signature is that of NVRTC's header, where the argument is an enum of 32 bits.
        let error_string = unsafe { *library.get::<StatusText>(b"nvrtcGetErrorString")? };
        let (mut major, mut minor) = (0, 0);
        // SAFETY: two numbers to write to.
        unsafe { (functions.nvrtcVersion)(&mut major, &mut minor) };
        let version = format!("NVRTC {major}.{minor}");
        Ok(Self { version, folder, functions, error_string })
    }

    fn compile(&self, program: &Program, options: &[String]) -> Result<Compiled, Failed> {
        let code = Code::new(self, program)?;
        let options =
            options.iter().map(|option| c_string(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program is alive, and so are the options.
        let status = unsafe {
            (self.functions.nvrtcCompileProgram)(
                code.program,
                pointers.len() as c_int,
                pointers.as_ptr(),
            )
        };
        let log = code.log()?;
        match status {
            0 => Ok(Compiled { cubin: code.cubin()?, log }),
            _ => Err(Failed(format!(
                "{} does not compile: {}\n{log}",
                program.name,
                self.words(status)
            ))),
        }
    }

    fn check(&self, call: &str, status: u32) -> Result<(), Failed> {
        match status {
            0 => Ok(()),
            _ => Err(Failed(format!("{call}: {}", self.words(status)))),
        }
    }

    fn words(&self, status: u32) -> &'static str {
        // SAFETY: it takes any status and returns a literal.
        unsafe { libraries::text((self.error_string)(status)) }
    }
}

/// NVRTC's program; destroyed when dropped.
struct Code<'a> {
    nvrtc: &'a Nvrtc,
    program: nvrtcProgram,
}

impl<'a> Code<'a> {
    fn new(nvrtc: &'a Nvrtc, program: &Program) -> Result<Self, Failed> {
        let (name, source) = (c_string(program.name)?, c_string(program.source)?);
        let headers = HEADERS
            .iter()
            .map(|(name, text)| Ok((c_string(name)?, c_string(text)?)))
            .collect::<Result<Vec<_>, Failed>>()?;
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<_> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
        let (count, texts, names) = (headers.len() as c_int, texts.as_ptr(), names.as_ptr());
        let mut program = null_mut();
        let create = nvrtc.functions.nvrtcCreateProgram;
        // SAFETY: all texts are C strings, of which NVRTC keeps copies.
        let status =
            unsafe { create(&mut program, source.as_ptr(), name.as_ptr(), count, texts, names) };
        nvrtc.check("nvrtcCreateProgram", status)?;
        Ok(Self { nvrtc, program })
    }

    fn log(&self) -> Result<String, Failed> {
        let Functions { nvrtcGetProgramLogSize, nvrtcGetProgramLog, .. } = self.nvrtc.functions;
        let bytes = self.read("nvrtcGetProgramLog", nvrtcGetProgramLogSize, nvrtcGetProgramLog)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned())
    }

    fn cubin(&self) -> Result<Vec<u8>, Failed> {
        let Functions { nvrtcGetCUBINSize, nvrtcGetCUBIN, .. } = self.nvrtc.functions;
        self.read("nvrtcGetCUBIN", nvrtcGetCUBINSize, nvrtcGetCUBIN)
    }

    fn read(
        &self,
        call: &str,
        size: unsafe extern "C" fn(nvrtcProgram, *mut usize) -> u32,
        get: unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> u32,
    ) -> Result<Vec<u8>, Failed> {
        let mut bytes = 0;
        // SAFETY: the program is alive.
        self.nvrtc.check(call, unsafe { size(self.program, &mut bytes) })?;
        let mut read = vec![0u8; bytes];
        // SAFETY: there is room for as many bytes as it said.
        self.nvrtc.check(call, unsafe { get(self.program, read.as_mut_ptr().cast()) })?;
        Ok(read)
    }
}

impl Drop for Code<'_> {
    fn drop(&mut self) {
        // SAFETY: created with it, destroyed once. A status here changes nothing any more.
        unsafe { (self.nvrtc.functions.nvrtcDestroyProgram)(&mut self.program) };
    }
}

fn c_string(text: &str) -> Result<CString, Failed> {
    CString::new(text).map_err(|_| Failed("a program with a zero byte in its text".into()))
}
