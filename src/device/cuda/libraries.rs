//! Where NVIDIA's libraries are found, and tables of their functions.
//!
//! cudarc's bindings open libraries themselves, but by plain names only, so that a toolkit of the
//! system would win over a folder that was named, and they panic when a function is missing. So the
//! functions are found here, and the bindings, which are made from NVIDIA's headers, hold their
//! argument types against ours. A status stays a number: a newer library may return one that the
//! bindings' enums do not know.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr, c_char};
use std::path::{Path, PathBuf};

use libloading::os::unix::Library;

use crate::method::Unavailable;
use crate::methods::vendor::library;

/// Declares a struct of functions that all return a status. Those under `optional`, which older
/// versions of the library lack, are `None` where they are absent. The bindings are what `sys` means
/// where the macro is used.
macro_rules! functions {
    (
        $(#[$meta:meta])* $table:ident { $($function:ident($($argument:ty),* $(,)?);)* }
        $(optional { $($newer:ident($($newer_argument:ty),* $(,)?);)* })?
    ) => {
        $(#[$meta])*
        #[allow(non_snake_case)] // the names are the library's
        #[allow(missing_docs)] // NVIDIA's reference explains them
        pub struct $table {
            $(pub $function: unsafe extern "C" fn($($argument),*) -> u32,)*
            $($(pub $newer: Option<unsafe extern "C" fn($($newer_argument),*) -> u32>,)*)?
        }

        impl $table {
            /// Finds them all.
            pub fn find(
                library: &libloading::os::unix::Library,
            ) -> Result<Self, libloading::Error> {
                $(let _: unsafe fn($($argument),*) -> _ = sys::$function;)*
                $($(let _: unsafe fn($($newer_argument),*) -> _ = sys::$newer;)*)?
                // SAFETY: the bindings agree about the arguments, and a status is 32 bits.
                unsafe {
                    Ok(Self {
                        $($function: *library.get(stringify!($function).as_bytes())?,)*
                        $($($newer: library
                            .get(stringify!($newer).as_bytes())
                            .ok()
                            .map(|function| *function),)*)?
                    })
                }
            }
        }

        #[cfg(test)]
        #[allow(dead_code)] // not every table is held against the versions of its library
        impl $table {
            /// What every version of the library must have.
            pub const REQUIRED: &[&str] = &[$(stringify!($function)),*];
            /// What older versions may lack.
            pub const OPTIONAL: &[&str] = &[$($(stringify!($newer)),*)?];
        }
    };
}
pub(super) use functions;

/// An open library and its folder.
pub struct Found {
    /// The library.
    pub library: Library,
    /// Where it was.
    pub folder: PathBuf,
}

/// A function that names or explains a status.
pub type StatusText = unsafe extern "C" fn(u32) -> *const c_char;

/// A library to look for.
pub struct Sought {
    /// What it is called in messages.
    pub title: &'static str,
    /// The names of its file, best first.
    pub names: &'static [&'static str],
    /// What to do when it is nowhere.
    pub how_to_get: &'static str,
    /// The names of what it needs, as a pattern.
    pub helpers: &'static str,
}

impl Sought {
    /// Opens it: from the folders where vendors' libraries are looked for, from where the system's
    /// loader looks, or from a toolkit in `/usr/local`.
    pub fn open(&self) -> Result<Found, Unavailable> {
        let mut failure = None;
        self.open_in(library::folders(), &mut failure)
            .or_else(|| self.open_by_name())
            .or_else(|| self.open_in(toolkits(), &mut failure))
            .ok_or_else(|| {
                let Self { title, how_to_get, .. } = self;
                Unavailable(match failure {
                    None => format!("{title} is not on this machine: {how_to_get}"),
                    Some(message) => format!("{title} does not open: {message}"),
                })
            })
    }

    fn open_in(&self, folders: Vec<PathBuf>, failure: &mut Option<String>) -> Option<Found> {
        for folder in folders {
            for name in self.names.iter().filter(|name| folder.join(name).exists()) {
                open_helpers(&folder, self.helpers);
                match library::open(Some(&folder), name) {
                    Ok(library) => return Some(Found { library, folder }),
                    Err(message) => *failure = Some(message),
                }
            }
        }
        None
    }

    fn open_by_name(&self) -> Option<Found> {
        self.names.iter().find_map(|name| {
            let library = library::open(None, name).ok()?;
            Some(Found { library, folder: library::folder_of(name).unwrap_or_default() })
        })
    }
}

/// A function that the library lacks, as a reason.
pub fn incomplete(title: &str, advice: &str) -> impl Fn(libloading::Error) -> Unavailable {
    move |error| {
        let error = library::words(&error);
        Unavailable(format!("{title} lacks a function that is needed: {error}; {advice}"))
    }
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
                && let Ok(library) = library::open(Some(&folder), name)
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

/// The text that a library keeps at `text`.
///
/// # Safety
/// It is null or a C string that is never freed.
pub unsafe fn text(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "unknown status";
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("unknown status")
}
