pub mod float_state;

use std::error::Error as _;
use std::ffi::{OsStr, c_int};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libloading::Error;
use libloading::os::unix::RTLD_NOW;
pub use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL};
use nix::unistd::geteuid;

/// Returns the folders in `SPMV_BENCH_LIBRARY_PATH`, which are searched before all others.
pub fn named_folders() -> Vec<PathBuf> {
    let list = std::env::var_os("SPMV_BENCH_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Returns the folders that are searched before the system's loader, in this order: those in `SPMV_BENCH_LIBRARY_PATH`,
/// those of the active Python environment, those of the environment in which this program is installed, and those of
/// `.venv` in the current directory, which `scripts/test` fills.
pub fn folders() -> Vec<PathBuf> {
    let mut folders = named_folders();
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    folders.extend(active.iter().flat_map(|environment| folders_of(environment)));
    // The program is ENVIRONMENT/bin/spmv-bench.
    let program = std::env::current_exe().ok();
    let own = program.as_deref().and_then(Path::parent).and_then(Path::parent).map(PathBuf::from);
    let here = std::path::absolute(".venv").unwrap_or_default();
    for environment in own.into_iter().chain([here]) {
        folders.extend(folders_of(&environment).into_iter().filter(|folder| is_trusted(&environment, folder)));
    }
    folders
}

/// Returns the folders of a Python environment that contain libraries: those of NVIDIA's wheels, and that of MKL.
/// Debian's Python has `dist-packages`.
fn folders_of(environment: &Path) -> Vec<PathBuf> {
    let wheels = environment.join("lib/python3*/*-packages/nvidia/*/lib");
    let mut folders: Vec<_> = glob::glob(&wheels.to_string_lossy()).into_iter().flatten().flatten().collect();
    folders.push(environment.join("lib"));
    folders
}

/// Returns whether only this user or root can have written to a folder of an environment: to the folder, its files, and
/// the folders on the way to it. This matters for an environment that the user did not name, because the code of a
/// library found there is executed.
fn is_trusted(environment: &Path, folder: &Path) -> bool {
    let mut way = folder.ancestors().take_while(|path| path.starts_with(environment));
    let files = folder.read_dir();
    way.all(is_own) && files.is_ok_and(|mut files| files.all(|file| file.is_ok_and(|file| is_own(&file.path()))))
}

/// Returns whether only this user or root can write to a file or folder. The group of a user alone, which has the
/// user's number, is the user.
fn is_own(path: &Path) -> bool {
    const ROOT: u32 = 0;
    const WRITABLE_BY_GROUP: u32 = 0o020;
    const WRITABLE_BY_ALL: u32 = 0o002;
    let user = geteuid().as_raw();
    path.metadata().is_ok_and(|file| {
        [user, ROOT].contains(&file.uid())
            && file.mode() & WRITABLE_BY_ALL == 0
            && (file.mode() & WRITABLE_BY_GROUP == 0 || [user, ROOT].contains(&file.gid()))
    })
}

/// Returns whether the system's loader may find a library. The library is not opened, because that would run its
/// initialisers. The loader also searches other places, which are unusual.
pub fn may_exist(name: &str) -> bool {
    const USUAL: [&str; 6] = [
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ];
    let listed = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&listed).chain(USUAL.map(PathBuf::from));
    let of_loader = std::fs::read("/etc/ld.so.cache").unwrap_or_default();
    folders.any(|folder| folder.join(name).exists())
        || of_loader.windows(name.len()).any(|text| text == name.as_bytes())
        || folder_of(name).is_some()
}

/// Opens the library `name` in `folder`, or by the system's loader without a folder. It stays open until the process
/// ends. With [`RTLD_GLOBAL`] libraries opened later can use its symbols. With [`RTLD_LOCAL`] they are hidden;
/// otherwise several versions of a library, which define the same symbols, would call each other.
pub fn open(visibility: c_int, folder: Option<&Path>, name: &str) -> Result<Library, Error> {
    let path = folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    let flags = RTLD_NOW | visibility;
    // SAFETY: opening a library runs its initialisers; this program only opens libraries that it names itself.
    let opened = unsafe { Library::open(Some(AsRef::<OsStr>::as_ref(&path)), flags) };
    if let Some(changed) = float_state::restore() {
        eprintln!("{}: opening it has changed {changed}; this was undone", path.display());
    }
    opened
}

/// Returns the loader's message, which `libloading` stores as the source of its error.
pub fn words(error: &Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns the folder of an open library, whose file name may have a longer version suffix than `name`.
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
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    /// Only root can change the owner of a file; others skip these cases.
    #[test]
    fn folders_and_files_that_others_can_write_to_are_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let environment = folder.path().join(".venv");
        let wheel = environment.join("lib/python3.11/site-packages/nvidia/cu13/lib");
        let [parent, library] = [wheel.parent().unwrap().to_owned(), wheel.join("libx.so")];
        assert!(!is_trusted(&environment, &wheel), "absent");
        fs::create_dir_all(&wheel).unwrap();
        fs::write(&library, "").unwrap();
        fs::set_permissions(&library, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(folders_of(&environment), [wheel.clone(), environment.join("lib")]);
        for open in [&environment, &environment.join("lib"), &parent, &wheel, &library] {
            assert!(is_trusted(&environment, &wheel));
            for (mode, group) in [(0o757, None), (0o775, Some(65534))] {
                fs::set_permissions(open, Permissions::from_mode(mode)).unwrap();
                if chown(open, None, group).is_ok() {
                    assert!(!is_trusted(&environment, &wheel), "{mode:o} {}", open.display());
                }
            }
            fs::set_permissions(open, Permissions::from_mode(0o755)).unwrap();
            if chown(open, Some(65534), None).is_ok() {
                assert!(!is_trusted(&environment, &wheel), "somebody else's {}", open.display());
                chown(open, Some(geteuid().as_raw()), None).unwrap();
            }
        }
    }
}
