//! The errors of datasets.

use std::io;
use std::path::PathBuf;

/// The error that an archive has another SHA-256 than the datasets file gives for its matrix.
#[derive(Debug, thiserror::Error)]
#[error(
    "its SHA-256 is {found}, but the datasets file gives {known} for {id}; --any-archive accepts the archive anyway"
)]
pub struct ArchiveError {
    pub(super) id: String,
    pub(super) known: String,
    pub(super) found: String,
}

/// An error in a dataset file or an index, as in `my.toml:17: …`.
#[derive(Debug, thiserror::Error)]
pub enum DatasetsError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is not valid TOML or has unknown or missing keys.
    #[error("{file}: {error}")]
    Grammar {
        /// The name of the file.
        file: String,
        /// The error of the TOML parser, with the line.
        error: Box<toml::de::Error>,
    },
    /// The contents of a line are invalid.
    #[error("{file}:{line}: {message}")]
    Content {
        /// The name of the file.
        file: String,
        /// The number of the line, counted from 1.
        line: usize,
        /// The description of the error.
        message: String,
    },
}
