//! Where shared libraries are looked for, and how they are opened.

use std::error::Error;
use std::ffi::{OsStr, c_int};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

/// The folders of `SPMV_BENCH_LIBRARY_PATH`, which come before all others.
pub fn named_folders() -> Vec<PathBuf> {
    let list = std::env::var_os("SPMV_BENCH_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Folders to search before the system's loader is asked, in this order: those of
/// `SPMV_BENCH_LIBRARY_PATH`, the folder that `scripts/test` fills, and the active Python
/// environment.
pub fn folders() -> Vec<PathBuf> {
    let mut folders = named_folders();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv");
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    for environment in [Some(own), active].into_iter().flatten() {
        folders.extend(wheel_folders(&environment));
        folders.push(environment.join("lib"));
    }
    folders
}

/// The `lib` folders of NVIDIA's wheels: `lib/python3.*/site-packages/nvidia/*/lib`.
fn wheel_folders(environment: &Path) -> Vec<PathBuf> {
    let pattern = environment.join("lib/python3*/site-packages/nvidia/*/lib");
    glob::glob(&pattern.to_string_lossy()).into_iter().flatten().flatten().collect()
}

/// Opens `name` and keeps it for the life of the process, its symbols visible to libraries opened
/// later. Without a folder the system's loader decides.
///
/// # Errors
/// The loader's message.
pub fn open(folder: Option<&Path>, name: &str) -> Result<Library, String> {
    open_as(RTLD_GLOBAL, folder, name)
}

/// The same with its symbols visible to nobody else, so that several versions of a library, which
/// have the same symbols, do not call each other.
///
/// # Errors
/// The loader's message.
pub fn open_local(folder: Option<&Path>, name: &str) -> Result<Library, String> {
    open_as(RTLD_LOCAL, folder, name)
}

fn open_as(visibility: c_int, folder: Option<&Path>, name: &str) -> Result<Library, String> {
    let path = folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    // SAFETY: running a library's initialisers is what opening one means; those that are opened
    // here are named in this program.
    unsafe { Library::open(Some(AsRef::<OsStr>::as_ref(&path)), RTLD_NOW | visibility) }
        .map_err(|error| words(&error))
}

/// The loader's own message, which `libloading` keeps below its error.
pub fn words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Where an open library came from, as the system's map of this process says; there its name may go
/// on with more of the version.
pub fn folder_of(name: &str) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let named = |file: &OsStr| file.as_encoded_bytes().starts_with(name.as_bytes());
    path.filter(|path| path.file_name().is_some_and(named))
        .find_map(|path| path.parent().map(Path::to_path_buf))
}
