//! Parsed matrices kept on disk as binary CSR, so that a file is parsed once.
//!
//! An entry belongs to a path and to whether symmetric files are expanded. It is used if the file has
//! the size and the time that it had; where the time proves nothing, if its contents have the same
//! hash. The arrays are read into the pages that a parsed matrix lies in: products must not meet other
//! memory at the second run than at the first.

mod entry;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::statvfs::statvfs;
use xxhash_rust::xxh3::Xxh3;

use super::bounds::ReadBounds;
use super::market::MarketError;
use super::source::{Loaded, Source};
use crate::cache::{CacheFolder, Contents, Key, create_private_folder, replace_private};
use entry::{CachedMatrix, Problem};

/// A file may change once more within the time that its file system tells apart.
const TIME_STEP: Duration = Duration::from_secs(2);
/// Free space that is left to others, and the part of the rest that an entry may take.
const MARGIN: u64 = 1 << 30;
const SHARE: u64 = 10;
/// Bytes hashed at once.
const PIECE: usize = 1 << 20;

/// The folder of kept matrices.
#[derive(Clone, Debug)]
pub struct MatrixCache(CacheFolder);

/// A matrix that was read and is to be kept.
#[derive(Debug)]
pub(super) struct Pending {
    place: PathBuf,
    source: PathBuf,
    stamp: Stamp,
    /// Of the contents before they were read, where the time proves nothing.
    hash: Option<u64>,
}

/// What shows whether a file is the one that was parsed.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
struct Stamp {
    bytes: u64,
    /// Since 1970.
    modified: Duration,
}

/// A kept matrix, for a list.
#[derive(Debug)]
pub struct Listed {
    /// The entry's file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The file that was parsed; `None` if the entry is damaged or of another version.
    pub source: Option<String>,
    /// Whether that file has changed or gone.
    pub stale: bool,
}

impl MatrixCache {
    /// Those in the folder of `cache`.
    pub fn of(cache: CacheFolder) -> Self {
        Self(cache)
    }

    /// The matrix of a file, from its entry or read and then kept. Whatever goes wrong with the entry
    /// is only noted.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn load(&self, path: &Path, expand: bool) -> Result<Loaded, MarketError> {
        self.load_within(path, expand, ReadBounds::NONE)
    }

    /// The same within what bounds the reading of the file.
    ///
    /// # Errors
    /// What is wrong with the file, and where, and what the bounds stop.
    pub fn load_within(
        &self,
        path: &Path,
        expand: bool,
        bounds: ReadBounds,
    ) -> Result<Loaded, MarketError> {
        let known = path.canonicalize().and_then(|path| Ok((Stamp::of(&path)?, path)));
        let Ok((stamp, source)) = known else { return Loaded::read_within(path, expand, bounds) };
        let expanded: &[u8] = if expand { b"expanded" } else { b"as stored" };
        let key = Key::of([source.as_os_str().as_encoded_bytes(), expanded]);
        let Some(place) = self.0.path(&key) else {
            return Loaded::read_within(path, expand, bounds);
        };
        let damage = match CachedMatrix::open(&place) {
            Ok(entry) if entry.head.is_of(stamp, &source, bounds) => match entry.load() {
                Ok(loaded) => return Ok(loaded),
                Err(problem) => Some(problem),
            },
            Ok(_) | Err(Problem::Absent) => None,
            Err(problem) => Some(problem),
        };
        let hash = if stamp.is_settled(now()) { None } else { hash_of(&source, bounds).ok() };
        let loaded = Loaded::read_within(path, expand, bounds)?;
        let note = damage.map(|problem| {
            let place = place.display();
            format!("the file was read again, because its cached copy {place} {problem}")
        });
        Ok(Loaded { note, pending: Some(Pending { place, source, stamp, hash }), ..loaded })
    }

    /// All entries, the largest first.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let mut listed = self.0.contents()?.entries;
        listed.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        Ok(listed.into_iter().map(|(path, bytes)| Listed::of(path, bytes)).collect())
    }

    /// All files of the folder, whose entries [`MatrixCache::list`] describes.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn contents(&self) -> io::Result<Contents> {
        self.0.contents()
    }
}

impl fmt::Display for MatrixCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Loaded {
    /// Keeps the matrix for the next time, if it was just read where matrices are kept. That it cannot
    /// be is noted. When this returns, the entry is on the disk: nothing is written while products are
    /// timed. The file is read again for its hash, within `bounds`.
    pub fn keep(&mut self, bounds: ReadBounds) {
        let Some(pending) = self.pending.take() else { return };
        if let Err(error) = pending.write(self, bounds) {
            self.note = Some(format!("not kept in {}: {error}", pending.place.display()));
        }
    }
}

impl Pending {
    fn write(&self, loaded: &Loaded, bounds: ReadBounds) -> io::Result<()> {
        let Self { place, source, stamp, hash: before } = self;
        let hash = hash_of(source, bounds)?;
        if Stamp::of(source)? != *stamp || before.is_some_and(|before| before != hash) {
            return Err(io::Error::other("the file changed while it was read"));
        }
        let head = entry::head(source, *stamp, hash, loaded);
        let folder = place.parent().unwrap_or(place);
        create_private_folder(folder)?;
        let disk = statvfs(folder)?;
        let free = disk.blocks_available().saturating_mul(disk.fragment_size());
        let bytes = head.bytes() as u64;
        if bytes.saturating_mul(SHARE) > free.saturating_sub(MARGIN) {
            let message = format!("{bytes} bytes are much for a disk with {free} free");
            return Err(io::Error::other(message));
        }
        replace_private(place, |file| entry::write(&head, &loaded.csr, file))
    }
}

impl Listed {
    fn of(path: PathBuf, bytes: u64) -> Self {
        let head = CachedMatrix::open(&path).ok().map(|entry| entry.head);
        let source = |head: &entry::Head| PathBuf::from(OsStr::from_bytes(&head.source));
        let fresh = head
            .as_ref()
            .is_some_and(|head| Stamp::of(&source(head)).is_ok_and(|stamp| stamp == head.stamp));
        let source = head.map(|head| Source::File(source(&head)).to_string());
        Self { path, bytes, source, stale: !fresh }
    }
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            // A pipe would be waited for, and has no contents that could be compared.
            return Err(io::Error::other("no regular file"));
        }
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self { bytes: metadata.len(), modified })
    }

    /// Whether a later change would have shown in the time.
    fn is_settled(self, at: Duration) -> bool {
        at > self.modified + TIME_STEP
    }
}

impl entry::Head {
    /// Whether the file is the one that was parsed.
    fn is_of(&self, stamp: Stamp, source: &Path, bounds: ReadBounds) -> bool {
        if self.stamp == stamp && stamp.is_settled(self.kept_at) {
            return true;
        }
        self.stamp.bytes == stamp.bytes
            && hash_of(source, bounds).is_ok_and(|hash| hash == self.hash)
    }
}

fn hash_of(path: &Path, bounds: ReadBounds) -> io::Result<u64> {
    let (mut file, mut hash, mut piece) = (File::open(path)?, Xxh3::new(), vec![0; PIECE]);
    loop {
        bounds.check()?;
        match file.read(&mut piece)? {
            0 => return Ok(hash.digest()),
            bytes => hash.update(&piece[..bytes]),
        }
    }
}

/// Since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
