use super::super::error::Fault;
use super::super::matrix::ReadMatrix;
use super::super::options::Options;
use super::super::text::Text;
use crate::memory::SizeHint;

type Hint = fn(&Text, &Options) -> Result<SizeHint, Fault>;

/// A format of matrix files.
pub struct Format {
    /// The name of the format in `docs/matrices.md`.
    pub name: &'static str,
    /// The extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// Further extensions, which other files have too: files in folders are not taken for matrices because of them.
    pub common_extensions: &'static [&'static str],
    /// How a file is recognized, which values its entries have, and notes, for `docs/matrices.md`.
    pub document: [&'static str; 3],
    /// Returns whether a text is in this format. The first format of the list for which this is true reads it.
    pub(crate) sniff: fn(&Signs) -> bool,
    /// Returns the size of the matrix before it is read, if the format has a header that says it.
    pub(crate) size_hint: Option<Hint>,
    pub(crate) read: fn(&Text, &Options) -> Result<ReadMatrix, Fault>,
}

/// What shows the format of a text.
pub struct Signs<'a> {
    /// The first bytes, without a byte order mark.
    pub head: &'a [u8],
    /// Whether the file has an extension of the format in question.
    pub is_named: bool,
    /// Whether it has an extension of any format.
    pub has_extension: bool,
    /// Whether the user says what the edges of the file mean, which must then be a list of them.
    pub declares_edges: bool,
}

impl Format {
    pub fn has_extension(&self, extension: &str) -> bool {
        self.extensions.contains(&extension) || self.common_extensions.contains(&extension)
    }
}
