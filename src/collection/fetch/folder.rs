//! The folder for downloaded matrices, and the hidden folder in it with partial archives, unfinished files, the ledger
//! and a lock. A file outside the hidden folder is always complete and checked.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::sys::statvfs::statvfs;
use serde::{Deserialize, Serialize};
use tempfile::{Builder, NamedTempFile};

use super::client::Client;
use super::error::{FetchError, OrCannot};
use crate::collection::Matrix;

/// The default folder for downloading matrices and for finding downloaded matrices.
pub const DATA: &str = "ufl_mtx";
pub(super) const LEDGER: &str = "ledger.csv";
const STATE: &str = ".spmv-bench";
const PART: &str = ".tar.gz.part";
const UNFINISHED: &str = ".new";
/// The extensions of matrix files, the fastest to read first.
pub(super) const EXTENSIONS: [&str; 3] = [".mtx", ".mtx.gz", ".tar.gz"];
/// The number of bytes that must remain free on the disk.
const MARGIN: u64 = 64 << 20;
/// The time between two attempts to lock the folder.
const LOCK_INTERVAL: Duration = Duration::from_millis(100);

/// A folder of matrices, which need not exist.
#[derive(Clone, Debug)]
pub struct Folder {
    pub path: PathBuf,
}

/// Returns the names that the file of a matrix can have, `NAME` and `GROUP-NAME` with an extension. It has the second
/// one if a matrix of another group has the first.
pub fn names(id: &str, extension: &str) -> [String; 2] {
    let (_, name) = id.split_once('/').unwrap_or(("", id));
    [format!("{name}{extension}"), format!("{}{extension}", id.replace('/', "-"))]
}

impl Folder {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(super) fn state(&self, name: &str) -> PathBuf {
        self.path.join(STATE).join(name)
    }

    pub fn part(&self, matrix: &Matrix) -> Part {
        Part { path: self.state(&format!("{}{PART}", matrix.id.replace('/', "."))) }
    }

    /// Returns the total size of all partial archives in bytes.
    pub fn bytes_of_parts(&self) -> u64 {
        let entries = fs::read_dir(self.state("")).into_iter().flatten().flatten();
        let parts = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(PART));
        parts.map(|entry| Part { path: entry.path() }.bytes()).sum()
    }

    /// Creates the folder and locks it until the returned file is closed. If another run has locked the folder, waits
    /// and writes a message. Removes unfinished files of earlier runs.
    pub fn lock(&self, web: &Client, stderr: &mut dyn Write) -> Result<File, FetchError> {
        let (state, path) = (self.path.join(STATE), self.state("lock"));
        fs::create_dir_all(&state).or_cannot("create", &state)?;
        if state.is_symlink() {
            let state = state.display();
            return Err(FetchError::Failed(format!("{state} is a symbolic link: remove it")));
        }
        // The name is predictable because all runs must find the file. So a symbolic link is not followed.
        let mut options = File::options();
        options.write(true).create(true).truncate(false).custom_flags(OFlag::O_NOFOLLOW.bits());
        let file = options.open(&path).or_cannot("create", &path)?;
        let mut is_first = true;
        while let Err(error) = file.try_lock() {
            if let TryLockError::Error(error) = error {
                return Err(error).or_cannot("lock", &path);
            }
            if mem::take(&mut is_first) {
                let to = self.path.display();
                let why = "another fetch uses this folder, waiting until it ends";
                // Whoever closed stderr does not want the message.
                let _ = writeln!(stderr, "{to}: {why}");
            }
            web.pause(LOCK_INTERVAL)?;
        }
        for entry in fs::read_dir(&state).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_ledger = name.strip_prefix(LEDGER).is_some_and(|rest| rest.starts_with('.'));
            if is_ledger || name.ends_with(UNFINISHED) {
                // It only wastes space.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(file)
    }

    /// Creates a file in the hidden folder, if there is room for so many bytes of `name`. It is removed unless renamed.
    pub(super) fn temporary(&self, name: &str, bytes: u64) -> Result<NamedTempFile, FetchError> {
        self.check_room(bytes, &self.file(name))?;
        let state = self.state("");
        let mut builder = Builder::new();
        // The permissions are those of any new file of the user, not those of a temporary file.
        builder.suffix(UNFINISHED).permissions(Permissions::from_mode(0o666));
        builder.tempfile_in(&state).or_cannot("create a file in", &state)
    }

    /// Returns the free space in bytes, minus a margin.
    pub fn room(&self) -> Result<u64, FetchError> {
        let stats = statvfs(&self.path).map_err(io::Error::from);
        let stats = stats.or_cannot("determine the free space of", &self.path)?;
        let free = stats.blocks_available().saturating_mul(stats.fragment_size());
        Ok(free.saturating_sub(MARGIN))
    }

    /// Checks whether there is room for `bytes` more bytes of the file `what`.
    pub(super) fn check_room(&self, bytes: u64, what: &Path) -> Result<(), FetchError> {
        let room = self.room()?;
        if bytes < room {
            return Ok(());
        }
        let message = format!("{}: {bytes} bytes are needed and {room} are free", what.display());
        Err(FetchError::Failed(message))
    }

    /// Returns the size of a file in bytes, or `None` if it does not exist.
    pub fn bytes(&self, name: &str) -> Result<Option<u64>, FetchError> {
        let path = self.file(name);
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(FetchError::Failed(format!("{} is not a regular file", path.display()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).or_cannot("read", &path),
        }
    }
}

/// Waits until the directory entries of a folder are on the disk.
pub(super) fn sync(folder: &Path) -> Result<(), FetchError> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems do not support this.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        synced => synced.or_cannot("write", folder),
    }
}

/// A partially downloaded file, and a note about its origin beside it. A later run must find both, so their names are
/// predictable. Therefore they are created only if nothing exists under the name, and links are never followed.
pub struct Part {
    pub path: PathBuf,
}

#[derive(Serialize, Deserialize)]
pub struct Origin {
    /// See [`way`](super::address::way).
    pub address: String,
    /// The ETag or date by which the server identifies this version. Without it, the download cannot be resumed.
    pub validator: Option<String>,
    /// The size of the complete file in bytes, if the server reported it.
    pub total: Option<u64>,
}

impl Part {
    fn note(&self) -> PathBuf {
        let mut note = OsString::from(&self.path);
        note.push(".json");
        note.into()
    }

    /// Returns the number of downloaded bytes; 0 if the file does not exist or is not a regular file.
    pub fn bytes(&self) -> u64 {
        let metadata = self.path.symlink_metadata().ok().filter(fs::Metadata::is_file);
        metadata.map_or(0, |metadata| metadata.len())
    }

    /// Returns the origin if there is a partial file with a valid note.
    pub fn origin(&self) -> Option<Origin> {
        let note = fs::read(self.note()).ok().filter(|_| self.bytes() > 0)?;
        serde_json::from_slice(&note).ok()
    }

    /// Starts the file from the beginning, with a new note.
    pub fn begin(&self, origin: &Origin) -> Result<File, FetchError> {
        self.discard()?;
        let text = serde_json::to_vec(origin).expect("an origin has only texts and a number");
        let note = self.note();
        let noted = File::create_new(&note).and_then(|mut file| file.write_all(&text));
        noted.or_cannot("write", &note)?;
        File::create_new(&self.path).or_cannot("create", &self.path)
    }

    pub fn append(&self) -> Result<File, FetchError> {
        let mut options = OpenOptions::new();
        options.append(true).custom_flags(OFlag::O_NOFOLLOW.bits());
        options.open(&self.path).or_cannot("open", &self.path)
    }

    /// Removes the file and then its note. A note without a file is ignored.
    pub fn discard(&self) -> Result<(), FetchError> {
        for path in [&self.path, &self.note()] {
            match fs::remove_file(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                removed => removed.or_cannot("remove", path)?,
            }
        }
        Ok(())
    }
}
