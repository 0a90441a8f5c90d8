//! Which matrices there are: the facts of those in the collection, the sets of them that are known by
//! name, and filters over them. Reads no network and no matrix.

mod definition;
pub mod filter;
pub mod index;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use definition::Member;
use filter::Filter;

/// Bytes of the archive per stored entry where all values are 1 and only positions are stored: 2.4 to
/// 4.6 in 17 compressed files.
pub const ARCHIVE_BYTES_PER_POSITION: f64 = 2.9;
/// Bytes of the archive per stored entry with a value: 4 to 12 in 12 compressed files.
pub const ARCHIVE_BYTES_PER_VALUE: f64 = 7.0;

/// Our own datasets, and the name they bear in messages.
const OURS: &str = include_str!("../../datasets.toml");
const OURS_NAME: &str = "datasets.toml";

/// The facts of a matrix of the collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// `GROUP/NAME`.
    pub id: String,
    pub rows: u64,
    pub cols: u64,
    /// Numerical nonzeros of the expanded matrix.
    pub nnz: u64,
    /// Entries of the expanded matrix, explicit zeros included.
    pub entries: u64,
    /// The collection's word for the problem.
    pub kind: String,
    /// Whether no value is complex.
    pub real: bool,
    /// Whether all values are 1.
    pub binary: bool,
    /// Share of the entries off the diagonal whose mirror is an entry too.
    pub pattern_symmetry: Option<f64>,
    /// Share of the entries off the diagonal whose mirror has the same value.
    pub numerical_symmetry: Option<f64>,
    /// Entries of the longest row, where published or counted.
    pub longest: Option<u64>,
    /// Standard deviation of the row lengths over their mean, where published or counted.
    pub variation: Option<f64>,
    /// A generated matrix of the same rows, columns, entries and, as far as they are known, row
    /// lengths: `gen:…`.
    pub stand_in: Option<String>,
    /// SHA-256 of the archive `GROUP/NAME.tar.gz`, in lower-case digits, where it is known.
    pub sha256: Option<String>,
}

impl Matrix {
    /// One that tests look at.
    #[cfg(test)]
    pub(crate) fn of_size(id: &str, rows: u64, cols: u64, entries: u64) -> Self {
        Self {
            id: id.to_owned(),
            rows,
            cols,
            nnz: entries,
            entries,
            kind: String::new(),
            real: true,
            binary: false,
            pattern_symmetry: None,
            numerical_symmetry: None,
            longest: None,
            variation: None,
            stand_in: None,
            sha256: None,
        }
    }

    /// Whether an archive of that SHA-256 is the matrix's, as far as that is known.
    ///
    /// # Errors
    /// With both hashes.
    pub fn check_archive(&self, sha256: &str) -> Result<(), String> {
        match self.sha256.as_deref().filter(|known| *known != sha256) {
            None => Ok(()),
            Some(known) => Err(format!(
                "its SHA-256 is {sha256}, but the datasets' file says that of {} is {known}; --any-archive \
                 takes it all the same",
                self.id
            )),
        }
    }

    /// The part of the id before the slash.
    pub fn group(&self) -> &str {
        self.id.split_once('/').map_or("", |(group, _)| group)
    }

    /// The part of the id after the slash.
    pub fn name(&self) -> &str {
        self.id.split_once('/').map_or(&self.id, |(_, name)| name)
    }

    /// The most entries that the file has: one triangle with its diagonal of a symmetric matrix, else
    /// all.
    pub fn stored_at_most(&self) -> u64 {
        match self.numerical_symmetry == Some(1.0) {
            true => self.entries.min(self.entries.saturating_add(self.rows) / 2),
            false => self.entries,
        }
    }

    /// About how many bytes its archive has.
    pub fn archive_bytes_estimate(&self) -> u64 {
        let per_entry = match self.binary {
            true => ARCHIVE_BYTES_PER_POSITION,
            false => ARCHIVE_BYTES_PER_VALUE,
        };
        (self.stored_at_most() as f64 * per_entry).round() as u64
    }
}

/// Whether the text is `GROUP/NAME` of letters, digits, `_` and `-`: fit for files' names and addresses.
pub fn is_id(text: &str) -> bool {
    let fits = |part: &str| {
        let allowed = |c: u8| c.is_ascii_alphanumeric() || b"_-".contains(&c);
        !part.is_empty() && part.bytes().all(allowed)
    };
    text.split_once('/').is_some_and(|(group, name)| fits(group) && fits(name))
}

/// What is wrong with a file of datasets or an index: `my.toml:17: …`.
#[derive(Debug, thiserror::Error)]
pub enum DatasetsError {
    #[error("cannot read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{file}: {error}")]
    Grammar { file: String, error: Box<toml::de::Error> },
    #[error("{file}:{line}: {message}")]
    Content { file: String, line: usize, message: String },
}

/// A set of matrices that is known by a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Where it comes from, as in `csr-k, Table 1`.
    pub source: String,
    pub note: Option<String>,
    pub matrices: Matrices,
}

/// How a set says what is in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrices {
    /// These, in this order.
    Members(Vec<Member>),
    /// All that pass.
    Filter(Filter),
}

/// Matrices and sets, from one file or two.
#[derive(Clone, Debug, Default)]
pub struct Datasets {
    matrices: BTreeMap<String, Matrix>,
    sets: BTreeMap<String, Set>,
}

impl Datasets {
    /// Our own.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn ours() -> Self {
        Self::default().and(OURS, OURS_NAME).expect("our own datasets are right")
    }

    /// Our own and those of the user's file; where both have a name, the user's holds.
    ///
    /// # Errors
    /// When the file cannot be read or breaks the grammar.
    pub fn with(file: Option<&Path>) -> Result<Self, DatasetsError> {
        let Some(path) = file else { return Ok(Self::ours()) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| DatasetsError::Unreadable { path: path.to_owned(), error })?;
        Self::ours().and(&text, &path.display().to_string())
    }

    /// These and those of another text, `file` by name, whose names hold.
    ///
    /// # Errors
    /// When it breaks the grammar, an id is there twice, or a member is in neither.
    pub fn and(mut self, text: &str, file: &str) -> Result<Self, DatasetsError> {
        definition::add(&mut self, text, file)?;
        Ok(self)
    }

    /// The facts of `GROUP/NAME`.
    pub fn matrix(&self, id: &str) -> Option<&Matrix> {
        self.matrices.get(id)
    }

    /// All matrices, by id.
    pub fn matrices(&self) -> impl Iterator<Item = &Matrix> {
        self.matrices.values()
    }

    /// All sets with their names, by name.
    pub fn sets(&self) -> impl Iterator<Item = (&str, &Set)> {
        self.sets.iter().map(|(name, set)| (name.as_str(), set))
    }

    /// The set of that name.
    pub fn set(&self, name: &str) -> Option<&Set> {
        self.sets.get(name)
    }

    /// The matrices of a set: in its order, or by id where it is a filter.
    pub fn matrices_of<'d>(&'d self, set: &'d Set) -> Vec<&'d Matrix> {
        match &set.matrices {
            Matrices::Members(members) => {
                members.iter().filter_map(|member| self.matrix(&member.id)).collect()
            }
            Matrices::Filter(filter) => self.matrices().filter(|m| filter.passes(m)).collect(),
        }
    }
}
