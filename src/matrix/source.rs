//! Where a matrix comes from: a Matrix Market file or a generator.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Csr;
use super::generate::{Generator, SpecError};
use super::market::{self, Market, MarketError};

/// A file or `gen:…`.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A `.mtx` or `.mtx.gz` file.
    File(PathBuf),
    /// A generator and the specification it was read from.
    Generated(Generator, String),
}

/// A matrix, and what reading it told.
pub struct Loaded {
    /// The matrix.
    pub csr: Csr<f64>,
    /// What the file's reader says; `None` for a generated matrix.
    pub market: Option<Facts>,
}

/// What a file's reader says beside the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Entries that were summed into others.
    pub duplicates: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// Whether the pattern is symmetric by construction: a symmetric or skew-symmetric file, expanded.
    pub mirrored: bool,
}

impl Source {
    /// Reads `gen:…` as a generator, anything else as a file's path.
    ///
    /// # Errors
    /// A specification that is not understood.
    pub fn parse(text: &std::ffi::OsStr) -> Result<Self, SpecError> {
        match text.to_str().and_then(|text| text.strip_prefix("gen:")) {
            Some(spec) => Ok(Self::Generated(Generator::parse(spec)?, spec.to_owned())),
            None => Ok(Self::File(Path::new(text).to_owned())),
        }
    }

    /// Reads or makes the matrix; `expand` says whether the mirrored half of a symmetric file is
    /// stored too.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn load(&self, expand: bool) -> Result<Loaded, MarketError> {
        match self {
            Self::File(path) => market::read(path, &market::Options { expand })
                .map(|market| Loaded::of(market, expand)),
            Self::Generated(generator, _) => Ok(Loaded { csr: generator.generate(), market: None }),
        }
    }
}

impl Loaded {
    fn of(market: Market, expand: bool) -> Self {
        let facts = Facts {
            duplicates: market.duplicates,
            file_bytes: market.file_bytes,
            mirrored: expand && market.symmetry != market::Symmetry::General,
        };
        Self { csr: market.csr, market: Some(facts) }
    }
}

/// As given on the command line.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Generated(_, spec) => write!(f, "gen:{spec}"),
        }
    }
}
