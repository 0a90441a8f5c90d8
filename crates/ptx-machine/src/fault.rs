//! The errors that end a launch.

#![warn(missing_docs)]

use std::fmt;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An access to bytes outside all buffers and arrays.
    OutOfBounds,
    /// An access to an address that is not a multiple of the access size.
    Misaligned,
    /// A read of bytes that were never written.
    Uninitialised,
    /// A data race with an access of another thread.
    Race,
    /// A barrier, shuffle or vote that not all of the expected threads reach, or that they reach at different
    /// instructions.
    Synchronisation,
    /// Threads that wait forever.
    Deadlock,
    /// A launch with invalid parameters.
    Launch,
    /// An integer division by zero.
    Division,
    /// A `trap` instruction.
    Trap,
}

/// An error of a kernel, with the thread and the source line where it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: Kind,
    /// The name of the kernel.
    pub kernel: String,
    /// The indices of the block and of the thread; `None` if the launch itself is invalid.
    pub thread: Option<([u32; 3], [u32; 3])>,
    /// The description of the error, which continues a sentence that starts with the thread.
    pub what: String,
    /// The file and line of the source, for example `merge.cu:42`.
    pub place: Option<String>,
}

/// The result of a step of a launch.
pub(crate) type Checked<T = ()> = Result<T, Box<Fault>>;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kernel)?;
        if let Some(([bx, by, bz], [x, y, z])) = self.thread {
            write!(f, "block ({bx},{by},{bz}) thread ({x},{y},{z}): ")?;
        }
        f.write_str(&self.what)?;
        match &self.place {
            Some(place) => write!(f, " at {place}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}
