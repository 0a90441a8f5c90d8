//! Compiles CUDA C++ to machine code of one architecture by NVRTC, which needs neither a GPU nor a driver.

use std::ffi::{CString, c_char, c_int};
use std::fmt;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::OnceLock;

use cudarc::nvrtc::sys::{self, nvrtcProgram};
use libloading::os::unix::Library;

use super::editions::{Edition, Sought, Target};
use super::libraries::{self, StatusText, functions};
use super::messages;
use crate::device::program::Program;
use crate::device::{Failed, Unavailable, sources};
use spmv_matrix::cache::{CacheFolder, Key};
use spmv_matrix::scalar::Precision;

static SOUGHT: Sought<Nvrtc> = Sought {
    opened: OnceLock::new(),
    title: "NVRTC",
    names: &["libnvrtc.so.13", "libnvrtc.so.12"],
    symbol: "nvrtcVersion",
    packages: ["nvidia-cuda-nvrtc-cu12==12.9.*", "nvidia-cuda-nvrtc==13.0.*"],
    // NVRTC opens this part of itself by file name at the first compilation.
    helpers: "libnvrtc-builtins.so.*",
};

functions! {
    Functions {
        nvrtcVersion(*mut c_int, *mut c_int);
        nvrtcGetNumSupportedArchs(*mut c_int);
        nvrtcGetSupportedArchs(*mut c_int);
        nvrtcCreateProgram(
            *mut nvrtcProgram, *const c_char, *const c_char, c_int, *const *const c_char,
            *const *const c_char,
        );
        nvrtcCompileProgram(nvrtcProgram, c_int, *const *const c_char);
        nvrtcGetProgramLogSize(nvrtcProgram, *mut usize);
        nvrtcGetProgramLog(nvrtcProgram, *mut c_char);
        nvrtcGetCUBINSize(nvrtcProgram, *mut usize);
        nvrtcGetCUBIN(nvrtcProgram, *mut c_char);
        nvrtcGetPTXSize(nvrtcProgram, *mut usize);
        nvrtcGetPTX(nvrtcProgram, *mut c_char);
        nvrtcDestroyProgram(*mut nvrtcProgram);
    }
}

pub struct Nvrtc {
    version: (u32, u32),
    pub file: PathBuf,
    /// The architectures that it supports, for example (9, 0) for sm_90.
    pub architectures: Vec<(u32, u32)>,
    functions: Functions,
    error_string: StatusText,
}

/// The input of a compilation: a program with everything that its machine code depends on except the compiler.
pub struct Unit<'a> {
    pub name: &'a str,
    pub source: &'a str,
    pub options: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    pub cubin: Vec<u8>,
    /// The PTX from which the machine code was assembled.
    pub ptx: String,
    /// Warnings, and the resources that each kernel uses; see [`usage`](super::usage).
    pub log: String,
}

/// Returns all installed compilers, the best first, or how to get one.
pub fn compilers() -> Result<&'static [Nvrtc], Unavailable> {
    SOUGHT.all()
}

/// Returns the newest compiler whose machine code runs on `target`, or why none does, and which one to get.
pub fn compiler(target: &Target) -> Result<&'static Nvrtc, Unavailable> {
    SOUGHT.choose(target)
}

impl<'a> Unit<'a> {
    /// Describes `program` for an architecture, for example (9, 0) for sm_90, with `VALUE_T` and the constants defined.
    pub fn new(
        (major, minor): (u32, u32),
        program: &'a Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Self {
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
        Self { name: program.name, source: program.text(), options }
    }

    /// Leaves out the second half of the compilation, from PTX to machine code, which also finds out what resources
    /// each kernel uses.
    pub fn only_ptx(mut self) -> Self {
        self.options[0] = self.options[0].replace("=sm_", "=compute_");
        self
    }

    pub fn key(&self) -> Key {
        let headers = sources::headers().flat_map(|(name, text)| [name, text]);
        Key::of([self.name, self.source].into_iter().chain(headers)).and(self.options.iter().map(String::as_str))
    }
}

impl Nvrtc {
    pub fn name(&self) -> String {
        let (major, minor) = self.version;
        format!("NVRTC {major}.{minor}")
    }

    /// Compiles `unit`. An error has the compiler's messages.
    pub fn compile(&self, unit: &Unit) -> Result<Compiled, Failed> {
        Code::new(self, unit)?.compile(unit)
    }

    /// Returns the machine code of `unit`, from `cache` if it has an entry.
    pub fn compile_cached(&self, cache: &CacheFolder, unit: &Unit) -> Result<Vec<u8>, Failed> {
        cache.get_or(&unit.key().and([self.name()]), || Ok(self.compile(unit)?.cubin))
    }

    fn check(&self, call: &str, status: u32) -> Result<(), Failed> {
        match status {
            0 => Ok(()),
            _ => Err(Failed(format!("{call}: {}", self.words(status)))),
        }
    }

    fn words(&self, status: u32) -> &'static str {
        // SAFETY: the function accepts any status and returns a literal.
        unsafe { libraries::text((self.error_string)(status)) }
    }
}

/// Writes for example `NVRTC 13.0 (/usr/lib/libnvrtc.so.13)`.
impl fmt::Display for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.file.display())
    }
}

impl Edition for Nvrtc {
    fn find(library: &Library, file: PathBuf) -> Result<Self, libloading::Error> {
        let functions = Functions::find(library)?;
        // SAFETY: the signature is that of NVRTC's header, where the argument is a 32-bit enum.
        let error_string = unsafe { *library.get::<StatusText>(b"nvrtcGetErrorString")? };
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the pointers are valid for writes, and the vector has the size that the library returned.
        let numbers = unsafe {
            (functions.nvrtcVersion)(&mut major, &mut minor);
            (functions.nvrtcGetNumSupportedArchs)(&mut count);
            let mut numbers = vec![0; count.max(0) as usize];
            (functions.nvrtcGetSupportedArchs)(numbers.as_mut_ptr());
            numbers
        };
        let version = (major.unsigned_abs(), minor.unsigned_abs());
        let architecture = |number: c_int| (number.unsigned_abs() / 10, number.unsigned_abs() % 10);
        let architectures = numbers.into_iter().map(architecture).collect();
        Ok(Self { version, file, architectures, functions, error_string })
    }

    fn version(&self) -> (u32, u32) {
        self.version
    }

    fn refusal(&self, target: &Target) -> Option<String> {
        if !self.architectures.contains(&target.architecture) {
            let name = |(major, minor): &(u32, u32)| format!("sm_{major}{minor}");
            let names: Vec<_> = self.architectures.iter().map(name).collect();
            return Some(format!("compiles only for {}", names.join(", ")));
        }
        (self.version.0 > target.newest_cuda()).then(|| "compiles code that needs a newer driver".into())
    }
}

struct Code<'a> {
    nvrtc: &'a Nvrtc,
    program: nvrtcProgram,
}

impl<'a> Code<'a> {
    fn new(nvrtc: &'a Nvrtc, unit: &Unit) -> Result<Self, Failed> {
        let (name, source) = (c_string(unit.name)?, c_string(unit.source)?);
        let headers = sources::headers()
            .map(|(name, text)| Ok((c_string(name)?, c_string(text)?)))
            .collect::<Result<Vec<_>, Failed>>()?;
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<_> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
        let (count, texts, names) = (headers.len() as c_int, texts.as_ptr(), names.as_ptr());
        let mut program = null_mut();
        let create = nvrtc.functions.nvrtcCreateProgram;
        // SAFETY: all texts are C strings, which NVRTC copies.
        let status = unsafe { create(&mut program, source.as_ptr(), name.as_ptr(), count, texts, names) };
        nvrtc.check("nvrtcCreateProgram", status)?;
        Ok(Self { nvrtc, program })
    }

    /// Compiles the program with the options of `unit`, from which it was created.
    fn compile(&self, unit: &Unit) -> Result<Compiled, Failed> {
        let options = unit.options.iter().map(|option| c_string(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let compile = self.nvrtc.functions.nvrtcCompileProgram;
        // SAFETY: the program and the options are alive.
        let status = unsafe { compile(self.program, pointers.len() as c_int, pointers.as_ptr()) };
        let f = &self.nvrtc.functions;
        let log = self.read("nvrtcGetProgramLog", f.nvrtcGetProgramLogSize, f.nvrtcGetProgramLog)?;
        let log = text(&log);
        if status != 0 {
            let (name, words) = (unit.name, self.nvrtc.words(status));
            let own: Vec<_> = sources::headers().map(|(name, _)| name).chain([name]).collect();
            let log = messages::shown(&log, &own);
            return Err(Failed(format!("{name} does not compile: {words}\n{log}")));
        }
        let cubin = self.read("nvrtcGetCUBIN", f.nvrtcGetCUBINSize, f.nvrtcGetCUBIN)?;
        let ptx = text(&self.read("nvrtcGetPTX", f.nvrtcGetPTXSize, f.nvrtcGetPTX)?);
        Ok(Compiled { cubin, ptx, log })
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
        // SAFETY: the buffer has the size that the library returned.
        self.nvrtc.check(call, unsafe { get(self.program, read.as_mut_ptr().cast()) })?;
        Ok(read)
    }
}

impl Drop for Code<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created with this value, destroyed once. The status is ignored: nothing can be done.
        unsafe { (self.nvrtc.functions.nvrtcDestroyProgram)(&mut self.program) };
    }
}

/// Converts a C string with its terminating zero.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}

fn c_string(text: &str) -> Result<CString, Failed> {
    CString::new(text).map_err(|_| Failed("the text of a program contains a zero byte".into()))
}
