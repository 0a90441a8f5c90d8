//! What ends a launch.

use std::fmt;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An access to bytes that are in no buffer and in no array.
    OutOfBounds,
    /// An access to an address that is no multiple of its size.
    Misaligned,
    /// A read of bytes that nobody wrote.
    Uninitialised,
    /// An access that another thread's is not ordered with.
    Race,
    /// A barrier, a shuffle or a vote that not all come to that should, or not in the same place.
    Synchronisation,
    /// Threads that wait for ever.
    Deadlock,
    /// A launch that the kernel or the GPU does not allow.
    Launch,
    /// A division of integers by zero.
    Division,
    /// The kernel's own wish, or an address that it may not use.
    Trap,
}

/// What a kernel did that CUDA leaves undefined, by whom and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// The kernel.
    pub kernel: String,
    /// The block and the thread, where it was a thread.
    pub thread: Option<([u32; 3], [u32; 3])>,
    /// What happened.
    pub what: String,
    /// The line of the source.
    pub place: Option<String>,
}

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
