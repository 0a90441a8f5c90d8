//! A partially downloaded archive, and a note about its origin. A later run must find both, so their names are
//! predictable. Therefore they are created only if nothing exists under the name, and links are never followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};

use super::error::FetchError;

/// A partially downloaded file and its note.
pub struct Part {
    path: PathBuf,
    note: PathBuf,
}

/// The origin of a partial file, as stored in its note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The way to the file: see [`way`](super::address::way).
    pub address: String,
    /// The ETag or date by which the server identifies this version. Without it, the download cannot be resumed.
    pub validator: Option<String>,
    /// The size of the complete file in bytes, if the server reported it.
    pub total: Option<u64>,
}

impl Part {
    /// Creates the description of the partial file `path`; its note is in the same folder.
    pub fn at(path: PathBuf) -> Self {
        let mut note = path.clone().into_os_string();
        note.push(".json");
        Self { path, note: note.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of downloaded bytes; 0 if the file does not exist or is not a regular file.
    pub fn bytes(&self) -> u64 {
        let metadata = self.path.symlink_metadata().ok().filter(fs::Metadata::is_file);
        metadata.map_or(0, |metadata| metadata.len())
    }

    /// Returns the origin if there is a partial file with a valid note.
    pub fn origin(&self) -> Option<Origin> {
        let note = fs::read(&self.note).ok().filter(|_| self.bytes() > 0)?;
        serde_json::from_slice(&note).ok()
    }

    /// Starts the file from the beginning, with a new note.
    pub fn begin(&self, origin: &Origin) -> Result<File, FetchError> {
        self.discard()?;
        let note = serde_json::to_vec(origin).expect("an origin has only texts and a number");
        let noted = created(&self.note).and_then(|mut file| file.write_all(&note));
        noted.map_err(FetchError::file("write", &self.note))?;
        created(&self.path).map_err(FetchError::file("create", &self.path))
    }

    /// Opens the file to append to it.
    pub fn append(&self) -> Result<File, FetchError> {
        let mut options = OpenOptions::new();
        options.append(true).custom_flags(OFlag::O_NOFOLLOW.bits());
        options.open(&self.path).map_err(FetchError::file("open", &self.path))
    }

    /// Removes the file and then its note. A note without a file is ignored.
    pub fn discard(&self) -> Result<(), FetchError> {
        for path in [&self.path, &self.note] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(FetchError::file("remove", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Creates a file. Fails if anything exists under its name, even a link.
fn created(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
