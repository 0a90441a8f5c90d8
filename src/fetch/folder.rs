//! The folder that matrices are brought into, and the hidden one within it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::sys::statvfs::statvfs;

use super::FetchError;
use super::ledger::{LEDGER, Ledger, PENDING};
use super::part::Part;
use super::temporary::SUFFIX;
use super::web::Web;
use crate::datasets::Matrix;

/// The folder that matrices are brought into, and looked for in, unless told otherwise.
pub const DATA: &str = "ufl_mtx";
/// The hidden folder's name.
const STATE: &str = ".spmv-bench";
/// What the names of parts end in.
const PART: &str = ".tar.gz.part";
/// Free space that is left to others.
const MARGIN: u64 = 64 << 20;
/// How often a waiting run looks whether the folder is free.
const GLANCE: Duration = Duration::from_millis(100);

/// A folder of matrices.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of that name in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A file of that name in the hidden folder.
    pub(super) fn state(&self, name: &str) -> PathBuf {
        self.path.join(STATE).join(name)
    }

    /// The part of a matrix's archive.
    pub(super) fn part(&self, matrix: &Matrix) -> Part {
        Part::at(self.state(&format!("{}{PART}", matrix.id.replace('/', "."))))
    }

    /// Bytes of all parts of archives.
    pub fn bytes_of_parts(&self) -> u64 {
        let names = fs::read_dir(self.state("")).into_iter().flatten().flatten();
        let parts = names.filter(|entry| entry.file_name().to_string_lossy().ends_with(PART));
        parts.map(|entry| Part::at(entry.path()).bytes()).sum()
    }

    /// Creates the folder and takes it for this run alone, until the file is closed; `wait` is called
    /// once when another run has it. Unfinished files of earlier runs are removed.
    ///
    /// # Errors
    /// When it cannot be created or locked, or the wait is interrupted.
    pub fn lock(&self, web: &Web, wait: impl FnOnce()) -> Result<File, FetchError> {
        let state = self.path.join(STATE);
        fs::create_dir_all(&state).map_err(|error| FetchError::file("create", &state, &error))?;
        if state.is_symlink() {
            let state = state.display();
            return Err(FetchError::Failed(format!("{state} is a symbolic link: remove it")));
        }
        let path = self.state("lock");
        // All runs must find it, so that its name can be foreseen; a link is not followed.
        let mut options = File::options();
        options.write(true).create(true).truncate(false).custom_flags(OFlag::O_NOFOLLOW.bits());
        let file =
            options.open(&path).map_err(|error| FetchError::file("create", &path, &error))?;
        let mut wait = Some(wait);
        loop {
            match file.try_lock() {
                Ok(()) => {
                    self.tidy();
                    return Ok(file);
                }
                Err(TryLockError::Error(error)) => {
                    return Err(FetchError::file("lock", &path, &error));
                }
                Err(TryLockError::WouldBlock) => {
                    if let Some(wait) = wait.take() {
                        wait();
                    }
                    web.pause(GLANCE)?;
                }
            }
        }
    }

    /// Removes what an earlier run did not finish. Only space would be lost with it.
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

    /// Bytes that may still be written, less a margin.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn room(&self) -> Result<u64, FetchError> {
        let stats = statvfs(&self.path).map_err(|error| {
            FetchError::file("ask for the free space of", &self.path, &error.into())
        })?;
        let free = stats.blocks_available().saturating_mul(stats.fragment_size());
        Ok(free.saturating_sub(MARGIN))
    }

    /// Whether `bytes` more fit, for `what`.
    pub(super) fn has_room(&self, bytes: u64, what: &Path) -> Result<(), FetchError> {
        let room = self.room()?;
        if bytes < room {
            return Ok(());
        }
        let message = format!("{}: {bytes} bytes are to come and {room} are free", what.display());
        Err(FetchError::Failed(message))
    }

    /// Whether a file of that name may be written for a matrix: there is none, or it was brought for
    /// that matrix.
    pub(super) fn may_write(
        &self,
        name: &str,
        id: &str,
        ledger: &Ledger,
    ) -> Result<(), FetchError> {
        let path = self.file(name);
        if path.symlink_metadata().is_err() || ledger.owner(name) == Some(id) {
            return Ok(());
        }
        let path = path.display();
        Err(FetchError::Failed(format!("{path} is there and not of {id}: move it away")))
    }

    /// Gives a whole file of the hidden folder its name in this one, once its bytes are on the disk.
    pub(super) fn rename(&self, from: &Path, name: &str) -> Result<(), FetchError> {
        let to = self.file(name);
        let synced = File::open(from).and_then(|file| file.sync_data());
        let renamed = synced.and_then(|()| fs::rename(from, &to));
        renamed.map_err(|error| FetchError::file("rename to", &to, &error))
    }

    /// Waits until the files' names are on the disk.
    pub(super) fn sync(&self) -> Result<(), FetchError> {
        sync(&self.path)
    }

    /// The bytes of a file of that name; `None` when there is none.
    ///
    /// # Errors
    /// When that cannot be found out, or it is no file.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<u64>, String> {
        let path = self.file(name);
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(format!("{} is no file", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }
}

/// Waits until the names in a folder are on the disk.
pub(super) fn sync(folder: &Path) -> Result<(), FetchError> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems cannot do that.
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
            Err(FetchError::file("write", folder, &error))
        }
        _ => Ok(()),
    }
}
