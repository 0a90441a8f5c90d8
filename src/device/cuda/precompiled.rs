//! Kernels that were compiled on another machine, for one that lacks NVRTC or where it is slow.
//!
//! The folder has a folder for each architecture and compiler, `sm_90-nvrtc-13.0`, and in it an entry per
//! program, compressed. An entry's name is the hash of all that the machine code depends on but the
//! compiler, so that another version of the program finds nothing and compiles.

use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::editions::{Edition, Target};
use super::nvrtc::{Nvrtc, Unit};
use crate::cache::CacheFolder;

/// The kernels in a folder that run on one target.
pub struct Precompiled {
    folder: PathBuf,
    /// By the compilers' versions, the newest first.
    kernels: Vec<((u32, u32), CacheFolder)>,
}

impl Precompiled {
    /// Those of `folder` for `target`.
    pub fn open(folder: &Path, target: &Target) -> Self {
        let mut kernels: Vec<_> = versions(folder, target.architecture)
            .filter(|version| version.0 <= target.newest_cuda())
            .map(|version| {
                (version, CacheFolder::shared(place(folder, target.architecture, version)))
            })
            .collect();
        kernels.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        Self { folder: folder.to_owned(), kernels }
    }

    /// The machine code of `unit`, if it is there and whole.
    pub fn get(&self, unit: &Unit) -> Option<Vec<u8>> {
        let key = unit.key();
        let (entry, _) = self.kernels.iter().find_map(|(_, kernels)| kernels.kept(&key))?;
        let mut cubin = Vec::new();
        ZlibDecoder::new(&*entry).read_to_end(&mut cubin).ok()?;
        Some(cubin)
    }

    /// Adds the machine code of `unit` for an architecture, as that compiler made it, to `folder`.
    pub fn keep(
        folder: &Path,
        architecture: (u32, u32),
        compiler: &Nvrtc,
        unit: &Unit,
        cubin: &[u8],
    ) -> std::io::Result<()> {
        let mut entry = ZlibEncoder::new(Vec::new(), Compression::best());
        entry.write_all(cubin)?;
        let kernels = CacheFolder::shared(place(folder, architecture, compiler.version()));
        kernels.keep(&unit.key(), &entry.finish()?);
        Ok(())
    }
}

/// For example `precompiled by NVRTC 13.0 in /home/me/kernels`.
impl fmt::Display for Precompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |((major, minor), _): &((u32, u32), CacheFolder)| format!("NVRTC {major}.{minor}");
        let names: Vec<_> = self.kernels.iter().map(name).collect();
        let folder = self.folder.display();
        match &names[..] {
            [] => write!(f, "{folder} has no precompiled kernels for this GPU and driver"),
            names => write!(f, "kernels precompiled by {} in {folder}", names.join(" and ")),
        }
    }
}

/// Where the kernels of an architecture are that a compiler of that version made.
fn place(folder: &Path, architecture: (u32, u32), (major, minor): (u32, u32)) -> PathBuf {
    folder.join(format!("{}{major}.{minor}", prefix(architecture)))
}

fn prefix((major, minor): (u32, u32)) -> String {
    format!("sm_{major}{minor}-nvrtc-")
}

/// The versions of the compilers that made kernels for an architecture.
fn versions(folder: &Path, architecture: (u32, u32)) -> impl Iterator<Item = (u32, u32)> {
    let prefix = prefix(architecture);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let name = entry.file_name();
        let (major, minor) = name.to_str()?.strip_prefix(&prefix)?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    })
}
