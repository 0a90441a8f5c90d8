//! The size of a matrix before it is read or generated, and the limits while it is read.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// The size of a matrix, as far as it is known before the matrix is read or generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeHint {
    pub rows: usize,
    pub cols: usize,
    /// An upper bound on the number of entries.
    pub nnz: u64,
    /// An upper bound on the temporary memory for reading or generating the matrix, in bytes, without the CSR
    /// arrays and the file.
    pub scratch: u64,
}

impl SizeHint {
    /// Returns an upper bound on the memory for reading or generating the matrix, in bytes, including the CSR
    /// arrays.
    pub fn bytes(&self) -> u64 {
        let entry = (size_of::<u32>() + size_of::<f64>()) as u64;
        let offsets = size_of::<u32>() as u64 * (self.rows as u64 + 1);
        self.nnz.saturating_mul(entry).saturating_add(offsets).saturating_add(self.scratch)
    }
}

/// The interrupt flag and the memory limit. Every reader checks them between two blocks of a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadBounds<'a> {
    interrupted: Option<&'a AtomicBool>,
    most_bytes: u64,
    /// The memory that the reader holds already, in bytes.
    held: u64,
    /// The origin of the memory limit, for messages, for example an option.
    by: &'static str,
}

/// The reason why reading stopped early. It is wrapped in an [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub enum ReadStop {
    #[error("interrupted while it was read")]
    Interrupted,
    /// Another program has truncated the file.
    #[error("the file became shorter while it was read")]
    Shortened,
    #[error("reading the file needs {bytes} bytes of memory, but only {most} are available ({by})")]
    Memory { bytes: u64, most: u64, by: &'static str },
}

impl From<ReadStop> for io::Error {
    fn from(stop: ReadStop) -> Self {
        Self::other(stop)
    }
}

impl ReadStop {
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl<'a> ReadBounds<'a> {
    /// No interrupt flag and no memory limit.
    pub const NONE: Self = Self { interrupted: None, most_bytes: u64::MAX, held: 0, by: "" };

    /// Creates bounds that stop reading when `interrupted` is set or more than `most_bytes` of memory are
    /// needed. `by` names the origin of this limit in messages.
    pub fn new(interrupted: &'a AtomicBool, most_bytes: u64, by: &'static str) -> Self {
        Self { interrupted: Some(interrupted), most_bytes, held: 0, by }
    }

    /// Returns the bounds for what is read while `bytes` more are held.
    pub fn beside(self, bytes: u64) -> Self {
        Self { held: self.held.saturating_add(bytes), ..self }
    }

    pub fn check(self) -> Result<(), ReadStop> {
        let interrupted = self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed));
        if interrupted { Err(ReadStop::Interrupted) } else { Ok(()) }
    }

    /// Checks the memory limit against `bytes` and what is held beside them.
    pub fn allow(self, bytes: u64) -> Result<(), ReadStop> {
        let Self { most_bytes: most, held, by, .. } = self;
        let bytes = bytes.saturating_add(held);
        if bytes > most { Err(ReadStop::Memory { bytes, most, by }) } else { Ok(()) }
    }
}
