//! The source of a matrix: a Matrix Market file or a generator.

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

/// The source of a matrix: a file or a generator (`gen:…`).
///
/// ```
/// use spmv_bench::matrix::bounds::ReadBounds;
/// use spmv_bench::matrix::source::Source;
///
/// let source = Source::parse("gen:grid2d,n=100,points=5".as_ref())?;
/// let matrix = source.open(true, ReadBounds::NONE)?.load(None)?;
/// assert_eq!(matrix.csr.rows(), 100 * 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(into = "Plain", try_from = "Plain")]
pub enum Source {
    /// A `.mtx`, `.mtx.gz` or `.tar.gz` file.
    File(PathBuf),
    /// A generator, given as `gen:…`.
    Generated(Generator),
    /// The id of a matrix of the collection and the generator that replaces it.
    StandIn(String, Generator),
}

/// The serialized form of a [`Source`]: a path as bytes, a generator as its specification.
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

/// The size of a matrix, as far as it is known before the matrix is read or generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeHint {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
    /// An upper bound on the number of entries.
    pub nnz: u64,
    /// An upper bound on the temporary memory for reading or generating the matrix, in bytes, without the CSR
    /// arrays and the file.
    pub scratch: u64,
}

impl SizeHint {
    /// Returns an upper bound on the memory for reading or generating the matrix, in bytes, including the CSR
    /// arrays.
    pub fn bytes(&self) -> u64 {
        let csr = (size_of::<u32>() + size_of::<f64>()) as u64 * self.nnz;
        csr + size_of::<u32>() as u64 * (self.rows as u64 + 1) + self.scratch
    }
}

/// A source that is ready to be read. Its file, if it has one, is open.
pub enum Opened<'a> {
    /// A file or a stream.
    File {
        /// The open Matrix Market file.
        file: market::Opened<'a>,
        /// The path of the file.
        path: &'a Path,
        /// Whether the mirrored half of a symmetric file is stored too.
        expand: bool,
    },
    /// A generator, which has no file.
    Generated(&'a Generator),
}

/// A matrix together with facts about its file.
#[derive(Debug)]
pub struct Loaded {
    /// The matrix.
    pub csr: Csr<f64>,
    /// The facts about the file; `None` for a generated matrix.
    pub market: Option<Facts>,
    /// The size in bytes of the file or, if the matrix was read from the cache, of the CSR arrays; `None` for a
    /// generated matrix.
    pub bytes: Option<u64>,
    /// Whether the matrix was read from the cache.
    pub from_cache: bool,
    /// A message for the user if the cache could not be used.
    pub note: Option<String>,
    /// The cache entry to write; `None` if the matrix is not to be cached.
    pub(super) pending: Option<Pending>,
}

/// Facts about a file that the matrix alone does not show.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct Facts {
    /// The number of entries that were added to an earlier entry in the same position.
    pub duplicates: u64,
    /// Whether the pattern is symmetric because a symmetric or skew-symmetric file was expanded.
    pub mirrored: bool,
    /// The kind of problem, from the file's comment `% kind: …`.
    pub kind: Option<String>,
    /// The symmetry of the pattern, once it has been computed; it is stored in the cache.
    pub(super) symmetry: Option<f64>,
}

/// The reason why a matrix could not be read or generated.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// The specification of the generator is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl LoadError {
    /// Returns whether the file may be valid but is not supported.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Market(error) if error.is_unsupported())
    }

    /// Returns whether the user interrupted the reading of the file.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Market(error) if error.is_interrupted())
    }
}

impl Source {
    /// Parses `gen:…` as a generator and any other text as the path of a file.
    ///
    /// # Errors
    /// Returns an error if the specification of the generator is invalid.
    pub fn parse(text: &std::ffi::OsStr) -> Result<Self, SpecError> {
        match text.to_str().and_then(|text| text.strip_prefix("gen:")) {
            Some(spec) => Ok(Self::Generated(Generator::parse(spec)?)),
            None => Ok(Self::File(Path::new(text).to_owned())),
        }
    }

    /// Opens a file, or reads a stream to its end. If `expand` is set, the mirrored half of a symmetric
    /// file is stored too.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or `bounds` stops the reading.
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

    /// Returns the kind of problem from the file's comment, or the description of the generator.
    pub fn kind(&self, loaded: &Loaded) -> Option<String> {
        self.generator_kind().or_else(|| loaded.market.as_ref()?.kind.clone())
    }

    /// Returns the description of the generator; `None` for a file.
    pub fn generator_kind(&self) -> Option<String> {
        match self {
            Self::File(_) => None,
            Self::Generated(generator) => Some(format!("generated: {generator}")),
            Self::StandIn(id, generator) => Some(format!("stand-in for {id}: {generator}")),
        }
    }
}

impl Opened<'_> {
    /// Returns the size of the matrix as far as it is known; `None` if the source is invalid.
    pub fn size_hint(&self) -> Option<SizeHint> {
        match self {
            Self::File { file, .. } => file.size_hint().ok(),
            Self::Generated(generator) => generator.size_hint().ok(),
        }
    }

    /// Returns the memory that [`size_hint`](Self::size_hint) needs, in bytes.
    pub fn bytes_for_size_hint(&self) -> u64 {
        match self {
            Self::File { .. } => 0,
            Self::Generated(generator) => generator.bytes_for_rows(),
        }
    }

    /// Returns the memory in bytes that already holds the contents of a stream.
    pub fn stream_bytes(&self) -> u64 {
        match self {
            Self::File { file, .. } => file.stream_bytes(),
            Self::Generated(_) => 0,
        }
    }

    /// Reads or generates the matrix. A file is read from `cache` if possible; a stream is never cached.
    ///
    /// # Errors
    /// Returns the first defect of the file and its line, or the reason why the matrix cannot be generated.
    pub fn load(self, cache: Option<&MatrixCache>) -> Result<Loaded, LoadError> {
        match self {
            Self::File { file, path, expand } => match cache.filter(|_| !file.is_stream()) {
                Some(cache) => Ok(cache.load_within(path, expand, file.bounds())?),
                None => Ok(Loaded::of(file.read()?, expand)),
            },
            Self::Generated(generator) => Ok(Loaded::new(generator.generate()?)),
        }
    }
}

impl Loaded {
    /// Returns the [`pattern_symmetry`]. It is computed only if neither the file's banner nor the cache
    /// determines it.
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

    /// Reads a file without the cache.
    ///
    /// # Errors
    /// Returns the first defect of the file and its line.
    pub fn read(path: &Path, expand: bool) -> Result<Self, MarketError> {
        Self::read_within(path, expand, ReadBounds::NONE)
    }

    /// Reads a file without the cache, within `bounds`.
    ///
    /// # Errors
    /// Returns the first defect of the file and its line, or the reason why `bounds` stopped the reading.
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

/// Prints the source as it is given on the command line. Bytes of a path that are not UTF-8 are printed as
/// `\xff` and a backslash as two, so that different files never have the same name.
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
