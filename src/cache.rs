//! What took long and is needed again, on disk: compiled kernels, profiles of the machine, the
//! collection's index, parsed matrices.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest, Sha256};

const CHECKSUM: usize = 32;

/// A folder of entries. It only saves time: whatever goes wrong with it is no error.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
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
impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.folder {
            Some(folder) => folder.display().fmt(f),
            None => write!(f, "no folder"),
        }
    }
}

impl Cache {
    /// The user's for entries of a kind: a folder in that of `SPMV_BENCH_CACHE`, or in `spmv-bench` in
    /// the folder for caches.
    pub fn of_user(kind: &str) -> Self {
        let named = std::env::var_os("SPMV_BENCH_CACHE").filter(|name| !name.is_empty());
        let folder = named
            .map(PathBuf::from)
            .or_else(|| dirs::cache_dir().map(|caches| caches.join("spmv-bench")));
        Self { folder: folder.map(|folder| folder.join(kind)) }
    }

    /// One in `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// The file of `key`'s entry, present or not; `None` where nothing can be kept.
    pub fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key.file_name()))
    }

    /// All files with their sizes.
    ///
    /// # Errors
    /// A folder that is there and cannot be read.
    pub fn files(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        let entries = match self.folder.as_ref().map(fs::read_dir) {
            Some(Ok(entries)) => entries,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(Vec::new()),
        };
        entries.map(|entry| entry.and_then(|e| Ok((e.path(), e.metadata()?.len())))).collect()
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

    /// The entry of `key` and its age, if it is there and whole.
    pub fn kept(&self, key: &Key) -> Option<(Vec<u8>, Duration)> {
        let path = self.path(key)?;
        let age = path.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        Some((read(&path)?, age))
    }

    /// Keeps the entry of `key`.
    pub fn keep(&self, key: &Key, entry: &[u8]) {
        let Some(path) = self.path(key) else { return };
        // An unwritable folder costs the next run time, nothing else.
        let _ = Self::write(&path, |file| {
            file.write_all(&Sha256::digest(entry))?;
            file.write_all(entry)
        });
    }

    /// Writes beside it and renames, so that nobody reads half an entry.
    ///
    /// # Errors
    /// Those of `write` and of the file system; then nothing is left.
    pub fn write(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        static WRITES: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        let unique = format!("{}-{}", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
        let written = path.with_extension(unique);
        let done = File::create(&written)
            .and_then(|mut file| write(&mut file).and_then(|()| file.sync_data()))
            .and_then(|()| fs::rename(&written, path));
        if done.is_err() {
            let _ = fs::remove_file(&written);
        }
        done
    }
}

/// A hash as lower-case digits.
pub fn hex(sha256: Sha256) -> String {
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What stands behind its checksum in the file, if that is right.
fn read(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    let (checksum, entry) = bytes.split_at_checked(CHECKSUM)?;
    (Sha256::digest(entry)[..] == *checksum).then(|| entry.to_vec())
}
