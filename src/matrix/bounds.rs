//! What ends the reading of a matrix early: an interruption, or more memory than reading may take.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// What every reader looks at between two blocks of a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadBounds<'a> {
    interrupted: Option<&'a AtomicBool>,
    most_bytes: u64,
    /// Who leaves no more memory.
    by: &'static str,
}

/// Why reading ended early; it is found inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub enum ReadStop {
    /// Somebody asked for the end.
    #[error("interrupted while it was read")]
    Interrupted,
    /// Another program has truncated the file.
    #[error("the file became shorter while it was read")]
    Shortened,
    /// The limit of memory.
    #[error("reading it needs {bytes} bytes of memory, and {most} are available ({by})")]
    Memory {
        /// Bytes that are wanted.
        bytes: u64,
        /// Bytes that there are.
        most: u64,
        /// Who leaves no more.
        by: &'static str,
    },
}

impl From<ReadStop> for io::Error {
    fn from(stop: ReadStop) -> Self {
        Self::other(stop)
    }
}

impl ReadStop {
    /// The reason inside an error, if the error is of this kind.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl<'a> ReadBounds<'a> {
    /// Reading that nothing interrupts and that may take all memory.
    pub const NONE: Self = Self { interrupted: None, most_bytes: u64::MAX, by: "" };

    /// Reading that ends when `interrupted` is raised, and takes at most `most_bytes` of memory, which
    /// is what `by` leaves.
    pub fn new(interrupted: &'a AtomicBool, most_bytes: u64, by: &'static str) -> Self {
        Self { interrupted: Some(interrupted), most_bytes, by }
    }

    /// # Errors
    /// When reading was interrupted.
    pub fn check(self) -> Result<(), ReadStop> {
        match self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => Err(ReadStop::Interrupted),
            false => Ok(()),
        }
    }

    /// # Errors
    /// When reading may not take so many bytes in all.
    pub fn allow(self, bytes: u64) -> Result<(), ReadStop> {
        let Self { most_bytes: most, by, .. } = self;
        if bytes > most { Err(ReadStop::Memory { bytes, most, by }) } else { Ok(()) }
    }
}
