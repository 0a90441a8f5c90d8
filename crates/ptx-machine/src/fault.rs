//! The errors that end a launch.

use std::fmt;

/// An error of a kernel, with the thread and the source line where it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
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
        self.place.iter().try_for_each(|place| write!(f, " at {place}"))
    }
}

impl std::error::Error for Fault {}
