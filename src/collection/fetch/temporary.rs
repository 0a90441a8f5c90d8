//! Files that are written under an unpredictable temporary name and renamed when they are complete.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::{Builder, NamedTempFile, TempPath};

use super::error::FetchError;
use spmv_matrix::cache::hex;

/// The suffix of unfinished files.
pub const SUFFIX: &str = ".new";

/// A complete temporary file, which is removed unless it is renamed.
pub struct Temporary {
    path: TempPath,
    /// The name of the file in the archive.
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// A temporary file that is being written, which is removed unless it is finished.
pub struct Writing {
    file: NamedTempFile,
    name: String,
    bytes: u64,
    sha256: Sha256,
}

impl Temporary {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Writing {
    /// Creates a file in `folder` for the archive entry `name`.
    pub fn begin(folder: &Path, name: &str) -> Result<Self, FetchError> {
        let mut builder = Builder::new();
        // The permissions are those of any new file of the user, not those of a temporary file.
        builder.suffix(SUFFIX).permissions(Permissions::from_mode(0o666));
        let file = builder.tempfile_in(folder);
        let file = file.map_err(FetchError::file("create a file in", folder))?;
        Ok(Self { file, name: name.to_owned(), bytes: 0, sha256: Sha256::new() })
    }

    /// Appends a piece to the file.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), FetchError> {
        let written = self.file.as_file_mut().write_all(piece);
        written.map_err(FetchError::file("write", self.file.path()))?;
        self.sha256.update(piece);
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// Completes the file and waits until it is on the disk.
    pub fn finish(self) -> Result<Temporary, FetchError> {
        let Self { file, name, bytes, sha256 } = self;
        let synced = file.as_file().sync_data();
        synced.map_err(FetchError::file("write", file.path()))?;
        Ok(Temporary { path: file.into_temp_path(), name, bytes, sha256: hex(sha256) })
    }
}
