//! What can be wrong with a file, and where.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::matrix::bounds::ReadStop;

/// Why a file was not read: `webbase-1M.mtx:17: row index 1000006 exceeds 1000005 rows`.
#[derive(Debug)]
pub struct MarketError {
    path: PathBuf,
    fault: Fault,
}

/// A reason and the line it was found on, counted from 1; none if it concerns the whole file.
#[derive(Debug)]
pub(super) struct Fault {
    pub line: Option<u64>,
    pub reason: Reason,
}

#[derive(Debug)]
pub(super) enum Reason {
    Io(io::Error),
    /// A correct file of a kind that is not read.
    Unsupported(String),
    Broken(String),
}

impl MarketError {
    pub(super) fn new(path: &Path, fault: Fault) -> Self {
        let path = path.to_owned();
        Self { path, fault }
    }

    /// Whether the file may well be correct but is refused: complex values, a vector, or a size
    /// beyond 32-bit indices.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.fault.reason, Reason::Unsupported(_))
    }

    /// Whether the file is not to blame: somebody asked for the end.
    pub fn is_interrupted(&self) -> bool {
        let Reason::Io(error) = &self.fault.reason else { return false };
        matches!(ReadStop::of(error), Some(ReadStop::Interrupted))
    }
}

impl fmt::Display for MarketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(line) = self.fault.line {
            write!(f, "{line}:")?;
        }
        match &self.fault.reason {
            Reason::Io(error) => write!(f, " {error}"),
            Reason::Unsupported(message) | Reason::Broken(message) => write!(f, " {message}"),
        }
    }
}

impl std::error::Error for MarketError {}

impl Fault {
    pub fn whole(reason: Reason) -> Self {
        Self { line: None, reason }
    }

    pub fn at(line: u64, reason: Reason) -> Self {
        let line = Some(line);
        Self { line, reason }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::whole(match ReadStop::of(&error) {
            Some(stop @ ReadStop::Memory { .. }) => Reason::Unsupported(stop.to_string()),
            _ => Reason::Io(error),
        })
    }
}

impl From<ReadStop> for Fault {
    fn from(stop: ReadStop) -> Self {
        io::Error::from(stop).into()
    }
}

/// Says of an error in an archive or in compressed data what is wrong with the file. Libraries'
/// messages may repeat what they have read.
pub(super) fn name_damage(error: io::Error) -> io::Error {
    let kind = error.kind();
    if error.raw_os_error().is_some() || ReadStop::of(&error).is_some() {
        return error;
    }
    let message = shown(error.to_string().as_bytes(), 200);
    match kind {
        ErrorKind::InvalidData => io::Error::new(kind, message),
        ErrorKind::UnexpectedEof => io::Error::new(kind, "the gzip data end early"),
        _ => io::Error::new(kind, format!("the gzip data are damaged ({message})")),
    }
}

/// A word of the file as shown in a message.
pub(super) fn quote(token: &[u8]) -> String {
    format!("`{}`", shown(token, 40))
}

/// A piece of the file as shown in a message: printable, and at most `most` bytes of it.
pub(super) fn shown(token: &[u8], most: usize) -> String {
    let shown = &token[..token.len().min(most)];
    let dots = if shown.len() < token.len() { "..." } else { "" };
    format!("{}{dots}", printable(shown))
}

/// A piece of the file without what a terminal would obey.
pub(super) fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace(char::is_control, "\u{fffd}")
}
