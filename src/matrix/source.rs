//! Where a matrix comes from: a Matrix Market file or a generator.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::Csr;
use super::bounds::ReadBounds;
use super::cached::{MatrixCache, Pending};
use super::generate::{Generator, SpecError};
use super::market::{self, Market, MarketError};
use super::stats::pattern_symmetry;

/// A file or `gen:…`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(into = "Plain", try_from = "Plain")]
pub enum Source {
    /// A `.mtx`, `.mtx.gz` or `.tar.gz` file.
    File(PathBuf),
    /// A generator.
    Generated(Generator),
    /// A generator that stands in for the named matrix of the collection.
    StandIn(String, Generator),
}

/// The same in bytes and text.
#[derive(serde::Serialize, serde::Deserialize)]
enum Plain {
    File(Vec<u8>),
    Generated(String),
    StandIn(String, String),
}

impl From<Source> for Plain {
    fn from(source: Source) -> Self {
        match source {
            Source::File(path) => Self::File(path.into_os_string().into_vec()),
            Source::Generated(generator) => Self::Generated(generator.spec().to_owned()),
            Source::StandIn(id, generator) => Self::StandIn(id, generator.spec().to_owned()),
        }
    }
}

impl TryFrom<Plain> for Source {
    type Error = SpecError;

    fn try_from(plain: Plain) -> Result<Self, SpecError> {
        Ok(match plain {
            Plain::File(path) => Self::File(OsString::from_vec(path).into()),
            Plain::Generated(spec) => Self::Generated(Generator::parse(&spec)?),
            Plain::StandIn(id, spec) => Self::StandIn(id, Generator::parse(&spec)?),
        })
    }
}

/// What is known of a matrix before it is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeHint {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Entries, or more than there will be.
    pub nnz: u64,
    /// The most bytes that reading or making it holds besides the CSR arrays and a file itself.
    pub scratch: u64,
}

impl SizeHint {
    /// The most bytes of memory until the matrix is there, itself included.
    pub fn bytes(&self) -> u64 {
        let csr = (size_of::<u32>() + size_of::<f64>()) as u64 * self.nnz;
        csr + size_of::<u32>() as u64 * (self.rows as u64 + 1) + self.scratch
    }
}

/// A source whose file is open, if it has one.
pub enum Opened<'a> {
    /// A file or a stream.
    File {
        /// What it holds.
        file: market::Opened<'a>,
        /// Its name.
        path: &'a Path,
        /// See [`Source::open`].
        expand: bool,
    },
    /// Nothing is open.
    Generated(&'a Generator),
}

/// A matrix, and what reading it told.
#[derive(Debug)]
pub struct Loaded {
    /// The matrix.
    pub csr: Csr<f64>,
    /// What its file says beside; `None` for a generated matrix.
    pub market: Option<Facts>,
    /// Of the file or, from the cache, of the CSR arrays; `None` for a generated matrix.
    pub bytes: Option<u64>,
    /// Whether it had been kept from an earlier reading.
    pub from_cache: bool,
    /// What is worth telling about the keeping.
    pub note: Option<String>,
    /// Where it is to be kept.
    pub(super) pending: Option<Pending>,
}

/// What a file's reader says beside the matrix.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct Facts {
    /// Entries that were summed into others.
    pub duplicates: u64,
    /// Whether the pattern is symmetric by construction: a symmetric or skew-symmetric file, expanded.
    pub mirrored: bool,
    /// The collection's word for the problem.
    pub kind: Option<String>,
    /// What was found out about the matrix when it was kept.
    pub(super) symmetry: Option<f64>,
}

/// Why there is no matrix.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Market(#[from] MarketError),
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl LoadError {
    /// Whether a file may well be correct but is refused.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Market(error) if error.is_unsupported())
    }

    /// Whether somebody asked for the end while a file was read.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Market(error) if error.is_interrupted())
    }
}

impl Source {
    /// Reads `gen:…` as a generator, anything else as a file's path.
    ///
    /// # Errors
    /// A specification that is not understood.
    pub fn parse(text: &std::ffi::OsStr) -> Result<Self, SpecError> {
        match text.to_str().and_then(|text| text.strip_prefix("gen:")) {
            Some(spec) => Ok(Self::Generated(Generator::parse(spec)?)),
            None => Ok(Self::File(Path::new(text).to_owned())),
        }
    }

    /// Opens a file, or reads a stream to its end; `expand` says whether the mirrored half of a
    /// symmetric file is stored too.
    ///
    /// # Errors
    /// A file that cannot be opened, and what `bounds` stops.
    pub fn open<'a>(
        &'a self,
        expand: bool,
        bounds: ReadBounds<'a>,
    ) -> Result<Opened<'a>, LoadError> {
        Ok(match self {
            Self::File(path) => {
                let options = market::Options { expand, ..market::Options::default() };
                let file = market::Opened::open(path, &options, bounds)?;
                Opened::File { file, path, expand }
            }
            Self::Generated(generator) | Self::StandIn(_, generator) => {
                Opened::Generated(generator)
            }
        })
    }

    /// The collection's word for the problem as the file tells it, or what was made.
    pub fn kind(&self, loaded: &Loaded) -> Option<String> {
        self.made_kind().or_else(|| loaded.market.as_ref()?.kind.clone())
    }

    /// What was made; `None` for a file.
    pub fn made_kind(&self) -> Option<String> {
        match self {
            Self::File(_) => None,
            Self::Generated(generator) => Some(format!("generated: {generator}")),
            Self::StandIn(id, generator) => Some(format!("stand-in for {id}: {generator}")),
        }
    }
}

impl Opened<'_> {
    /// The size of the matrix, as far as it is known beforehand; `None` if there will be none.
    pub fn size_hint(&self) -> Option<SizeHint> {
        match self {
            Self::File { file, .. } => file.size_hint().ok(),
            Self::Generated(generator) => generator.size_hint().ok(),
        }
    }

    /// Bytes of memory that [`announced`](Self::announced) takes to find out.
    pub fn bytes_to_announce(&self) -> u64 {
        match self {
            Self::File { .. } => 0,
            Self::Generated(generator) => generator.bytes_for_rows(),
        }
    }

    /// Bytes of memory that a stream takes already.
    pub fn held(&self) -> u64 {
        match self {
            Self::File { file, .. } => file.held(),
            Self::Generated(_) => 0,
        }
    }

    /// Reads or makes the matrix; `kept` is where parsed files are kept, if at all. A stream never is.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn load(self, kept: Option<&MatrixCache>) -> Result<Loaded, LoadError> {
        match self {
            Self::File { file, path, expand } => match kept.filter(|_| !file.is_stream()) {
                Some(kept) => Ok(kept.load_within(path, expand, file.bounds())?),
                None => Ok(Loaded::of(file.read()?, expand)),
            },
            Self::Generated(generator) => Ok(Loaded::new(generator.generate()?)),
        }
    }
}

impl Loaded {
    /// See [`pattern_symmetry`]: as the file's symmetry tells it, as it was kept, or counted.
    pub fn pattern_symmetry(&mut self) -> Option<f64> {
        let Some(market) = &mut self.market else { return pattern_symmetry(&self.csr) };
        if market.mirrored && self.csr.nnz() > 0 {
            return Some(1.0);
        }
        market.symmetry = market.symmetry.or_else(|| pattern_symmetry(&self.csr));
        market.symmetry
    }

    pub(super) fn new(csr: Csr<f64>) -> Self {
        Self { csr, market: None, bytes: None, from_cache: false, note: None, pending: None }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(path: &Path, expand: bool) -> Result<Self, MarketError> {
        Self::read_within(path, expand, ReadBounds::NONE)
    }

    /// Reads a file within bounds.
    ///
    /// # Errors
    /// What is wrong with it, and where, and what the bounds stop.
    pub fn read_within(path: &Path, expand: bool, bounds: ReadBounds) -> Result<Self, MarketError> {
        let options = market::Options { expand, ..market::Options::default() };
        Ok(Self::of(market::Opened::open(path, &options, bounds)?.read()?, expand))
    }

    fn of(market: Market, expand: bool) -> Self {
        let Market { csr, duplicates, kind, symmetry, file_bytes, .. } = market;
        let mirrored = expand && symmetry != market::Symmetry::General;
        let facts = Facts { duplicates, mirrored, kind, symmetry: None };
        let bytes = Some(file_bytes);
        Self { market: Some(facts), bytes, ..Self::new(csr) }
    }
}

/// As given on the command line; bytes of a path that are no text as `\xff`, and a backslash as two, so
/// that two files never have the same name.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.as_os_str().as_bytes().utf8_chunks().try_for_each(|chunk| {
                f.write_str(&chunk.valid().replace('\\', r"\\"))?;
                chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
            }),
            Self::Generated(generator) => generator.fmt(f),
            Self::StandIn(id, _) => write!(f, "stand-in:{id}"),
        }
    }
}
