//! The part of an archive that is there, and a note of what it is a part of. A later run must find both,
//! so their names can be foreseen: they are created only where nothing is, and a link is never followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};

use super::FetchError;

/// A file that grows until it is whole.
pub struct Part {
    path: PathBuf,
    note: PathBuf,
}

/// What a part is a part of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub address: String,
    /// The ETag or date that the server knows this version by; without one it cannot be resumed.
    pub validator: Option<String>,
    /// Bytes of the whole, if the server told.
    pub total: Option<u64>,
}

impl Part {
    /// The part in the file `path`; its note is beside it.
    pub fn at(path: PathBuf) -> Self {
        let mut note = path.clone().into_os_string();
        note.push(".json");
        Self { path, note: note.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes; 0 if it has not begun, or something else has its name.
    pub fn bytes(&self) -> u64 {
        let metadata = self.path.symlink_metadata().ok().filter(fs::Metadata::is_file);
        metadata.map_or(0, |metadata| metadata.len())
    }

    /// What it is a part of, if it has begun and that was noted.
    pub fn origin(&self) -> Option<Origin> {
        let note = fs::read(&self.note).ok().filter(|_| self.bytes() > 0)?;
        serde_json::from_slice(&note).ok()
    }

    /// Begins it anew.
    pub fn begin(&self, origin: &Origin) -> Result<File, FetchError> {
        self.discard()?;
        let note = serde_json::to_vec(origin).expect("an origin has only texts and a number");
        let noted = created(&self.note).and_then(|mut file| file.write_all(&note));
        noted.map_err(|error| FetchError::file("write", &self.note, &error))?;
        created(&self.path).map_err(|error| FetchError::file("create", &self.path, &error))
    }

    /// Goes on at its end.
    pub fn append(&self) -> Result<File, FetchError> {
        let mut options = OpenOptions::new();
        options.append(true).custom_flags(OFlag::O_NOFOLLOW.bits());
        options.open(&self.path).map_err(|error| FetchError::file("open", &self.path, &error))
    }

    /// Removes it and its note. The note stays until the part is gone, and a note alone says nothing.
    pub fn discard(&self) -> Result<(), FetchError> {
        for path in [&self.path, &self.note] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(FetchError::file("remove", path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A new file where nothing is, not even a link.
fn created(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
