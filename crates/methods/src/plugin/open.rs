//! Finds and opens plug-ins.

use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::{Description, Entry, abi};
use crate::library::{self, float_state};

/// More methods than this are taken for a list without an end.
const MOST: u32 = 1000;

/// Returns the plug-ins that a path names: the file itself, or all `.so` files of a folder in the order of their names.
///
/// # Errors
/// Returns an error if there is none.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let named = |what: &str| format!("--plugin {}: {what}", path.display());
    if !path.is_dir() {
        let there = path.exists();
        return if there { Ok(vec![path.to_owned()]) } else { Err(named("there is no such file")) };
    }
    let entries = path.read_dir().map_err(|error| named(&error.to_string()))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|end| end == "so")).collect();
    files.sort();
    if files.is_empty() { Err(named("the folder has no file that ends in .so")) } else { Ok(files) }
}

/// Opens a plug-in, which stays open until the process ends, and returns its methods.
///
/// # Errors
/// Returns what is wrong with the plug-in.
pub fn open(file: &Path) -> Result<Vec<Entry>, String> {
    // The loader searches a name without a slash in its own folders.
    let path = std::path::absolute(file).map_err(|error| error.to_string())?;
    // SAFETY: opening a library runs its initialisers. The user has named the file, and this process is a child that
    // may crash.
    let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
    let library =
        library.map_err(|error| format!("it cannot be opened: {}", library::words(&error)))?;
    // SAFETY: the interface gives the function this type.
    let list = unsafe { library.get::<abi::List>(abi::SYMBOL.as_bytes()) };
    let list = *list.map_err(|_| {
        format!(
            "it does not export {}: include spmv_method.h and define the function, as extern \"C\" in C++",
            abi::SYMBOL
        )
    })?;
    std::mem::forget(library);
    let mut entries: Vec<Entry> = Vec::new();
    for index in 0..=MOST {
        // SAFETY: see above.
        let method = unsafe { list(index) };
        if method.is_null() && index == 0 {
            return Err(format!("{}(0) returns NULL: it has no methods", abi::SYMBOL));
        }
        if method.is_null() {
            let changed = float_state::restore();
            let of_all = entries.iter_mut();
            of_all.for_each(|entry| entry.description.opening_changed.clone_from(&changed));
            return Ok(entries);
        }
        // SAFETY: the plug-in returns structures of this type, which stay valid as long as it is open.
        let (description, raw) = unsafe { (Description::of(method)?, &*method) };
        entries.push(Entry { raw, description });
    }
    Err(format!("{} does not return NULL after the last method", abi::SYMBOL))
}
