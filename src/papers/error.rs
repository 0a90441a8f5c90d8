//! The errors of definitions of experiments.

use std::io;
use std::path::PathBuf;

use crate::report::published::PublishedError;

/// Why an experiment cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages describe the variants; the fields are the file and its error
pub enum DefinitionError {
    #[error(
        "there is no experiment '{id}'{hint}; to run your own experiment, give the path of its .toml file"
    )]
    Unknown { id: String, hint: String },
    #[error("cannot read {path}: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{file}: {what}")]
    Grammar { file: String, what: String },
    #[error("{file}: {error}")]
    Content { file: String, error: ContentError },
    #[error("{file}: {error}")]
    Published { file: String, error: PublishedError },
}

/// Why a block or a claim of a definition is not valid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ContentError(pub String);
