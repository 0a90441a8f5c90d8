use std::path::{Path, PathBuf};

use super::Csr;
use super::memory::ReadBounds;
use super::reader::{self, ReadError, ReadMatrix};
use super::remarks;
use super::stats::pattern_symmetry;

#[derive(Debug)]
pub struct Loaded {
    pub csr: Csr<f64>,
    /// The facts about the file; `None` for a generated matrix.
    pub facts: Option<FileFacts>,
    /// The size in bytes of the file or, if the matrix was read from the cache, of the CSR arrays; `None` for a
    /// generated matrix.
    pub bytes: Option<u64>,
    pub from_cache: bool,
    /// A message for the user if the cache could not be used.
    pub note: Option<String>,
    /// The cache entry to write; `None` if the matrix is not to be cached.
    pub(super) pending: Option<Pending>,
}

/// What the matrix alone does not show of its file.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct FileFacts {
    /// The number of entries that were added to an earlier entry in the same position.
    pub duplicates: u64,
    /// Whether the pattern is symmetric because a symmetric or skew-symmetric file was expanded.
    pub mirrored: bool,
    /// The kind of problem, from the file's comment `% kind: …`.
    pub kind: Option<String>,
    /// Sentences about values that may not be what the user expects: see [`remarks`].
    pub remarks: Vec<String>,
    /// The symmetry of the pattern, once it has been computed; it is stored in the cache.
    pub(super) symmetry: Option<f64>,
}

/// A cache entry that is still to be written, for a matrix that was just parsed.
#[derive(Debug)]
pub(super) struct Pending {
    pub place: PathBuf,
    pub source: PathBuf,
    pub stamp: Stamp,
    /// The hash of the contents before they were parsed, if the modification time is not conclusive.
    pub hash: Option<u64>,
    /// How the file was read: see [`reader::Options::words`].
    pub how: String,
}

/// What identifies a version of a file without reading all of it. A program can set the modification time of a file,
/// but not the time of the change of its metadata.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub(super) struct Stamp {
    /// The device and the number of the file on it.
    pub place: [u64; 2],
    pub bytes: u64,
    /// The modification time and the time of the last change of the metadata: seconds since 1970, and nanoseconds.
    pub times: [(i64, i64); 2],
    /// A hash of the first and the last block.
    pub ends: u64,
}

impl Loaded {
    /// Returns the [`pattern_symmetry`]. It is computed only if neither the file's banner nor the cache
    /// determines it.
    pub fn pattern_symmetry(&mut self) -> Option<f64> {
        let Some(facts) = &mut self.facts else { return pattern_symmetry(&self.csr) };
        if facts.mirrored && self.csr.nnz() > 0 {
            return Some(1.0);
        }
        facts.symmetry = facts.symmetry.or_else(|| pattern_symmetry(&self.csr));
        facts.symmetry
    }

    pub(super) fn new(csr: Csr<f64>) -> Self {
        Self { csr, facts: None, bytes: None, from_cache: false, note: None, pending: None }
    }

    pub fn read(path: &Path, options: &reader::Options) -> Result<Self, ReadError> {
        Self::read_within(path, options, ReadBounds::NONE)
    }

    pub(super) fn read_within(path: &Path, options: &reader::Options, bounds: ReadBounds) -> Result<Self, ReadError> {
        Ok(Self::of(reader::Opened::open(path, options, bounds)?.read()?, options.expand))
    }

    pub(super) fn of(read: ReadMatrix, expand: bool) -> Self {
        let remarks = remarks::of_file(&read);
        let ReadMatrix { csr, duplicates, kind, symmetry, file_bytes, .. } = read;
        let mirrored = expand && symmetry != reader::Symmetry::General;
        let facts = FileFacts { duplicates, mirrored, kind, remarks, symmetry: None };
        let bytes = Some(file_bytes);
        Self { facts: Some(facts), bytes, ..Self::new(csr) }
    }
}
