//! Reasons for not comparing two files.

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
