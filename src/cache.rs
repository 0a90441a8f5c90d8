//! What took long and is needed again, on disk: compiled kernels, profiles of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self(Sha256::new()).and(texts)
    }

    /// And of these.
    pub fn and<'t>(mut self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        for text in texts {
            // The length keeps "ab", "c" and "a", "bc" apart.
            self.0.update((text.len() as u64).to_le_bytes());
            self.0.update(text);
        }
        self
    }

    fn file_name(&self) -> String {
        self.0.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
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

    /// The entry of `key`; when it is absent or damaged, what `make` gives, which is kept.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get_or<E>(
        &self,
        key: &Key,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let Some(folder) = &self.folder else { return make() };
        let path = folder.join(key.file_name());
        if let Some(entry) = read(&path) {
            return Ok(entry);
        }
        let entry = make()?;
        // An unwritable folder costs the next run time, nothing else.
        let _ = write(&path, &entry);
        Ok(entry)
    }
}

/// What stands behind its checksum in the file, if that is right.
fn read(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    let (checksum, entry) = bytes.split_at_checked(CHECKSUM)?;
    (Sha256::digest(entry)[..] == *checksum).then(|| entry.to_vec())
}

/// Writes beside it and renames, so that nobody reads half an entry.
fn write(path: &Path, entry: &[u8]) -> std::io::Result<()> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    let unique = format!("{}-{}", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
    let written = path.with_extension(unique);
    let bytes = [&Sha256::digest(entry)[..], entry].concat();
    let done = fs::write(&written, bytes).and_then(|()| fs::rename(&written, path));
    if done.is_err() {
        let _ = fs::remove_file(&written);
    }
    done
}
