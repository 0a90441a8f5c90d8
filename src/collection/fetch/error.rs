//! Why a download fails.

use std::io;
use std::path::Path;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The user has interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// The same address may deliver later, after the pause that the server asks for, if it does. With `of_site`, other
    /// files of the site would fail in the same way.
    #[error("{message}")]
    Passing { message: String, asked: Option<Duration>, of_site: bool },
    /// A site cannot be reached or fails, whatever it is asked for; or no site of a matrix can.
    #[error("{0}")]
    Unreachable(String),
    /// What an address answers, or the archive that it has delivered, is of no use.
    #[error("{0}")]
    Refused(String),
    /// The cause is on this machine, so that other addresses are of no use either.
    #[error("{0}")]
    Failed(String),
}

/// Readers of archives and files pass a [`FetchError`] on as an error of the system, which `downcast` undoes.
impl From<FetchError> for io::Error {
    fn from(error: FetchError) -> Self {
        Self::other(error)
    }
}

pub fn refused<T>(message: String) -> io::Result<T> {
    Err(FetchError::Refused(message).into())
}

pub trait OrCannot<T> {
    /// Names the operation and the file in an error, as in `cannot write ufl_mtx/a.mtx: …`.
    fn or_cannot(self, verb: &str, path: &Path) -> Result<T, FetchError>;
}

impl<T> OrCannot<T> for io::Result<T> {
    fn or_cannot(self, verb: &str, path: &Path) -> Result<T, FetchError> {
        self.map_err(|error| FetchError::Failed(format!("cannot {verb} {}: {error}", path.display())))
    }
}
