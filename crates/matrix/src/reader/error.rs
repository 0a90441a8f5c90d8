use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::memory::ReadStop;

/// The reason why a file could not be read, as in `webbase-1M.mtx:17: row index 1000006 exceeds 1000005 rows`.
#[derive(Debug, thiserror::Error)]
#[error("{}:{} {}", path.display(), fault.line.map_or(String::new(), |line| format!("{line}:")), fault.reason)]
pub struct ReadError {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
pub struct Fault {
    /// The line, counted from 1; `None` if the reason applies to the whole file.
    line: Option<u64>,
    reason: Reason,
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum Reason {
    Io(#[from] io::Error),
    Defect(#[from] Defect),
}

/// The reason why parsing stopped early; `None` if a line of the entries is invalid, for whose message the file is
/// searched again.
pub type Stop = Option<Fault>;

/// A defect of a file, or a property that is not supported. Words of the file are quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Defect {
    message: String,
    /// Whether the file may be valid all the same.
    pub is_unsupported: bool,
}

impl From<String> for Defect {
    fn from(message: String) -> Self {
        Self { message, is_unsupported: false }
    }
}

impl From<&str> for Defect {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl Defect {
    pub fn unsupported(message: String) -> Self {
        Self { message, is_unsupported: true }
    }

    /// Returns it as the defect of a part of the file.
    pub fn of(self, part: &str) -> Self {
        Self { message: format!("{part}: {}", self.message), ..self }
    }

    /// Returns the defect of a file that is not what it was when its reading began.
    pub fn changed() -> Self {
        "the file changed while it was being read".into()
    }
}

impl ReadError {
    pub fn new(path: &Path, fault: impl Into<Fault>) -> Self {
        Self { path: path.to_owned(), fault: fault.into() }
    }

    /// Returns whether the file may be valid but is not supported: it has complex values, contains a vector, is
    /// too large for 32-bit indices, or does not fit in memory.
    pub fn is_unsupported(&self) -> bool {
        match &self.fault.reason {
            Reason::Io(error) => matches!(ReadStop::of(error), Some(ReadStop::Memory { .. })),
            Reason::Defect(defect) => defect.is_unsupported,
        }
    }

    /// Returns whether the user interrupted the reading, so that nothing is known about the file.
    pub fn is_interrupted(&self) -> bool {
        let Reason::Io(error) = &self.fault.reason else { return false };
        matches!(ReadStop::of(error), Some(ReadStop::Interrupted))
    }
}

impl Fault {
    pub fn at(line: u64, defect: impl Into<Defect>) -> Self {
        Self { line: Some(line), reason: Reason::Defect(defect.into()) }
    }

    /// Adds the line to a defect that has none.
    pub fn in_line(self, line: u64) -> Self {
        let is_defect = matches!(self.reason, Reason::Defect(_));
        Self { line: self.line.or(is_defect.then_some(line)), ..self }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self { line: None, reason: error.into() }
    }
}

impl From<ReadStop> for Fault {
    fn from(stop: ReadStop) -> Self {
        io::Error::from(stop).into()
    }
}

impl From<Defect> for Fault {
    fn from(defect: Defect) -> Self {
        Self { line: None, reason: defect.into() }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Defect::from(message).into()
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Defect::from(message).into()
    }
}

/// Converts an error of the libraries for archives and compressed data into a message about the file, with the name of
/// the data. Messages of libraries may quote the file, so they are truncated and made printable. What has been
/// converted is not changed again.
pub fn name_damage(error: io::Error, data: &str) -> io::Error {
    if error.raw_os_error().is_some() || ReadStop::of(&error).is_some() {
        return error;
    }
    let message = shown(error.to_string().as_bytes(), 200);
    let named = match error.kind() {
        ErrorKind::InvalidData => message,
        ErrorKind::UnexpectedEof => format!("the {data} end too early"),
        _ => format!("the {data} are damaged ({message})"),
    };
    io::Error::new(ErrorKind::InvalidData, named)
}

pub fn quote(token: &[u8]) -> String {
    format!("`{}`", shown(token, 40))
}

/// Returns at most `most` bytes of a piece of the file as text for a message, with control characters, which a terminal
/// would execute, replaced.
pub fn shown(token: &[u8], most: usize) -> String {
    let shown = &token[..token.len().min(most)];
    let dots = if shown.len() < token.len() { "..." } else { "" };
    String::from_utf8_lossy(shown).replace(char::is_control, "\u{fffd}") + dots
}
