//! The errors of downloads.

use std::io;
use std::path::Path;

use spmv_matrix::market::Defect;

/// The reason why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The user has interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// A request to a server failed.
    #[error(transparent)]
    Web(#[from] WebError),
    /// A server is too slow. The number is the longest permitted time of the download in seconds.
    #[error("the download took longer than {0} s, the maximum for its expected size")]
    Late(f64),
    /// A file does not contain the expected matrix.
    #[error(transparent)]
    Contents(#[from] ContentsError),
    /// An error with this message.
    #[error("{0}")]
    Failed(String),
}

impl FetchError {
    /// Returns a function that creates the error of a file operation, such as `cannot write ufl_mtx/a.mtx: …`.
    pub(super) fn file(verb: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Failed(format!("cannot {verb} {}: {error}", path.display()))
    }
}

/// The reason why a text is not the address of a mirror.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("{0} is not supported, only http and https")]
    Scheme(String),
    #[error("it is not a web address such as http://host/path")]
    NotWeb,
}

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("{name} is '{value}', which is not a proxy such as http://host:port")]
    Proxy { name: String, value: String },
    #[error(
        "the system has no CA certificates: install the package ca-certificates, or name a file of them in \
         SSL_CERT_FILE ({0})"
    )]
    NoCertificates(String),
    #[error("no data received for {0} s")]
    Silence(f64),
    /// A redirect is not followed, for the reason of this message.
    #[error("{0}")]
    Redirect(String),
    #[error("{0}")]
    Request(String),
}

/// The reason why a file does not contain the expected matrix, and its line.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{} {mismatch}", line.map_or(String::new(), |line| format!("{line}:")))]
pub struct ContentsError {
    file: String,
    line: Option<u64>,
    mismatch: Mismatch,
}

/// The difference between a file and the expected matrix.
#[derive(Debug, thiserror::Error)]
pub(super) enum Mismatch {
    #[error(transparent)]
    Io(io::Error),
    #[error(transparent)]
    Defect(Defect),
    #[error("it does not contain {0}/{0}.mtx")]
    Absent(String),
    #[error("it ends before the size line")]
    NoSizeLine,
    #[error("a line of its header is too long")]
    LongLine,
    #[error("{} x {}, but {id} has {} x {}", found.0, found.1, wanted.0, wanted.1)]
    Shape { found: (u64, u64), id: String, wanted: (u64, u64) },
    #[error("{found} entries, but a file of {id} stores {wanted}")]
    Entries { found: u64, id: String, wanted: String },
    #[error("{found} entry lines, but its size line specifies {wanted}")]
    EntryLines { found: u64, wanted: u64 },
}

impl Mismatch {
    /// Returns the error for a whole file.
    pub fn of(self, file: &str) -> ContentsError {
        ContentsError { file: file.to_owned(), line: None, mismatch: self }
    }

    /// Returns the error for a line, counted from 1.
    pub fn at(self, file: &str, line: u64) -> ContentsError {
        ContentsError { file: file.to_owned(), line: Some(line), mismatch: self }
    }
}
