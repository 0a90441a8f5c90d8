//! The cache of parsed matrices: binary CSR files on disk, so that each file is parsed only once.
//!
//! The key of an entry is the path of the file and how it is read. An entry is used if
//! the file still has the same `Stamp`. If that differs or its times are not conclusive, the hashes of the
//! contents are compared. The arrays are read into ordinary memory pages, as for a parsed matrix: products
//! must run on the same kind of memory in the second run as in the first.

mod entry;
mod room;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::statvfs::statvfs;
use xxhash_rust::xxh3::Xxh3;

use super::loaded::{Loaded, Pending, Stamp};
use super::memory::ReadBounds;
use super::reader::{Options, ReadError};
use super::source::{LoadError, Opened, Source};
use crate::cache::{CacheFolder, Key, create_private_folder, replace_private};
use entry::{CachedMatrix, Head, now};
pub use room::{VARIABLE, limit};

/// The resolution of the times of files in seconds: a file may change again within it and keep its times.
const TIME_STEP: i64 = 2;
/// The free disk space that is never used, in bytes.
const MARGIN: u64 = 1 << 30;
/// An entry may use at most one part in `SHARE` of the free space beyond `MARGIN`.
const SHARE: u64 = 10;
/// The number of bytes at each end of a file that are compared whenever its entry is used.
const BLOCK: u64 = 1 << 16;
const PIECE: usize = 1 << 20;

#[derive(Debug)]
pub struct Listed {
    pub path: PathBuf,
    pub bytes: u64,
    /// The file that was parsed; `None` if the entry is damaged or was written by another version.
    pub source: Option<String>,
    /// Whether that file has changed or no longer exists.
    pub stale: bool,
}

/// Loads the matrix of a file from its entry in `cache`, or parses the file within `bounds`;
/// [`Loaded::write_to_cache`] then writes the entry. Problems with the entry only result in a note.
pub fn load(cache: &CacheFolder, path: &Path, options: &Options, bounds: ReadBounds) -> Result<Loaded, ReadError> {
    let parse = || Loaded::read_within(path, options, bounds);
    let known = path.canonicalize().and_then(|path| Ok((Stamp::of(&path)?, path)));
    let Ok((stamp, source)) = known else { return parse() };
    let how = options.words();
    let key = Key::of([source.as_os_str().as_encoded_bytes(), how.as_bytes()]);
    let Some(place) = cache.path(&key) else { return parse() };
    let loaded = CachedMatrix::open(&place).and_then(|entry| {
        let is_current = entry.head.is_of(&source, &how, stamp, bounds);
        if is_current { entry.used().load() } else { Err(None) }
    });
    let damage = match loaded {
        Ok(loaded) => return Ok(loaded),
        Err(damage) => damage,
    };
    let hash = if stamp.is_settled(now()) { None } else { hash_of(&source, bounds).ok() };
    let loaded = parse()?;
    let note = damage.map(|how| {
        let place = place.display();
        format!("the file was read again, because its cached copy {place} {how}")
    });
    Ok(Loaded { note, pending: Some(Pending { place, source, stamp, hash, how }), ..loaded })
}

/// Returns all entries, the largest first.
pub fn list(cache: &CacheFolder) -> io::Result<Vec<Listed>> {
    let mut listed = cache.contents()?.entries;
    listed.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    Ok(listed.into_iter().map(|(path, bytes)| Listed::of(path, bytes)).collect())
}

impl Opened<'_> {
    /// Reads or generates the matrix. A file is read from `cache` if possible; a stream is never cached.
    pub fn load(self, cache: Option<&CacheFolder>) -> Result<Loaded, LoadError> {
        match self {
            Self::File { file, path, options } => match cache.filter(|_| !file.is_stream()) {
                Some(cache) => Ok(load(cache, path, &options, file.bounds())?),
                None => Ok(Loaded::of(file.read()?, options.expand)),
            },
            Self::Generated(generator) => Ok(Loaded::new(generator.generate()?)),
        }
    }
}

impl Loaded {
    /// Writes the matrix to the cache if it was just parsed and a cache is used. A failure only results in a
    /// note. The entry is on the disk when this returns, so that nothing is written while products are timed.
    /// The file is read again within `bounds` to compute its hash.
    pub fn write_to_cache(&mut self, bounds: ReadBounds) {
        let Some(pending) = self.pending.take() else { return };
        if let Err(error) = pending.write(self, bounds) {
            let place = pending.place.display();
            self.note = Some(format!("the matrix was not cached in {place}: {error}"));
        }
    }
}

impl Pending {
    fn write(&self, loaded: &Loaded, bounds: ReadBounds) -> io::Result<()> {
        let Self { place, source, stamp, hash: before, .. } = self;
        let hash = hash_of(source, bounds)?;
        if Stamp::of(source)? != *stamp || before.is_some_and(|before| before != hash) {
            return Err(io::Error::other("the file changed while it was read"));
        }
        let head = Head::of(self, hash, loaded);
        let folder = place.parent().unwrap_or(place);
        create_private_folder(folder)?;
        let disk = statvfs(folder)?;
        let free = disk.blocks_available().saturating_mul(disk.fragment_size());
        let bytes = head.bytes()? as u64;
        if bytes.saturating_mul(SHARE) > free.saturating_sub(MARGIN) {
            let message = format!("{bytes} bytes are too many for a disk with {free} bytes free");
            return Err(io::Error::other(message));
        }
        let most = limit().map_err(io::Error::other)?;
        room::make(place, bytes, most)?;
        replace_private(place, |file| entry::write(&head, &loaded.csr, file))
    }
}

impl Listed {
    fn of(path: PathBuf, bytes: u64) -> Self {
        let Ok(CachedMatrix { head, .. }) = CachedMatrix::open(&path) else {
            return Self { path, bytes, source: None, stale: true };
        };
        let source = PathBuf::from(OsStr::from_bytes(&head.source));
        let fresh = Stamp::of(&source).is_ok_and(|stamp| stamp == head.stamp);
        Self { path, bytes, source: Some(Source::File(source).to_string()), stale: !fresh }
    }
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            // Opening a pipe would block, and its contents cannot be compared.
            return Err(io::Error::other("not a regular file"));
        }
        let bytes = metadata.len();
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Ok(Self {
            place: [metadata.dev(), metadata.ino()],
            bytes,
            times: [modified, changed],
            ends: hash_of_ends(&File::open(path)?, bytes)?,
        })
    }

    /// Returns whether a change after the time `at` would have changed the times of the file.
    fn is_settled(self, at: Duration) -> bool {
        let (last, _) = self.times[0].max(self.times[1]);
        at.as_secs() as i64 > last.saturating_add(TIME_STEP)
    }
}

fn hash_of_ends(file: &File, bytes: u64) -> io::Result<u64> {
    let mut hash = Xxh3::new();
    let mut block = vec![0; bytes.min(BLOCK) as usize];
    for begin in [0, bytes - block.len() as u64] {
        file.read_exact_at(&mut block, begin)?;
        hash.update(&block);
    }
    Ok(hash.digest())
}

impl Head {
    /// Returns whether the entry is that of a file, in this form and version. Its name alone does not say so: it may
    /// have been exchanged for another entry.
    fn is_of(&self, source: &Path, how: &str, stamp: Stamp, bounds: ReadBounds) -> bool {
        if self.source != source.as_os_str().as_bytes() || self.how != how {
            return false;
        }
        if self.stamp == stamp && stamp.is_settled(self.kept_at) {
            return true;
        }
        self.stamp.bytes == stamp.bytes && hash_of(source, bounds).is_ok_and(|hash| hash == self.hash)
    }
}

fn hash_of(path: &Path, bounds: ReadBounds) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut piece = vec![0; PIECE];
    loop {
        bounds.check()?;
        match file.read(&mut piece)? {
            0 => return Ok(hash.digest()),
            bytes => hash.update(&piece[..bytes]),
        }
    }
}
