//! The known matrices: facts about matrices of the collection, named sets of them, and in [`fetch`] their downloads.

mod definition;
pub mod fetch;
pub mod fields;
pub mod index;
pub mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

pub use definition::Member;

use spmv_results::filter::Filter;

/// The estimated number of bytes of an archive per stored entry without a value (2.4 to 4.6 in 17 files).
const ARCHIVE_BYTES_PER_POSITION: f64 = 2.9;
/// The estimated number of bytes of an archive per stored entry with a value (4 to 12 in 12 files).
const ARCHIVE_BYTES_PER_VALUE: f64 = 7.0;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Matrix {
    /// `GROUP/NAME`.
    pub id: String,
    pub rows: u64,
    pub cols: u64,
    /// The numerical nonzeros of the expanded matrix.
    pub nnz: u64,
    /// The entries of the expanded matrix, including explicit zeros. In a file, `nnz` is the default.
    #[serde(default)]
    pub entries: u64,
    /// The kind of problem according to the collection.
    pub kind: String,
    /// Whether no value is complex.
    #[serde(default = "yes")]
    pub real: bool,
    /// Whether all values are 1.
    #[serde(default)]
    pub binary: bool,
    /// The fraction of the off-diagonal entries a_ij for which a_ji is also an entry.
    pub pattern_symmetry: Option<f64>,
    /// The fraction of the off-diagonal entries a_ij for which a_ji has the same value.
    pub numerical_symmetry: Option<f64>,
    /// The number of entries of the longest row, if published or counted.
    pub longest: Option<u64>,
    /// The standard deviation of the row lengths divided by their mean, if published or counted.
    pub variation: Option<f64>,
    /// The specification (`gen:…`) of a generated matrix with the same numbers of rows, columns and entries and,
    /// as far as known, the same row lengths.
    pub surrogate: Option<String>,
    /// The SHA-256 of the archive `GROUP/NAME.tar.gz` in lower-case hexadecimal digits, if known.
    pub sha256: Option<String>,
}

fn yes() -> bool {
    true
}

impl Matrix {
    #[cfg(test)]
    pub(crate) fn of_size(id: &str, rows: u64, cols: u64, entries: u64) -> Self {
        Self { id: id.into(), rows, cols, nnz: entries, entries, real: true, ..Self::default() }
    }

    pub fn group(&self) -> &str {
        self.id.split_once('/').map_or("", |(group, _)| group)
    }

    pub fn name(&self) -> &str {
        self.id.split_once('/').map_or(&self.id, |(_, name)| name)
    }

    /// Returns an upper bound of the entries in the file: a triangle with the diagonal if the matrix is symmetric.
    pub fn stored_at_most(&self) -> u64 {
        match self.numerical_symmetry == Some(1.0) {
            true => self.entries.min(self.entries.saturating_add(self.rows) / 2),
            false => self.entries,
        }
    }

    pub fn archive_bytes_estimate(&self) -> u64 {
        let each = if self.binary { ARCHIVE_BYTES_PER_POSITION } else { ARCHIVE_BYTES_PER_VALUE };
        (self.stored_at_most() as f64 * each).round() as u64
    }
}

/// Returns whether the text is `GROUP/NAME` of letters, digits, `_` and `-`, so that it is safe in names and URLs.
pub fn is_id(text: &str) -> bool {
    let fits = |part: &str| {
        let allowed = |c: u8| c.is_ascii_alphanumeric() || b"_-".contains(&c);
        !part.is_empty() && part.bytes().all(allowed)
    };
    text.split_once('/').is_some_and(|(group, name)| fits(group) && fits(name))
}

#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Where it comes from, as in `csr-k, Table 1`.
    pub source: String,
    pub note: Option<String>,
    pub matrices: Matrices,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Matrices {
    /// In this order.
    Members(Vec<Member>),
    /// All matrices that pass the filter.
    Filter(Filter<Matrix>),
}

/// An error in a dataset file or an index, as in `my.toml:17: …`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DatasetsError(String);

/// The matrices (by id) and sets (by name) of the built-in datasets and of the user's file.
#[derive(Clone, Debug, Default)]
pub struct Datasets {
    pub matrices: BTreeMap<String, Matrix>,
    pub sets: BTreeMap<String, Set>,
}

impl Datasets {
    pub fn ours() -> Self {
        let ours = Self::default().and(include_str!("../../datasets.toml"), "datasets.toml");
        ours.expect("a test reads the built-in datasets")
    }

    /// Returns the built-in datasets, in which definitions of the user's file replace those of the same name.
    pub fn with(file: Option<&Path>) -> Result<Self, DatasetsError> {
        let Some(path) = file else { return Ok(Self::ours()) };
        let shown = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::ours().and(&text, &shown),
            Err(error) => Err(DatasetsError(format!("cannot read {shown}: {error}"))),
        }
    }

    /// Extends these datasets by those of `text`, the contents of the file named `file`. Names in `text` replace
    /// existing ones. It is an error if `text` defines an id twice, or a set has an unknown member.
    pub fn and(mut self, text: &str, file: &str) -> Result<Self, DatasetsError> {
        definition::add(&mut self, text, file)?;
        Ok(self)
    }

    /// Returns the matrices of a set: in the order of its members, or sorted by id if it has a filter.
    pub fn matrices_of<'d>(&'d self, set: &'d Set) -> Vec<&'d Matrix> {
        match &set.matrices {
            Matrices::Members(members) => {
                members.iter().filter_map(|member| self.matrices.get(&member.id)).collect()
            }
            Matrices::Filter(filter) => {
                self.matrices.values().filter(|m| filter.passes(m)).collect()
            }
        }
    }
}
