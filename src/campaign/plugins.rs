//! The user's methods of a command. Plug-ins are described by a child process, and opened by the child that measures;
//! `.cu` files are read by both.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use nix::sys::resource::{Resource, setrlimit};
use xxhash_rust::xxh3::xxh3_64;

use super::isolate::{ask, send, send_to_parent as send_only, to_parent};
use crate::bench::check;
use spmv_matrix::scalar::Precision;
use spmv_methods::added::{self, MethodFile};
use spmv_methods::kernel_file::KernelFile;
use spmv_methods::plugin::{self, Description};
use spmv_results::run::Library;

/// The variable that names plug-ins and folders of them, separated by colons.
const VARIABLE: &str = "SPMV_BENCH_PLUGINS";
/// The time limit for opening a plug-in.
const LIMIT: Duration = Duration::from_secs(60);
/// The address space of a process that checks a method, in bytes.
const MOST_MEMORY: u64 = 16 << 30;

/// Adds the methods of the plug-ins that the command line or the environment names, and of `.cu` files. Each plug-in is
/// opened in a child process of `program`, so that one that crashes or hangs yields a message.
pub fn add(named: &[PathBuf], kernels: &[PathBuf], program: Option<&Path>) -> Result<()> {
    let listed = std::env::var_os(VARIABLE).unwrap_or_default();
    let listed = std::env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty());
    let mut files = Vec::new();
    for path in named.iter().cloned().chain(listed) {
        for file in plugin::files(&path)? {
            let file = std::path::absolute(&file)?;
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    let described = files.into_iter().map(|path| {
        let program = program.context("--plugin: plug-ins are opened only in child processes")?;
        let methods = describe(&path, program)?.into_iter();
        let methods = methods.map(|method| added::of_plugin(method, None)).collect();
        Ok(MethodFile { path, methods })
    });
    let kernels = kernels.iter().map(|path| kernel_file(path));
    let all = described.chain(kernels).collect::<Result<_>>()?;
    added::add(all)
}

fn kernel_file(path: &Path) -> Result<MethodFile> {
    let file = Box::leak(Box::new(KernelFile::read(path)?));
    Ok(MethodFile { path: std::path::absolute(path)?, methods: vec![added::of_kernels(file)] })
}

/// Returns what a plug-in says of its methods. It is opened in a child process.
pub fn describe(file: &Path, program: &Path) -> Result<Vec<Description>> {
    let name = file.to_str().with_context(|| format!("{}: its name is not UTF-8", file.display()))?;
    match ask::<Result<Vec<Description>, String>>(program, &["plugin", name], LIMIT) {
        Ok(Ok(methods)) => Ok(methods),
        Ok(Err(wrong)) => bail!("{name}: {wrong}"),
        Err(end) => {
            bail!("{name}: {end:#} while the plug-in was opened and its methods were listed")
        }
    }
}

pub fn send_to_parent(file: &Path) -> Result<()> {
    let described =
        plugin::open(file).map(|methods| methods.into_iter().map(|method| method.description).collect::<Vec<_>>());
    send_only(&described.map_err(|wrong| wrong.to_string()))
}

/// Runs the checks of a method from number `from` on in this process, a child, and sends each message to the parent.
pub fn check_here(file: &Path, method: &str, precision: Precision, from: usize) -> Result<()> {
    let socket = to_parent()?;
    setrlimit(Resource::RLIMIT_AS, MOST_MEMORY, MOST_MEMORY)?;
    let entries = plugin::open(file)?;
    let entry = entries.into_iter().find(|entry| entry.description.name == method);
    let entry = Box::leak(Box::new(entry.context("the method is missing")?));
    check::run(entry, precision, from, &mut |message| {
        // Without a parent there is no reason to continue.
        if send(&socket, &message).is_err() {
            std::process::exit(2);
        }
    });
    Ok(())
}

/// Opens plug-ins in this process, a child, and adds their methods and those of `.cu` files.
pub fn open(files: &[PathBuf]) -> Result<()> {
    let opened = files.iter().map(|path| {
        if path.extension().is_some_and(|end| end == "cu") {
            return kernel_file(path);
        }
        let wrong = |wrong| anyhow!("{}: {wrong}", path.display());
        let methods = plugin::open(path).map_err(wrong)?.into_iter().map(|entry| {
            let description = entry.description.clone();
            added::of_plugin(description, Some(Box::leak(Box::new(entry))))
        });
        Ok(MethodFile { path: path.clone(), methods: methods.collect() })
    });
    added::add(opened.collect::<Result<_>>()?)
}

/// Returns the plug-ins and `.cu` files of this process for the run record. The name contains a hash of the file, so
/// that a run is not resumed with another build.
pub fn opened() -> impl Iterator<Item = Library> {
    added::paths().iter().map(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let hash = std::fs::read(file).map(|bytes| format!(" {:016x}", xxh3_64(&bytes)));
        let name = format!("{name}{}", hash.unwrap_or_default());
        Library::in_file(name, file)
    })
}
