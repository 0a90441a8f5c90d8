use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::csr::MAX_INDEX;
use crate::memory::ReadStop;

/// The reason why a file could not be read, as in `webbase-1M.mtx:17: row index 1000006 exceeds 1000005 rows`.
#[derive(Debug, thiserror::Error)]
#[error("{}:{} {}", path.display(), fault.line.map_or(String::new(), |line| format!("{line}:")), fault.reason)]
pub struct MarketError {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
pub(super) struct Fault {
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
pub(super) type Stop = Option<Fault>;

/// A defect of a file, or a property that is not supported. Words of the file are quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages describe the variants
pub enum Defect {
    #[error("the file is empty")]
    Empty,
    #[error("the first line must be like `%%MatrixMarket matrix coordinate real general`, not {0}")]
    NoBanner(String),
    #[error("the banner lacks the {what} ({supported})")]
    BannerWordMissing { what: &'static str, supported: String },
    #[error("unknown {what} {word}, it must be one of {supported}")]
    UnknownBannerWord { what: &'static str, word: String, supported: String },
    #[error("{what} `{word}` is not supported, only {supported}")]
    UnsupportedBannerWord { what: &'static str, word: &'static str, supported: String },
    #[error("unexpected {0} in the banner")]
    SurplusBannerWord(String),
    #[error("the array format cannot have the field `pattern`")]
    PatternArray,
    #[error("a pattern has no values and cannot be skew-symmetric")]
    SkewSymmetricPattern,
    #[error("the file ends before the size line")]
    NoSizeLine,
    #[error("no size line within the first {0} bytes")]
    LongHead(u64),
    #[error("the size line must contain {wanted}, not {line}")]
    SizeLine { wanted: String, line: String },
    #[error("the number of {things} must be a whole number of at least 0, not {word}")]
    Size { things: &'static str, word: String },
    #[error("{count} {things} are too many: 32-bit indices allow at most {MAX_INDEX}")]
    TooMany { count: String, things: &'static str },
    #[error("a {symmetry} matrix must be square, not {rows} x {cols}")]
    NotSquare { symmetry: &'static str, rows: u64, cols: u64 },
    #[error("the line has more than {0} bytes")]
    LongLine(usize),
    #[error("the column index is missing after {0}")]
    ColumnMissing(String),
    #[error("the value is missing after the indices")]
    ValueMissing,
    #[error("{what} index {word} is not a positive whole number")]
    Index { what: &'static str, word: String },
    #[error("{what} index 0: indices start at 1")]
    IndexZero { what: &'static str },
    #[error("{what} index {index} exceeds {size} {what}s")]
    IndexTooLarge { what: &'static str, index: String, size: usize },
    #[error("value {0} is not a number")]
    NotNumber(String),
    #[error("value {0} is not finite")]
    NotFinite(String),
    #[error("value {0} is negative in an unsigned-integer matrix")]
    Negative(String),
    #[error("diagonal entry ({at}, {at}) of a skew-symmetric matrix must be 0, not {word}")]
    Diagonal { at: u32, word: String },
    #[error("unexpected {word}: an entry of a {field} matrix has only {wanted}")]
    SurplusWord { word: String, field: &'static str, wanted: &'static str },
    #[error("unexpected {0}: an array has one value per line")]
    SurplusElement(String),
    #[error("there are more entries than the {0} given in the size line")]
    SurplusEntries(u64),
    #[error("the file ends after {found} of {stored} entries")]
    EntriesMissing { found: u64, stored: u64 },
    #[error("the {count} entries in row {row}, column {col} sum to {sum}")]
    Sum { count: usize, row: usize, col: u32, sum: String },
    #[error("the file changed while it was being read")]
    Changed,
    #[error("an array of {0} bytes for this matrix does not fit in memory")]
    Memory(u64),
}

impl MarketError {
    pub(super) fn new(path: &Path, fault: impl Into<Fault>) -> Self {
        Self { path: path.to_owned(), fault: fault.into() }
    }

    /// Returns whether the file may be valid but is not supported: it has complex values, contains a vector, is
    /// too large for 32-bit indices, or does not fit in memory.
    pub fn is_unsupported(&self) -> bool {
        match &self.fault.reason {
            Reason::Io(error) => matches!(ReadStop::of(error), Some(ReadStop::Memory { .. })),
            Reason::Defect(defect) => matches!(
                defect,
                Defect::UnsupportedBannerWord { .. } | Defect::TooMany { .. } | Defect::Memory(_)
            ),
        }
    }

    /// Returns whether the user interrupted the reading, so that nothing is known about the file.
    pub fn is_interrupted(&self) -> bool {
        let Reason::Io(error) = &self.fault.reason else { return false };
        matches!(ReadStop::of(error), Some(ReadStop::Interrupted))
    }
}

impl Fault {
    pub fn at(line: u64, defect: Defect) -> Self {
        Self { line: Some(line), reason: defect.into() }
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
fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace(char::is_control, "\u{fffd}")
}
