//! CUDA C++ to machine code of one architecture, by NVRTC: needs neither a GPU nor a driver.

mod code;

use std::ffi::{c_char, c_int};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use cudarc::nvrtc::sys::{self, nvrtcProgram};
use libloading::os::unix::Library;

use super::editions::{Edition, Opened, Sought, Target};
use super::libraries::{self, StatusText, functions};
use crate::cache::{CacheFolder, Key};
use crate::device::kernel::{HEADERS, Program};
use crate::method::{Failed, Unavailable};
use crate::scalar::Precision;
use code::Code;

const SOUGHT: Sought = Sought {
    title: "NVRTC",
    names: &["libnvrtc.so.13", "libnvrtc.so.12"],
    symbol: "nvrtcVersion",
    packages: ["nvidia-cuda-nvrtc-cu12==12.9.*", "nvidia-cuda-nvrtc==13.0.*"],
    // NVRTC opens this part of itself by plain name at the first compilation.
    helpers: "libnvrtc-builtins.so.*",
};

functions! {
    /// NVRTC's functions.
    Functions {
        nvrtcVersion(*mut c_int, *mut c_int);
        nvrtcGetNumSupportedArchs(*mut c_int);
        nvrtcGetSupportedArchs(*mut c_int);
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
        nvrtcGetPTXSize(nvrtcProgram, *mut usize);
        nvrtcGetPTX(nvrtcProgram, *mut c_char);
        nvrtcDestroyProgram(*mut nvrtcProgram);
    }
}

/// A compiler, open.
pub struct Nvrtc {
    version: (u32, u32),
    /// Where it was found.
    pub file: PathBuf,
    /// What it compiles for: 9 and 0 for sm_90.
    pub architectures: Vec<(u32, u32)>,
    functions: Functions,
    error_string: StatusText,
}

/// What is compiled: a program with everything that its machine code depends on but the compiler.
pub struct Unit<'a> {
    name: &'a str,
    source: &'a str,
    options: Vec<String>,
}

/// A compiled program.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// Machine code.
    pub cubin: Vec<u8>,
    /// What the machine code was assembled from.
    pub ptx: String,
    /// Warnings, and what each kernel uses; see [`usage`](super::usage).
    pub log: String,
}

fn opened() -> &'static Opened<Nvrtc> {
    static OPENED: OnceLock<Opened<Nvrtc>> = OnceLock::new();
    OPENED.get_or_init(|| SOUGHT.open_all(Nvrtc::find))
}

/// All compilers that were found, the best first.
///
/// # Errors
/// How to get one.
pub fn compilers() -> Result<&'static [Nvrtc], Unavailable> {
    SOUGHT.all(opened())
}

/// The newest compiler whose machine code runs on `target`.
///
/// # Errors
/// What those that were found lack, and which one to get.
pub fn compiler(target: &Target) -> Result<&'static Nvrtc, Unavailable> {
    SOUGHT.choose(opened(), target)
}

impl<'a> Unit<'a> {
    /// `program` for an architecture, (9, 0) for sm_90, with `VALUE_T` and the constants defined.
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
        Self { name: program.name, source: program.source, options }
    }

    /// The same with this text in place of the program's.
    pub fn with_source(mut self, source: &'a str) -> Self {
        self.source = source;
        self
    }

    /// The same with the source's lines in the code.
    pub fn with_lines(mut self) -> Self {
        self.options.push("--generate-line-info".into());
        self
    }

    /// All of it.
    pub fn key(&self) -> Key {
        let headers = HEADERS.iter().flat_map(|(name, text)| [*name, *text]);
        Key::of([self.name, self.source].into_iter().chain(headers))
            .and(self.options.iter().map(String::as_str))
    }
}

impl Nvrtc {
    fn find(library: &Library, file: PathBuf) -> Result<Self, libloading::Error> {
        let functions = Functions::find(library)?;
        // SAFETY: the signature is that of NVRTC's header, where the argument is an enum of 32 bits.
        let error_string = unsafe { *library.get::<StatusText>(b"nvrtcGetErrorString")? };
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: numbers to write to, and room for as many more as it said.
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

    /// For example `NVRTC 13.0`.
    pub fn name(&self) -> String {
        let (major, minor) = self.version;
        format!("NVRTC {major}.{minor}")
    }

    /// Compiles.
    ///
    /// # Errors
    /// What it says about the program.
    pub fn compile(&self, unit: &Unit) -> Result<Compiled, Failed> {
        Code::new(self, unit)?.compile(unit)
    }

    /// The machine code of `unit`, from `cache` when it is there.
    ///
    /// # Errors
    /// See [`compile`](Self::compile).
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
        // SAFETY: it takes any status and returns a literal.
        unsafe { libraries::text((self.error_string)(status)) }
    }
}

/// For example `NVRTC 13.0 (/usr/lib/libnvrtc.so.13)`.
impl fmt::Display for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.file.display())
    }
}

impl Edition for Nvrtc {
    fn version(&self) -> (u32, u32) {
        self.version
    }

    fn refusal(&self, target: &Target) -> Option<String> {
        if !self.architectures.contains(&target.architecture) {
            let name = |(major, minor): &(u32, u32)| format!("sm_{major}{minor}");
            let names: Vec<_> = self.architectures.iter().map(name).collect();
            return Some(format!("compiles for {}", names.join(", ")));
        }
        (self.version.0 > target.newest_cuda())
            .then(|| "makes code that the driver is too old for".into())
    }
}
