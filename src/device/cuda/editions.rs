//! The versions of a library of NVIDIA's that are on this machine, and the choice among them.
//!
//! A GPU and its driver may need an older version than the newest: CUDA 13 ended the support of the
//! GPUs before Turing, and a driver takes nothing of a newer major version of CUDA than its own. So all
//! versions that are found are opened, each with its symbols to itself, and each GPU gets the newest
//! that works for it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::{CStr, OsStr, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::Library;
use nix::libc::{Dl_info, dladdr};

use crate::method::Unavailable;
use crate::methods::vendor::library;

/// What a library has to work for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The device's compute capability: 9 and 0 for sm_90.
    pub architecture: (u32, u32),
    /// The major version of the driver's CUDA; `None` where there is no driver.
    pub driver: Option<u32>,
}

/// CUDA 13 ended the support of the architectures before this one.
const OLDEST_OF_CUDA_13: (u32, u32) = (7, 5);

impl Target {
    /// The newest major version of CUDA of which a library works here. A driver does not load machine
    /// code of a newer major version, and refuses libraries of one.
    pub fn newest_cuda(&self) -> u32 {
        let of_device = if self.architecture < OLDEST_OF_CUDA_13 { 12 } else { u32::MAX };
        self.driver.unwrap_or(u32::MAX).min(of_device)
    }
}

/// For example `sm_90 with a driver of CUDA 12`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.architecture;
        write!(f, "sm_{major}{minor}")?;
        self.driver.map_or(Ok(()), |driver| write!(f, " with a driver of CUDA {driver}"))
    }
}

/// One version of a library, as the choice among several sees it. It is shown as its name, its version
/// and its file.
pub trait Edition: fmt::Display {
    /// The library's own version, to put the newest first.
    fn version(&self) -> (u32, u32);

    /// Why it does not work for a target; `None` when it does.
    fn refusal(&self, target: &Target) -> Option<String>;
}

/// The versions of a library that are on this machine, the best first.
pub struct Opened<L> {
    editions: Vec<L>,
    /// Why others did not open.
    failures: Vec<String>,
}

/// A library to look for.
pub struct Sought {
    /// What it is called in messages.
    pub title: &'static str,
    /// The names of its file.
    pub names: &'static [&'static str],
    /// One of its functions.
    pub symbol: &'static str,
    /// The Python packages that have it, of CUDA 12 and of CUDA 13.
    pub packages: [&'static str; 2],
    /// The names of what it needs, as a pattern.
    pub helpers: &'static str,
}

impl Sought {
    /// Opens all that are in the folders where vendors' libraries are looked for, where the system's
    /// loader looks, and in the toolkits in `/usr/local`. First come those in the folders of
    /// `SPMV_BENCH_LIBRARY_PATH`, then the newest.
    pub fn open_all<L: Edition>(
        &self,
        find: impl Fn(&Library, PathBuf) -> Result<L, libloading::Error>,
    ) -> Opened<L> {
        let named = library::named_folders();
        let (mut files, mut found, mut failures) = (HashSet::new(), Vec::new(), Vec::new());
        // The loader comes first: once a file of that name is open, it would be given that one.
        let folders = library::folders().into_iter().chain(toolkits()).map(Some);
        for folder in [None].into_iter().chain(folders) {
            for name in self.names {
                match self.open(folder.as_deref(), name) {
                    None => (),
                    Some(Err(message)) => failures.push(message),
                    Some(Ok((library, file))) if files.insert(file.clone()) => {
                        let first = folder.as_ref().is_some_and(|folder| named.contains(folder));
                        match find(&library, file.clone()) {
                            Ok(edition) => found.push((first, edition)),
                            Err(error) => failures.push(incomplete(&file, &error)),
                        }
                        // Its functions are used until the process ends.
                        std::mem::forget(library);
                    }
                    Some(Ok(_)) => (),
                }
            }
        }
        found.sort_by_key(|(first, edition)| Reverse((*first, edition.version())));
        Opened { editions: found.into_iter().map(|(_, edition)| edition).collect(), failures }
    }

    /// One of them and its file; `None` where there is none.
    fn open(
        &self,
        folder: Option<&Path>,
        name: &str,
    ) -> Option<Result<(Library, PathBuf), String>> {
        if let Some(folder) = folder {
            if !folder.join(name).exists() {
                return None;
            }
            open_helpers(folder, self.helpers);
        }
        match library::open_local(folder, name) {
            Ok(library) => file_of(&library, self.symbol).map(|file| Ok((library, file))),
            Err(message) => folder.is_some().then_some(Err(message)),
        }
    }

    /// All that are on this machine, the best first.
    pub fn all<'a, L>(&self, opened: &'a Opened<L>) -> Result<&'a [L], Unavailable> {
        match &opened.editions[..] {
            [] => Err(self.absent(opened, self.packages[1])),
            editions => Ok(editions),
        }
    }

    /// The best of those that work for `target`, or why none does and what would.
    pub fn choose<'a, L: Edition>(
        &self,
        opened: &'a Opened<L>,
        target: &Target,
    ) -> Result<&'a L, Unavailable> {
        let package = self.packages[usize::from(target.newest_cuda() > 12)];
        let mut reasons = Vec::new();
        for edition in &opened.editions {
            match edition.refusal(target) {
                None => return Ok(edition),
                Some(reason) => reasons.push(format!("{edition} {reason}")),
            }
        }
        if reasons.is_empty() {
            return Err(self.absent(opened, package));
        }
        let (title, reasons) = (self.title, reasons.join("; "));
        Err(Unavailable(format!(
            "no {title} on this machine works for {target}: {reasons}; {}",
            advice(package)
        )))
    }

    fn absent<L>(&self, opened: &Opened<L>, package: &str) -> Unavailable {
        let title = self.title;
        Unavailable(match opened.failures.last() {
            None => format!("{title} is not on this machine: {}", advice(package)),
            Some(message) => format!("{title} does not open: {message}; {}", advice(package)),
        })
    }
}

/// How to get a library.
fn advice(package: &str) -> String {
    format!("pip install '{package}' or set SPMV_BENCH_LIBRARY_PATH")
}

/// The file from which a library was opened, which has that function.
fn file_of(library: &Library, function: &str) -> Option<PathBuf> {
    // SAFETY: the address is only asked about, never called; `info` is plain data.
    let (address, mut info) = unsafe {
        let function = library.get::<unsafe extern "C" fn()>(function.as_bytes()).ok()?;
        (*function as *const c_void, std::mem::zeroed::<Dl_info>())
    };
    // SAFETY: the loader fills `info` in, and its name lives as long as the library is open.
    let name = unsafe {
        if dladdr(address, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    Some(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// A file that lacks a function, as a reason.
fn incomplete(file: &Path, error: &libloading::Error) -> String {
    let (file, error) = (file.display(), library::words(error));
    format!("{file} lacks a function that is needed: {error}")
}

/// Opens every library whose name fits `pattern`, so that one opened after it finds it loaded: those
/// of `folder` and, under other names, those where vendors' libraries are looked for. One that does
/// not open is missed where it is needed.
fn open_helpers(folder: &Path, pattern: &str) {
    let mut opened = HashSet::new();
    for folder in [folder.to_owned()].into_iter().chain(library::folders()) {
        let pattern = folder.join(pattern);
        for path in glob::glob(&pattern.to_string_lossy()).into_iter().flatten().flatten() {
            let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
            if !opened.contains(name)
                && let Ok(library) = library::open_local(Some(&folder), name)
            {
                std::mem::forget(library);
                opened.insert(name.to_owned());
            }
        }
    }
}

/// The library folders of installed CUDA toolkits.
fn toolkits() -> Vec<PathBuf> {
    let patterns = ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/x86_64-linux/lib"];
    patterns.iter().flat_map(|pattern| glob::glob(pattern)).flatten().flatten().collect()
}
