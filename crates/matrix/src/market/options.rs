//! The options for reading a file.

/// The options for reading a file.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether a symmetric or skew-symmetric file is expanded to the whole matrix. Otherwise only the stored
    /// triangle is returned.
    pub expand: bool,
    /// The approximate size in bytes of the chunks of text that a thread parses. It does not affect the result.
    pub chunk: usize,
}

impl Default for Options {
    fn default() -> Self {
        // The entries of a chunk of this size fit into the second-level cache of a core.
        Self { expand: true, chunk: 1 << 20 }
    }
}
