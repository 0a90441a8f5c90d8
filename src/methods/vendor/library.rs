//! Where shared libraries are looked for, and how they are opened.

use std::error::Error;
use std::ffi::{OsStr, c_int};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use nix::unistd::geteuid;

/// The folders of `SPMV_BENCH_LIBRARY_PATH`, which come before all others.
pub fn named_folders() -> Vec<PathBuf> {
    let list = std::env::var_os("SPMV_BENCH_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Folders to search before the system's loader is asked, in this order: those of
/// `SPMV_BENCH_LIBRARY_PATH`, the active Python environment, and `.venv` in the current directory, which
/// `scripts/test` fills.
pub fn folders() -> Vec<PathBuf> {
    let mut folders = named_folders();
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let here = std::path::absolute(".venv").ok().filter(|path| is_trusted(path));
    for environment in [active, here].into_iter().flatten() {
        folders.extend(wheel_folders(&environment));
        folders.push(environment.join("lib"));
    }
    folders
}

/// Whether only this user, or the system's administrator, may have put anything into a folder that nobody named: code
/// of a library that is found there will run.
fn is_trusted(folder: &Path) -> bool {
    const ROOT: u32 = 0;
    const WRITABLE_BY_ALL: u32 = 0o002;
    let user = geteuid().as_raw();
    let is_own = |path: &Path| {
        path.metadata().is_ok_and(|file| {
            [user, ROOT].contains(&file.uid()) && file.mode() & WRITABLE_BY_ALL == 0
        })
    };
    is_own(folder) && is_own(&folder.join("lib"))
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_others_may_write_to_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let environment = folder.path().join(".venv");
        assert!(!is_trusted(&environment), "absent");
        fs::create_dir_all(environment.join("lib")).unwrap();
        assert!(is_trusted(&environment));
        for open in [environment.clone(), environment.join("lib")] {
            fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
            assert!(!is_trusted(&environment), "{}", open.display());
            fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
        }
        // Only the administrator can give files away.
        if geteuid().is_root() {
            std::os::unix::fs::chown(&environment, Some(65534), None).unwrap();
            assert!(!is_trusted(&environment), "somebody else's");
        }
    }
}
