//! The source of a matrix: a file or a generator.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf, absolute};

use super::generate::{Generator, SpecError};
use super::loaded::Loaded;
use super::memory::{ReadBounds, SizeHint};
use super::reader::{self, ReadError};

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(into = "Plain", try_from = "Plain")]
pub enum Source {
    /// A file in a format that [`reader`] reads.
    File(PathBuf),
    /// A generator, given as `gen:…`.
    Generated(Generator),
    /// The id of a matrix of the collection and the generator that replaces it.
    Surrogate(String, Generator),
}

/// The serialized form of a [`Source`]: a path as bytes, a generator as its specification.
#[derive(serde::Serialize, serde::Deserialize)]
enum Plain {
    File(Vec<u8>),
    Generated(String),
    Surrogate(String, String),
}

impl From<Source> for Plain {
    fn from(source: Source) -> Self {
        match source {
            Source::File(path) => Self::File(path.into_os_string().into_vec()),
            Source::Generated(generator) => Self::Generated(generator.spec().to_owned()),
            Source::Surrogate(id, generator) => Self::Surrogate(id, generator.spec().to_owned()),
        }
    }
}

impl TryFrom<Plain> for Source {
    type Error = SpecError;

    fn try_from(plain: Plain) -> Result<Self, SpecError> {
        Ok(match plain {
            Plain::File(path) => Self::File(OsString::from_vec(path).into()),
            Plain::Generated(spec) => Self::Generated(Generator::parse(&spec)?),
            Plain::Surrogate(id, spec) => Self::Surrogate(id, Generator::parse(&spec)?),
        })
    }
}

/// A source that is ready to be read. Its file, if it has one, is open.
pub enum Opened<'a> {
    File { file: Box<reader::Opened<'a>>, path: &'a Path, options: reader::Options },
    Generated(&'a Generator),
}

/// The reason why a matrix could not be read or generated.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl LoadError {
    /// Returns whether the file may be valid but is not supported.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Read(error) if error.is_unsupported())
    }

    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Read(error) if error.is_interrupted())
    }
}

impl Source {
    /// Parses `gen:…` as a generator and any other text as the path of a file.
    pub fn parse(text: &std::ffi::OsStr) -> Result<Self, SpecError> {
        match text.to_str().and_then(|text| text.strip_prefix("gen:")) {
            Some(spec) => Ok(Self::Generated(Generator::parse(spec)?)),
            None => Ok(Self::File(Path::new(text).to_owned())),
        }
    }

    /// Whether the source is a pipe or the like, which a second process could not read again.
    pub fn is_read_once(&self) -> bool {
        let Self::File(path) = self else { return false };
        path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir())
    }

    /// Opens a file, or reads a stream to its end.
    pub fn open<'a>(&'a self, options: reader::Options, bounds: ReadBounds<'a>) -> Result<Opened<'a>, LoadError> {
        Ok(match self {
            Self::File(path) => {
                let file = reader::Opened::open(path, &options, bounds)?;
                Opened::File { file: Box::new(file), path, options }
            }
            Self::Generated(it) | Self::Surrogate(_, it) => Opened::Generated(it),
        })
    }

    /// Returns the source as it is printed, with the path of a file from the root: files with the same full name are
    /// the same, however their paths were given.
    pub fn full_name(&self) -> String {
        match self {
            Self::File(path) => Self::File(absolute(path).unwrap_or(path.clone())).to_string(),
            _ => self.to_string(),
        }
    }

    /// Returns the kind of problem from the file's comment, or the description of the generator.
    pub fn kind(&self, loaded: &Loaded) -> Option<String> {
        self.generator_kind().or_else(|| loaded.facts.as_ref()?.kind.clone())
    }

    pub fn generator_kind(&self) -> Option<String> {
        match self {
            Self::File(_) => None,
            Self::Generated(generator) => Some(format!("generated: {generator}")),
            Self::Surrogate(id, generator) => Some(format!("surrogate for {id}: {generator}")),
        }
    }
}

impl Opened<'_> {
    /// Returns the size of the matrix as far as it is known; `None` if the source is invalid.
    pub fn size_hint(&self) -> Option<SizeHint> {
        match self {
            Self::File { file, .. } => file.size_hint().ok().flatten(),
            Self::Generated(generator) => generator.size_hint().ok(),
        }
    }

    /// Reads the first lines of a file, as far as the sizes.
    pub fn check(&self) -> Result<(), LoadError> {
        if let Self::File { file, .. } = self {
            file.size_hint()?;
        }
        Ok(())
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
            Self::Surrogate(id, _) => write!(f, "surrogate:{id}"),
        }
    }
}
