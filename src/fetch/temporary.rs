//! Files that are written under a temporary name and get their own when they are whole.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Trouble;
use crate::cache::hex;

/// A whole file, which is removed if it does not get another name.
pub struct Temporary {
    path: Removed,
    /// As in the archive.
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// A file in the making, removed unless it is finished.
pub struct Writing {
    path: Removed,
    name: String,
    file: File,
    bytes: u64,
    sha256: Sha256,
}

struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Temporary {
    pub fn path(&self) -> &Path {
        &self.path.0
    }
}

impl Writing {
    /// Begins a file that bears `name` in the archive.
    pub fn begin(path: PathBuf, name: &str) -> Result<Self, Trouble> {
        let file = File::create(&path).map_err(|error| Trouble::file("create", &path, &error))?;
        let (path, name) = (Removed(path), name.to_owned());
        Ok(Self { path, name, file, bytes: 0, sha256: Sha256::new() })
    }

    /// Adds to its end.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Trouble> {
        let written = self.file.write_all(piece);
        written.map_err(|error| Trouble::file("write", &self.path.0, &error))?;
        self.sha256.update(piece);
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// Ends it, safely on the disk.
    pub fn finish(self) -> Result<Temporary, Trouble> {
        let Self { path, name, file, bytes, sha256 } = self;
        file.sync_data().map_err(|error| Trouble::file("write", &path.0, &error))?;
        Ok(Temporary { path, name, bytes, sha256: hex(sha256) })
    }
}
