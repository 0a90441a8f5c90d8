//! The facts of a matrix of the collection.

use serde::Deserialize;

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
        if self.numerical_symmetry == Some(1.0) {
            self.entries.min(self.entries.saturating_add(self.rows) / 2)
        } else {
            self.entries
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
