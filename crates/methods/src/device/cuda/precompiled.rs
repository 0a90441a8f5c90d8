//! Machine code for a device: cached by an earlier run, compiled now, or precompiled on another machine, for machines
//! that lack NVRTC or on which it is slow.
//!
//! The folder of precompiled kernels contains a subfolder per architecture and compiler, such as `sm_90-nvrtc-13.0`,
//! with an entry per program. The name of an entry is a hash of everything that the machine code depends on except the
//! compiler. Therefore another version of this program finds no entry and compiles.

use std::fmt;
use std::path::{Path, PathBuf};

use super::editions::{Edition, Target};
use super::nvrtc::{self, Nvrtc, Unit};
use crate::device::{Program, Unavailable, Unprepared, sources};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::scalar::Precision;

pub struct MachineCode {
    target: Target,
    precompiled: Option<Precompiled>,
    compiler: Result<&'static Nvrtc, Unavailable>,
    cache: CacheFolder,
}

impl MachineCode {
    /// Prepares the sources of machine code: the folder in `SPMV_BENCH_KERNELS`, if set, the user's cache, and NVRTC.
    pub fn new(target: Target) -> Self {
        let folder = std::env::var_os("SPMV_BENCH_KERNELS").filter(|name| !name.is_empty());
        Self {
            precompiled: folder.map(|folder| Precompiled::open(Path::new(&folder), &target)),
            compiler: nvrtc::compiler(&target),
            cache: CacheFolder::of_user("kernels"),
            target,
        }
    }

    /// Returns the machine code of `program` with `VALUE_T` and the constants defined. An error states how to get
    /// NVRTC, or its messages.
    pub fn of(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<Vec<u8>, Unprepared> {
        let unit = Unit::new(self.target.architecture, program, precision, constants);
        match self.precompiled.as_ref().and_then(|precompiled| precompiled.get(&unit)) {
            Some(cubin) => Ok(cubin),
            None => Ok(self.compiler.clone()?.compile_cached(&self.cache, &unit)?),
        }
    }

    pub fn origin(&self) -> String {
        let precompiled = self.precompiled.as_ref().map(|of| format!("{of}; all others by"));
        let compiler = match &self.compiler {
            Ok(nvrtc) => nvrtc.to_string(),
            Err(Unavailable(reason)) => reason.clone(),
        };
        let parts = [precompiled, Some(compiler), Some(sources::origin())].into_iter().flatten();
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// The kernels in a folder that run on one target.
pub struct Precompiled {
    folder: PathBuf,
    /// The version of the compiler and the entries for each subfolder, the newest first.
    kernels: Vec<((u32, u32), CacheFolder)>,
}

impl Precompiled {
    pub fn open(folder: &Path, target: &Target) -> Self {
        let usable = |entry: std::fs::DirEntry| {
            let name = entry.file_name();
            let version = name.to_str()?.strip_prefix(&prefix(target.architecture))?;
            let (major, minor) = version.split_once('.')?;
            let version: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
            (version.0 <= target.newest_cuda()).then(|| (version, CacheFolder::shared(entry.path())))
        };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut kernels: Vec<_> = entries.filter_map(usable).collect();
        kernels.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        Self { folder: folder.to_owned(), kernels }
    }

    /// Returns the machine code of `unit` if its entry exists and is complete.
    pub fn get(&self, unit: &Unit) -> Option<Vec<u8>> {
        let key = unit.key();
        self.kernels.iter().find_map(|(_, kernels)| Some(kernels.get(&key)?.0))
    }

    /// Adds the machine code of `unit`, made by `compiler` for an architecture, to `folder`. It is not compressed,
    /// because the kernels of many programs compress far better together.
    pub fn store(folder: &Path, architecture: (u32, u32), compiler: &Nvrtc, unit: &Unit, cubin: &[u8]) {
        let (major, minor) = compiler.version();
        let place = folder.join(format!("{}{major}.{minor}", prefix(architecture)));
        CacheFolder::shared(place).put(&unit.key(), cubin);
    }
}

/// Writes for example `kernels precompiled by NVRTC 13.0 in /home/me/kernels`.
impl fmt::Display for Precompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |((major, minor), _): &((u32, u32), CacheFolder)| format!("NVRTC {major}.{minor}");
        let names: Vec<_> = self.kernels.iter().map(name).collect();
        let folder = self.folder.display();
        match &names[..] {
            [] => write!(f, "{folder} has no precompiled kernels for this GPU and driver"),
            names => write!(f, "kernels precompiled by {} in {folder}", names.join(" and ")),
        }
    }
}

/// Returns the name of the subfolders for an architecture, without the version of the compiler.
fn prefix((major, minor): (u32, u32)) -> String {
    format!("sm_{major}{minor}-nvrtc-")
}
