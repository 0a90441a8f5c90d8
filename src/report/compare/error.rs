//! Reasons for not comparing two files.

use super::Compared;
use super::pair::{Key, Pair};
use crate::report::lines::RecordedRow;

/// Why two files are not compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the messages explain the fields
pub enum CompareError {
    /// One file contains rows that were measured in two ways.
    #[error(
        "{file} contains rows of {column} {one} and of {column} {other}, which cannot be compared together; \
         choose one with --methods '* where {column} = {one}'"
    )]
    Mixed { file: String, column: &'static str, one: &'static str, other: &'static str },
    /// The two files were measured in different ways.
    #[error(
        "{a} contains rows of {column} {in_a}, {b} of {column} {in_b}; run one of them again with \
         --{column} {in_a} or --{column} {in_b}, so that both are the same"
    )]
    Unlike { a: String, b: String, column: &'static str, in_a: &'static str, in_b: &'static str },
    /// A file contains two rows for the same matrix, method and setting.
    #[error("{file} contains two rows of {row}; put only the rows of one run into a file")]
    Twice { file: String, row: String },
    /// A row is ok, but its time is missing or invalid.
    #[error("{file}: {row} is ok, but its {column} is '{value}'; it must be a positive number")]
    NoTime { file: String, row: String, column: &'static str, value: String },
    /// The two files use the same name for different matrices.
    #[error("{matrix} has {found}: {why}")]
    OtherMatrix { matrix: String, found: String, why: &'static str },
    /// No rows can be paired.
    #[error("no row of {a} matches a row of {b}: {why}")]
    NothingPairs { a: String, b: String, why: String },
}

/// Returns an error if a row is ok but has no valid time.
pub(super) fn check_time(
    side: &Compared,
    line: &RecordedRow,
    key: &Key,
) -> Result<(), CompareError> {
    if !line.is_ok() || line.row.typical_ms().is_some_and(|ms| ms > 0.0 && ms.is_finite()) {
        return Ok(());
    }
    let column = if line.row.median_ms.is_some() { "median_ms" } else { "avg_spmv_ms" };
    let value = line.row.typical_ms().map(|ms| format!("{ms:?}")).unwrap_or_default();
    Err(CompareError::NoTime { file: side.name.to_owned(), row: key.describe(), column, value })
}

/// Returns an error if the rows of a pair are of different matrices, as far as their facts show.
pub(super) fn same_matrix(pair: &Pair, a: &Compared, b: &Compared) -> Result<(), CompareError> {
    let difference = pair.a.zip(pair.b).and_then(|(a, b)| difference(a, b));
    difference.map_or(Ok(()), |(in_a, in_b, why)| {
        let found = format!("{in_a} in {} and {in_b} in {}", a.name, b.name);
        Err(CompareError::OtherMatrix { matrix: pair.key.file.to_owned(), found, why })
    })
}

/// Returns the first fact in which the matrices differ, for each row, and an explanation.
fn difference(a: &RecordedRow, b: &RecordedRow) -> Option<(String, String, &'static str)> {
    let differ = |of: fn(&RecordedRow) -> Option<usize>| of(a).zip(of(b)).filter(|(a, b)| a != b);
    if let Some((a, b)) = differ(|line| line.row.num_rows) {
        return Some((format!("{a} rows"), b.to_string(), "they are different files"));
    }
    if let Some((a, b)) = differ(|line| line.row.num_cols) {
        return Some((format!("{a} columns"), b.to_string(), "they are different files"));
    }
    if let Some((a, b)) = differ(|line| line.row.num_nonzeros) {
        let why = "one of them was read with --no-expand, or they are different files";
        return Some((format!("{a} nonzeros"), b.to_string(), why));
    }
    let kind = |line: &RecordedRow| line.row.kind.clone().unwrap_or_default();
    let why = "a stand-in is not the matrix that it stands in for";
    let stand_in = a.is_stand_in() != b.is_stand_in();
    stand_in.then(|| (format!("the kind '{}'", kind(a)), format!("'{}'", kind(b)), why))
}
