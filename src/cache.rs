//! What took long and is needed again, on disk: compiled kernels, profiles of the machine, the
//! collection's index, parsed matrices. An entry is for its owner alone, and used only by him.

mod files;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use files::Name;
pub use files::{
    PUBLIC, Unusable, create_private_folder, folder_of, open_own, replace, replace_private,
};

const CHECKSUM: usize = 32;

/// A folder of entries. It only saves time: whatever goes wrong with it is no error.
#[derive(Clone, Debug)]
pub struct CacheFolder {
    folder: Option<PathBuf>,
    /// Whether entries of other users are used, and others may read those of this user.
    shared: bool,
}

/// The files of a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Entries with their sizes.
    pub entries: Vec<(PathBuf, u64)>,
    /// What processes that have ended left unfinished, with their sizes.
    pub left_over: Vec<(PathBuf, u64)>,
    /// How many files and folders are not of this program.
    pub others: usize,
}

/// What an entry depends on.
#[derive(Clone)]
pub struct Key(Sha256);

impl Key {
    /// Of these texts, in this order.
    pub fn of<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self(Sha256::new()).and(texts)
    }

    /// And of these.
    pub fn and<T: AsRef<[u8]>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        for text in texts {
            let text = text.as_ref();
            // The length keeps "ab", "c" and "a", "bc" apart.
            self.0.update((text.len() as u64).to_le_bytes());
            self.0.update(text);
        }
        self
    }

    fn file_name(&self) -> String {
        hex(self.0.clone())
    }
}

/// The folder.
impl fmt::Display for CacheFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.folder {
            Some(folder) => folder.display().fmt(f),
            None => write!(f, "no folder"),
        }
    }
}

impl CacheFolder {
    /// The user's for entries of a kind: a folder in that of `SPMV_BENCH_CACHE`, or in `spmv-bench` in
    /// the folder for caches.
    pub fn of_user(kind: &str) -> Self {
        let named = std::env::var_os("SPMV_BENCH_CACHE").filter(|name| !name.is_empty());
        let folder = named
            .map(PathBuf::from)
            .or_else(|| dirs::cache_dir().map(|caches| caches.join("spmv-bench")));
        Self { folder: folder.map(|folder| folder.join(kind)), shared: false }
    }

    /// One in `folder`, for this user.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), shared: false }
    }

    /// One in `folder`, for all who can read there: whoever names the folder trusts those who write into
    /// it.
    pub fn shared(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), shared: true }
    }

    /// The file of `key`'s entry, present or not; `None` where nothing can be kept.
    pub fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key.file_name()))
    }

    /// All that is in the folder.
    ///
    /// # Errors
    /// A folder that is there and cannot be read.
    pub fn contents(&self) -> io::Result<Contents> {
        let mut contents = Contents::default();
        let entries = match self.folder.as_ref().map(fs::read_dir) {
            Some(Ok(entries)) => entries,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(contents),
        };
        for entry in entries {
            contents.add(&entry?)?;
        }
        Ok(contents)
    }

    /// The entry of `key`; when it is absent or damaged, what `make` gives, which is kept.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get_or<E>(
        &self,
        key: &Key,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        if let Some((entry, _)) = self.kept(key) {
            return Ok(entry);
        }
        let entry = make()?;
        self.keep(key, &entry);
        Ok(entry)
    }

    /// The folder, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The entry of `key` and its age, if it is there, whole and the user's own.
    pub fn kept(&self, key: &Key) -> Option<(Vec<u8>, Duration)> {
        let path = self.path(key)?;
        let file = if self.shared { File::open(path).ok()? } else { open_own(&path).ok()? };
        let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        Some((read(file)?, age))
    }

    /// Keeps the entry of `key`.
    pub fn keep(&self, key: &Key, entry: &[u8]) {
        let Some(path) = self.path(key) else { return };
        let write = |file: &mut File| {
            file.write_all(&Sha256::digest(entry))?;
            file.write_all(entry)
        };
        // An unwritable folder costs the next run time, nothing else.
        let _ = if self.shared { replace(&path, write) } else { replace_private(&path, write) };
    }
}

impl Contents {
    fn add(&mut self, entry: &fs::DirEntry) -> io::Result<()> {
        let name = Name::of(&entry.file_name().to_string_lossy());
        let metadata = match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            metadata => metadata?,
        };
        let file = (entry.path(), metadata.len());
        match name {
            Name::Entry if metadata.is_file() => self.entries.push(file),
            Name::Partial(_) if metadata.is_file() => {
                self.left_over.extend(Some(file).filter(|_| name.is_left_over()));
            }
            _ => self.others += 1,
        }
        Ok(())
    }
}

/// A hash as lower-case digits.
pub fn hex(sha256: Sha256) -> String {
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What stands behind its checksum in the file, if that is right.
fn read(mut file: File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (checksum, entry) = bytes.split_at_checked(CHECKSUM)?;
    (Sha256::digest(entry)[..] == *checksum).then(|| entry.to_vec())
}
