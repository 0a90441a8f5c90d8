//! The conditions that stop the reading of a matrix early: an interruption or the memory limit.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// The interrupt flag and the memory limit. Every reader checks them between two blocks of a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadBounds<'a> {
    interrupted: Option<&'a AtomicBool>,
    most_bytes: u64,
    /// The origin of the memory limit, for messages, for example an option.
    by: &'static str,
}

/// The reason why reading stopped early. It is wrapped in an [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub enum ReadStop {
    /// The user interrupted the program.
    #[error("interrupted while it was read")]
    Interrupted,
    /// Another program has truncated the file.
    #[error("the file became shorter while it was read")]
    Shortened,
    /// Reading needs more memory than is available.
    #[error("reading the file needs {bytes} bytes of memory, but only {most} are available ({by})")]
    Memory {
        /// The memory that is needed, in bytes.
        bytes: u64,
        /// The memory that is available, in bytes.
        most: u64,
        /// The origin of the memory limit.
        by: &'static str,
    },
}

impl From<ReadStop> for io::Error {
    fn from(stop: ReadStop) -> Self {
        Self::other(stop)
    }
}

impl ReadStop {
    /// Returns the reason that is wrapped in `error`, if there is one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl<'a> ReadBounds<'a> {
    /// No interrupt flag and no memory limit.
    pub const NONE: Self = Self { interrupted: None, most_bytes: u64::MAX, by: "" };

    /// Creates bounds that stop reading when `interrupted` is set or more than `most_bytes` of memory are
    /// needed. `by` names the origin of this limit in messages.
    pub fn new(interrupted: &'a AtomicBool, most_bytes: u64, by: &'static str) -> Self {
        Self { interrupted: Some(interrupted), most_bytes, by }
    }

    /// Checks the interrupt flag.
    ///
    /// # Errors
    /// Returns [`ReadStop::Interrupted`] if the flag is set.
    pub fn check(self) -> Result<(), ReadStop> {
        match self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => Err(ReadStop::Interrupted),
            false => Ok(()),
        }
    }

    /// Checks the memory limit against the `bytes` that reading needs in total.
    ///
    /// # Errors
    /// Returns [`ReadStop::Memory`] if `bytes` exceeds the limit.
    pub fn allow(self, bytes: u64) -> Result<(), ReadStop> {
        let Self { most_bytes: most, by, .. } = self;
        if bytes > most { Err(ReadStop::Memory { bytes, most, by }) } else { Ok(()) }
    }
}
