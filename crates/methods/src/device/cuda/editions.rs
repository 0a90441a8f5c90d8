//! Finds the installed versions of an NVIDIA library and chooses among them.
//!
//! The newest version does not work for every GPU and driver: CUDA 13 ended the support of GPUs before Turing, and a
//! driver does not support a newer major version of CUDA than its own. Therefore all versions that are found are
//! opened, with their symbols hidden from each other, and each GPU uses the newest one that works for it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::{CStr, OsStr, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::Library;
use nix::libc::{Dl_info, dladdr};

use crate::device::Unavailable;
use crate::library::{self, RTLD_LOCAL};

#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The compute capability of the device, for example (9, 0) for sm_90.
    pub architecture: (u32, u32),
    /// The major CUDA version of the driver, or `None` without a driver.
    pub driver: Option<u32>,
}

const OLDEST_OF_CUDA_13: (u32, u32) = (7, 5);

impl Target {
    /// Returns the newest major CUDA version whose libraries work for this target. A driver does not load machine code
    /// of a newer major version and rejects libraries of one.
    pub fn newest_cuda(&self) -> u32 {
        let of_device = if self.architecture < OLDEST_OF_CUDA_13 { 12 } else { u32::MAX };
        self.driver.unwrap_or(u32::MAX).min(of_device)
    }
}

/// Writes for example `sm_90 with a driver of CUDA 12`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.architecture;
        write!(f, "sm_{major}{minor}")?;
        self.driver.map_or(Ok(()), |driver| write!(f, " with a driver of CUDA {driver}"))
    }
}

/// One version of a library. It is displayed as its name, version and file.
pub trait Edition: fmt::Display + Sized + 'static {
    /// Looks up the functions of an opened library, or returns an error for one that is missing.
    fn find(library: &Library, file: PathBuf) -> Result<Self, libloading::Error>;

    fn version(&self) -> (u32, u32);

    /// Returns the reason why the library does not work for a target, or `None` if it does.
    fn refusal(&self, target: &Target) -> Option<String>;
}

/// A library to search for, which happens once.
pub struct Sought<L> {
    /// The versions that were opened, and the reasons why others could not be.
    pub opened: OnceLock<(Vec<L>, Vec<String>)>,
    pub title: &'static str,
    pub names: &'static [&'static str],
    /// The name of one of its functions.
    pub symbol: &'static str,
    /// The Python packages that contain it, for CUDA 12 and for CUDA 13.
    pub packages: [&'static str; 2],
    /// A file name pattern of the libraries that it needs.
    pub helpers: &'static str,
}

impl<L: Edition> Sought<L> {
    /// Opens all versions in the folders for vendors' libraries, in the search path of the system's loader, and in the
    /// toolkits in `/usr/local`. Those in the folders of `SPMV_BENCH_LIBRARY_PATH` come first, then the newest.
    fn open_all(&self) -> (Vec<L>, Vec<String>) {
        let named = library::named_folders();
        let (mut files, mut found, mut failures) = (HashSet::new(), Vec::new(), Vec::new());
        // The loader's library is opened first: once a file with this name is open, the loader would return that one.
        let folders = library::folders().into_iter().chain(toolkits()).map(Some);
        for folder in [None].into_iter().chain(folders) {
            for name in self.names {
                let (library, file) = match self.open(folder.as_deref(), name) {
                    Some(Ok(opened)) => opened,
                    Some(Err(error)) => {
                        failures.push(library::words(&error));
                        continue;
                    }
                    None => continue,
                };
                if !files.insert(file.clone()) {
                    continue;
                }
                match L::find(&library, file.clone()) {
                    Ok(edition) => {
                        let first = folder.as_ref().is_some_and(|folder| named.contains(folder));
                        found.push((first, edition));
                    }
                    Err(error) => failures.push(format!(
                        "{} lacks a required function: {}",
                        file.display(),
                        library::words(&error)
                    )),
                }
                // The functions are used until the process ends.
                std::mem::forget(library);
            }
        }
        found.sort_by_key(|(first, edition)| Reverse((*first, edition.version())));
        (found.into_iter().map(|(_, edition)| edition).collect(), failures)
    }

    /// Opens one library and returns it with its file; `None` if it does not exist.
    fn open(&self, folder: Option<&Path>, name: &str) -> Option<Result<(Library, PathBuf), libloading::Error>> {
        if let Some(folder) = folder {
            if !folder.join(name).exists() {
                return None;
            }
            open_helpers(folder, self.helpers);
        }
        match library::open(RTLD_LOCAL, folder, name) {
            Ok(library) => file_of(&library, self.symbol).map(|file| Ok((library, file))),
            Err(error) => folder.is_some().then_some(Err(error)),
        }
    }

    /// Returns all installed versions, the best first, or how to get one. This needs neither a GPU nor a driver.
    pub fn all(&self) -> Result<&[L], Unavailable> {
        match &self.opened.get_or_init(|| self.open_all()).0[..] {
            [] => Err(self.absent(self.packages[1])),
            editions => Ok(editions),
        }
    }

    /// Returns the best version that works for `target`, or an error with the reasons and with a package that works.
    pub fn choose(&self, target: &Target) -> Result<&L, Unavailable> {
        let package = self.packages[usize::from(target.newest_cuda() > 12)];
        let mut reasons = Vec::new();
        for edition in self.all().map_err(|_| self.absent(package))? {
            match edition.refusal(target) {
                None => return Ok(edition),
                Some(reason) => reasons.push(format!("{edition} {reason}")),
            }
        }
        let (title, reasons, advice) = (self.title, reasons.join("; "), advice(package));
        Err(Unavailable(format!("no installed {title} works for {target}: {reasons}; {advice}")))
    }

    fn absent(&self, package: &str) -> Unavailable {
        let (title, opened) = (self.title, self.opened.get());
        Unavailable(match opened.and_then(|(_, failures)| failures.last()) {
            None => format!("{title} was not found on this machine: {}", advice(package)),
            Some(message) => format!("{title} cannot be opened: {message}; {}", advice(package)),
        })
    }
}

fn advice(package: &str) -> String {
    format!("pip install '{package}' or set SPMV_BENCH_LIBRARY_PATH")
}

/// Returns the file from which a library was opened; the library must have `function`.
fn file_of(library: &Library, function: &str) -> Option<PathBuf> {
    // SAFETY: the address of the function is used but never called; `info` is plain data.
    let (address, mut info) = unsafe {
        let function = library.get::<unsafe extern "C" fn()>(function.as_bytes()).ok()?;
        (*function as *const c_void, std::mem::zeroed::<Dl_info>())
    };
    // SAFETY: the loader fills in `info`, whose name lives as long as the library is open.
    let name = unsafe {
        if dladdr(address, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    Some(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// Opens every library whose name matches `pattern`, so that a library opened later finds it already loaded: first
/// those in `folder`, then those with other names in the folders for vendors' libraries. Failures are ignored here: the
/// library that needs the file reports them.
fn open_helpers(folder: &Path, pattern: &str) {
    let mut opened = HashSet::new();
    for folder in [folder.to_owned()].into_iter().chain(library::folders()) {
        let pattern = folder.join(pattern);
        for path in glob::glob(&pattern.to_string_lossy()).into_iter().flatten().flatten() {
            let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
            if !opened.contains(name)
                && let Ok(library) = library::open(RTLD_LOCAL, Some(&folder), name)
            {
                std::mem::forget(library);
                opened.insert(name.to_owned());
            }
        }
    }
}

fn toolkits() -> Vec<PathBuf> {
    let patterns = ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/x86_64-linux/lib"];
    patterns.iter().flat_map(|pattern| glob::glob(pattern)).flatten().flatten().collect()
}
