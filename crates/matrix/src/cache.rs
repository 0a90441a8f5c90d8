//! The on-disk cache for results that take long to compute: compiled kernels, machine profiles, the index of
//! the collection, and parsed matrices. Entries are private to the user who created them, except in folders
//! that are explicitly shared.

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

/// The size in bytes of the SHA-256 checksum at the start of an entry.
const CHECKSUM: usize = 32;

/// A folder of cache entries. A failure of the cache is not an error, because it only costs time.
#[derive(Clone, Debug)]
pub struct CacheFolder {
    folder: Option<PathBuf>,
    /// Whether entries of other users are used, and other users can read the entries of this user.
    shared: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The entries with their sizes in bytes.
    pub entries: Vec<(PathBuf, u64)>,
    /// The unfinished files of processes that have ended, with their sizes in bytes.
    pub left_over: Vec<(PathBuf, u64)>,
    /// The number of other files and folders, which do not belong to the cache.
    pub others: usize,
}

/// The key of an entry: a hash of everything on which its contents depend.
#[derive(Clone)]
pub struct Key(Sha256);

impl Key {
    /// Creates the key of these texts. Their order matters.
    pub fn of<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self(Sha256::new()).and(texts)
    }

    pub fn and<T: AsRef<[u8]>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        for text in texts {
            let text = text.as_ref();
            // The length distinguishes "ab", "c" from "a", "bc".
            self.0.update((text.len() as u64).to_le_bytes());
            self.0.update(text);
        }
        self
    }

    fn file_name(&self) -> String {
        hex(self.0.clone())
    }
}

impl fmt::Display for CacheFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.folder {
            Some(folder) => folder.display().fmt(f),
            None => write!(f, "no folder"),
        }
    }
}

impl CacheFolder {
    /// Returns the user's cache for entries of a kind: the folder `kind` in `SPMV_BENCH_CACHE`, or else in
    /// `spmv-bench` in the user's cache folder (by default `~/.cache`).
    pub fn of_user(kind: &str) -> Self {
        let named = std::env::var_os("SPMV_BENCH_CACHE").filter(|name| !name.is_empty());
        let folder = named
            .map(PathBuf::from)
            .or_else(|| dirs::cache_dir().map(|caches| caches.join("spmv-bench")));
        Self { folder: folder.map(|folder| folder.join(kind)), shared: false }
    }

    /// Returns the cache in `folder` for entries that are private to this user.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), shared: false }
    }

    /// Returns the cache in `folder` for entries that several users share. The caller must trust every user
    /// who can write to the folder.
    pub fn shared(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), shared: true }
    }

    /// Returns the path of the entry of `key`, which need not exist; `None` if there is no cache folder.
    pub fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key.file_name()))
    }

    pub fn contents(&self) -> io::Result<Contents> {
        let mut contents = Contents::default();
        let entries = match self.folder.as_ref().map(fs::read_dir) {
            Some(Ok(entries)) => entries,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(contents),
        };
        for entry in entries {
            let entry = entry?;
            let metadata = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                metadata => metadata?,
            };
            let (file, is_file) = ((entry.path(), metadata.len()), metadata.is_file());
            match Name::of(&entry.file_name().to_string_lossy()) {
                Name::Entry if is_file => contents.entries.push(file),
                name @ Name::Partial(_) if is_file => {
                    contents.left_over.extend(name.is_left_over().then_some(file));
                }
                _ => contents.others += 1,
            }
        }
        Ok(contents)
    }

    /// Returns the entry of `key`. If it is absent or damaged, `make` is called and its result is stored.
    pub fn get_or<E>(
        &self,
        key: &Key,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        if let Some((entry, _)) = self.get(key) {
            return Ok(entry);
        }
        let entry = make()?;
        self.put(key, &entry);
        Ok(entry)
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the entry of `key` and its age. Returns `None` if it is absent, damaged or not trusted.
    pub fn get(&self, key: &Key) -> Option<(Vec<u8>, Duration)> {
        let path = self.path(key)?;
        let file = if self.shared { File::open(path).ok()? } else { open_own(&path).ok()? };
        let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        Some((read(file)?, age))
    }

    /// Stores the entry of `key`. Failures are ignored.
    pub fn put(&self, key: &Key, entry: &[u8]) {
        let Some(path) = self.path(key) else { return };
        let write = |file: &mut File| {
            file.write_all(&Sha256::digest(entry))?;
            file.write_all(entry)
        };
        // If the folder cannot be written, the next run only takes longer.
        let _ = if self.shared { replace(&path, write) } else { replace_private(&path, write) };
    }
}

pub fn hex(sha256: Sha256) -> String {
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads an entry and verifies the checksum that precedes it in the file.
fn read(mut file: File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (checksum, entry) = bytes.split_at_checked(CHECKSUM)?;
    (Sha256::digest(entry)[..] == *checksum).then(|| entry.to_vec())
}
