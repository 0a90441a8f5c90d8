//! The folder for downloaded matrices, and the hidden folder in it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::sys::statvfs::statvfs;

use super::client::Client;
use super::error::FetchError;
use super::part::Part;
use super::temporary::SUFFIX;
use crate::collection::Matrix;

/// The default folder for downloading matrices and for finding downloaded matrices.
pub const DATA: &str = "ufl_mtx";
/// The name of the ledger: the file with a line for each downloaded file.
pub(super) const LEDGER: &str = "ledger.csv";
/// The name of the file with the lines of files that are about to be renamed to their final names.
pub(super) const PENDING: &str = "pending.csv";
/// The name of the hidden folder.
const STATE: &str = ".spmv-bench";
/// The suffix of partial archives.
const PART: &str = ".tar.gz.part";
/// The number of bytes that must remain free on the disk.
const MARGIN: u64 = 64 << 20;
/// The time between two attempts to lock the folder.
const LOCK_INTERVAL: Duration = Duration::from_millis(100);

/// The form in which a matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The matrix file that was unpacked from the archive.
    Mtx,
    /// The archive as it was downloaded.
    Archive,
}

impl Form {
    /// Returns the suffix of the file names.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Mtx => ".mtx",
            Self::Archive => ".tar.gz",
        }
    }
}

/// A folder of matrices.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates a handle for the folder at this path, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in this folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the path of a file in the hidden folder.
    pub(super) fn state(&self, name: &str) -> PathBuf {
        self.path.join(STATE).join(name)
    }

    /// Returns the partial archive of a matrix.
    pub(super) fn part(&self, matrix: &Matrix) -> Part {
        Part::at(self.state(&format!("{}{PART}", matrix.id.replace('/', "."))))
    }

    /// Returns the total size of all partial archives in bytes.
    pub fn bytes_of_parts(&self) -> u64 {
        let names = fs::read_dir(self.state("")).into_iter().flatten().flatten();
        let parts = names.filter(|entry| entry.file_name().to_string_lossy().ends_with(PART));
        parts.map(|entry| Part::at(entry.path()).bytes()).sum()
    }

    /// Creates the folder and locks it until the returned file is closed. Calls `wait` once if another run has
    /// locked the folder. Removes unfinished files of earlier runs.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or locked, or if waiting is interrupted.
    pub fn lock(&self, web: &Client, wait: impl FnOnce()) -> Result<File, FetchError> {
        let state = self.path.join(STATE);
        fs::create_dir_all(&state).map_err(FetchError::file("create", &state))?;
        if state.is_symlink() {
            let state = state.display();
            return Err(FetchError::Failed(format!("{state} is a symbolic link: remove it")));
        }
        let path = self.state("lock");
        // The name is predictable because all runs must find the file. So a symbolic link is not followed.
        let mut options = File::options();
        options.write(true).create(true).truncate(false).custom_flags(OFlag::O_NOFOLLOW.bits());
        let file = options.open(&path).map_err(FetchError::file("create", &path))?;
        let mut wait = Some(wait);
        loop {
            match file.try_lock() {
                Ok(()) => {
                    self.tidy();
                    return Ok(file);
                }
                Err(TryLockError::Error(error)) => {
                    return Err(FetchError::file("lock", &path)(error));
                }
                Err(TryLockError::WouldBlock) => {
                    if let Some(wait) = wait.take() {
                        wait();
                    }
                    web.pause(LOCK_INTERVAL)?;
                }
            }
        }
    }

    /// Removes unfinished files of earlier runs. They only waste space, so errors are ignored.
    fn tidy(&self) {
        for entry in fs::read_dir(self.state("")).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let replaced = [LEDGER, PENDING]
                .iter()
                .any(|file| name.strip_prefix(file).is_some_and(|rest| rest.starts_with('.')));
            if replaced || name.ends_with(SUFFIX) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns the free space in bytes, minus a margin.
    ///
    /// # Errors
    /// Returns an error if the system does not report the free space.
    pub fn room(&self) -> Result<u64, FetchError> {
        let stats = statvfs(&self.path).map_err(io::Error::from);
        let stats = stats.map_err(FetchError::file("determine the free space of", &self.path))?;
        let free = stats.blocks_available().saturating_mul(stats.fragment_size());
        Ok(free.saturating_sub(MARGIN))
    }

    /// Checks whether there is room for `bytes` more bytes of the file `what`.
    pub(super) fn has_room(&self, bytes: u64, what: &Path) -> Result<(), FetchError> {
        let room = self.room()?;
        if bytes < room {
            return Ok(());
        }
        let message = format!("{}: {bytes} bytes are needed and {room} are free", what.display());
        Err(FetchError::Failed(message))
    }

    /// Renames a complete file from the hidden folder into this one, after its contents are on the disk.
    pub(super) fn rename(&self, from: &Path, name: &str) -> Result<(), FetchError> {
        let to = self.file(name);
        let synced = File::open(from).and_then(|file| file.sync_data());
        let renamed = synced.and_then(|()| fs::rename(from, &to));
        renamed.map_err(FetchError::file("rename to", &to))
    }

    /// Waits until the directory entries are on the disk.
    pub(super) fn sync(&self) -> Result<(), FetchError> {
        sync(&self.path)
    }

    /// Returns the size of a file in bytes, or `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the size cannot be determined or the path is not a regular file.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<u64>, FetchError> {
        let path = self.file(name);
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(FetchError::Failed(format!("{} is not a regular file", path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FetchError::file("read", &path)(error)),
        }
    }
}

/// Waits until the directory entries of a folder are on the disk.
pub(super) fn sync(folder: &Path) -> Result<(), FetchError> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems do not support this and report an invalid input.
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
            Err(FetchError::file("write", folder)(error))
        }
        _ => Ok(()),
    }
}
