//! What can be wrong with a file, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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
        Self::whole(Reason::Io(error))
    }
}

/// A piece of the file as shown in a message: printable and not too long.
pub(super) fn quote(token: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = &token[..token.len().min(SHOWN)];
    let dots = if shown.len() < token.len() { "..." } else { "" };
    format!("`{}{dots}`", printable(shown))
}

/// A piece of the file without what a terminal would obey.
pub(super) fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace(char::is_control, "\u{fffd}")
}
