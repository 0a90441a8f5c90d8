//! The errors of the reader: the defects of a file and their lines.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::matrix::bounds::ReadStop;

/// The reason why a file could not be read, as in `webbase-1M.mtx:17: row index 1000006 exceeds 1000005 rows`.
#[derive(Debug)]
pub struct MarketError {
    path: PathBuf,
    fault: Fault,
}

/// A reason and the line to which it applies.
#[derive(Debug)]
pub(super) struct Fault {
    /// The line, counted from 1; `None` if the reason applies to the whole file.
    pub line: Option<u64>,
    pub reason: Reason,
}

#[derive(Debug)]
pub(super) enum Reason {
    Io(io::Error),
    /// The file is valid but not supported.
    Unsupported(String),
    Broken(String),
}

impl MarketError {
    pub(super) fn new(path: &Path, fault: Fault) -> Self {
        let path = path.to_owned();
        Self { path, fault }
    }

    /// Returns whether the file may be valid but is not supported: it has complex values, contains a vector, is
    /// too large for 32-bit indices, or does not fit in memory.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.fault.reason, Reason::Unsupported(_))
    }

    /// Returns whether the user interrupted the reading, so that nothing is known about the file.
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

/// Converts an error of the libraries for archives and compressed data into a message about the file. Messages
/// of libraries may quote the file, so they are truncated and made printable.
pub(super) fn name_damage(error: io::Error) -> io::Error {
    let kind = error.kind();
    if error.raw_os_error().is_some() || ReadStop::of(&error).is_some() {
        return error;
    }
    let message = shown(error.to_string().as_bytes(), 200);
    match kind {
        ErrorKind::InvalidData => io::Error::new(kind, message),
        ErrorKind::UnexpectedEof => io::Error::new(kind, "the gzip data end too early"),
        _ => io::Error::new(kind, format!("the gzip data are damaged ({message})")),
    }
}

/// Quotes a word of the file for a message.
pub(super) fn quote(token: &[u8]) -> String {
    format!("`{}`", shown(token, 40))
}

/// Returns at most `most` bytes of a piece of the file as printable text for a message.
pub(super) fn shown(token: &[u8], most: usize) -> String {
    let shown = &token[..token.len().min(most)];
    let dots = if shown.len() < token.len() { "..." } else { "" };
    format!("{}{dots}", printable(shown))
}

/// Returns a piece of the file as text, with control characters, which a terminal would execute, replaced.
pub(super) fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace(char::is_control, "\u{fffd}")
}
