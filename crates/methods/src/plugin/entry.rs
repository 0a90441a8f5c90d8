//! Opens a plug-in, and finds its methods.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::abi;
use super::description::Description;
use super::foreign::until_end;
use super::thread::Thread;
use crate::library;

/// A method of a plug-in that is open in this process.
pub struct Entry {
    /// The structure in the memory of the plug-in, which stays open until the process ends.
    pub(super) raw: &'static abi::Method,
    pub description: Description,
}

// SAFETY: the structure is constant as long as the plug-in is open (the interface demands it), and its functions are
// only called by the thread that prepares methods.
unsafe impl Sync for Entry {}
// SAFETY: see above.
unsafe impl Send for Entry {}

/// Returns the plug-ins that a path names: the file itself, or all `.so` files of a folder in the order of their names,
/// of which there must be one.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let name = path.display();
    ensure!(path.exists(), "--plugin {name}: there is no such file");
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = path.read_dir().map_err(|error| anyhow!("--plugin {name}: {error}"))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "so")).collect();
    files.sort();
    ensure!(!files.is_empty(), "--plugin {name}: the folder has no file that ends in .so");
    Ok(files)
}

/// Opens a plug-in, which stays open until the process ends, and returns its methods, or what is wrong with it.
pub fn open(file: &Path) -> Result<Vec<Entry>> {
    // The loader searches a name without a slash in its own folders.
    let path = std::path::absolute(file)?;
    // An OpenMP library binds the thread that opens it if the environment says so, and with it all threads that are
    // started later.
    let thread = Thread::now();
    // SAFETY: opening a library runs its initialisers. The user has named the file, and this process is a child that
    // may crash.
    let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| anyhow!("it cannot be opened: {}", library::words(&error)))?;
    // SAFETY: the interface gives the function this type.
    let list = unsafe { library.get::<abi::List>(abi::SYMBOL.as_bytes()) };
    let Ok(list) = list.map(|list| *list) else {
        bail!(
            "it does not export {}: include spmv_method.h and define the function, as extern \"C\" in C++",
            abi::SYMBOL
        );
    };
    std::mem::forget(library);
    let entries = until_end(|index| {
        // SAFETY: see above.
        let method = unsafe { list(index as u32) };
        if method.is_null() {
            return Ok(None);
        }
        // SAFETY: the plug-in returns structures of this type, which stay valid as long as it is open.
        let (description, raw) = unsafe { (Description::of(method)?, &*method) };
        Ok(Some(Entry { raw, description }))
    })?;
    let mut entries = entries.with_context(|| format!("{} does not return NULL after the last method", abi::SYMBOL))?;
    ensure!(!entries.is_empty(), "{}(0) returns NULL: it has no methods", abi::SYMBOL);
    let changed = thread.restore();
    entries.iter_mut().for_each(|entry| entry.description.opening_changed.clone_from(&changed));
    Ok(entries)
}
