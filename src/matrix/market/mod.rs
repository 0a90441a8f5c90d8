//! The Matrix Market reader and writer.
//!
//! A file is cut at line ends into chunks of text (`text`). The chunks are parsed on all threads
//! (`chunk`, with `scan` and `decimal` for ordinary lines and `entry` for all others), and the
//! entries, by then grouped into ranges of rows, are placed range by range into the CSR arrays
//! (`build`; `dense` for the array format). Threads only notice that something is wrong; what and
//! where is then found by one reading from the start (`defect`), so the message does not depend on
//! the number of threads.

mod build;
mod chunk;
mod decimal;
mod defect;
mod dense;
mod entry;
mod error;
mod header;
mod input;
mod memory;
mod scan;
mod stream;
mod text;
mod write;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

#[cfg(any(feature = "mpi", test))]
pub(crate) use build::sum;
pub use error::MarketError;
pub use header::{Field, Symmetry};
pub use stream::Stream;
pub use write::{Head, write, write_block, write_head};

use super::Csr;
use super::bounds::ReadBounds;
use super::source::SizeHint;
use error::Fault;
use header::{Format, Header};
use text::Text;

/// How to read a file.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether a symmetric or skew-symmetric file becomes the whole matrix; otherwise the stored
    /// triangle is kept as it stands.
    pub expand: bool,
    /// About how many bytes of text a thread takes at a time. The result does not depend on it.
    pub chunk: usize,
}

impl Default for Options {
    fn default() -> Self {
        // Small enough that the entries of one chunk stay in a core's second-level cache.
        Self { expand: true, chunk: 1 << 20 }
    }
}

/// A matrix and what its file says about it.
#[derive(Debug)]
pub struct Market {
    /// The matrix, expanded if so asked, duplicates summed, explicit zeros kept.
    pub csr: Csr<f64>,
    /// What the values are.
    pub field: Field,
    /// What the file leaves out.
    pub symmetry: Symmetry,
    /// Entries in the file.
    pub stored: u64,
    /// What the collection says of the problem, in the comment `% kind: …`.
    pub kind: Option<String>,
    /// How many of the stored entries fell on the place of an earlier one.
    pub duplicates: u64,
    /// Bytes of text, uncompressed.
    pub text_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// Reads the Matrix Market file at `path`, plain or compressed with gzip, on the current rayon
/// pool.
///
/// Both formats (an array keeps all its elements), all fields but `complex` and all symmetries
/// are read; a `pattern` has values of 1, and `hermitian` means symmetric where nothing is
/// complex. Numbers of an `integer` file may have a fraction. Entries of a symmetric file may lie
/// in either triangle. Entries in the same place are summed in the order of the file: with
/// expansion (i, j) and (j, i) of a symmetric file are such, both places then hold the sum, and
/// this counts as one duplicate.
/// A file is read in blocks and never held in memory as a whole; a pipe or a device is collected.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn read(path: &Path, options: &Options) -> Result<Market, MarketError> {
    Opened::open(path, options, ReadBounds::NONE)?.read()
}

/// A file that is open, or a stream that was read to its end.
pub struct Opened<'c> {
    path: PathBuf,
    text: Text<'c>,
    options: Options,
}

impl<'c> Opened<'c> {
    /// Opens a file, within what bounds its reading.
    ///
    /// # Errors
    /// When it cannot be opened, or an archive holds no matrix.
    pub fn open(
        path: &Path,
        options: &Options,
        bounds: ReadBounds<'c>,
    ) -> Result<Self, MarketError> {
        let text = Text::open(path, bounds);
        let text = text.map_err(|error| MarketError::new(path, error.into()))?;
        Ok(Self { path: path.to_owned(), text, options: *options })
    }

    /// Whether the text came from a pipe or a device, which cannot be opened once more.
    pub fn is_stream(&self) -> bool {
        self.text.input.is_stream()
    }

    /// What bounds the reading.
    pub fn bounds(&self) -> ReadBounds<'c> {
        self.text.input.bounds()
    }

    /// Bytes of memory that a stream takes.
    pub fn held(&self) -> u64 {
        self.text.input.held()
    }

    /// What a file says of its size, in its first lines.
    ///
    /// # Errors
    /// What is wrong with it so far.
    pub fn size_hint(&self) -> Result<SizeHint, MarketError> {
        let header = Header::read(&mut self.text.lines(self.options.chunk));
        let (header, _) = header.map_err(|fault| MarketError::new(&self.path, fault))?;
        Ok(size_hint(&header, &self.text, &self.options))
    }

    /// Reads the matrix; see [`read`].
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read(&self) -> Result<Market, MarketError> {
        let Self { path, text, options } = self;
        parse(text, options)
            .map_err(|stop| match stop {
                Stop::Fault(fault) => fault,
                Stop::Defect => defect::first(text, options.chunk),
            })
            .map_err(|fault| MarketError::new(path, fault))
    }
}

/// What the matrix of a file takes, as far as its header tells.
fn size_hint(header: &Header, text: &Text, options: &Options) -> SizeHint {
    let mirrored = options.expand && header.symmetry != Symmetry::General;
    let stored = header.stored.min(text.most_entries());
    let nnz = if mirrored { 2 * stored } else { stored };
    let scratch = match header.format {
        Format::Coordinate => build::scratch_bytes(header.field, nnz),
        Format::Array => dense::scratch_bytes(stored),
    };
    SizeHint { rows: header.rows, cols: header.cols, nnz, scratch }
}

/// Why reading ended early.
enum Stop {
    /// Some line of the entries is wrong: `defect` finds the first.
    Defect,
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn parse(text: &Text, options: &Options) -> Result<Market, Stop> {
    let mut lines = text.lines(options.chunk);
    let (header, kind) = Header::read(&mut lines)?;
    header.check_entries(&lines)?;
    let needs = size_hint(&header, text, options).bytes().saturating_add(text.input.held());
    text.input.bounds().allow(needs).map_err(Fault::from)?;
    let entries = match header.format {
        Format::Coordinate => {
            build::coordinate(&header, options, text.most_entries(), lines.remainder())?
        }
        Format::Array => dense::array(&header, options, lines.remainder())?,
    };
    Ok(Market {
        csr: entries.csr,
        field: header.field,
        symmetry: header.symmetry,
        stored: header.stored,
        kind,
        duplicates: entries.duplicates,
        text_bytes: header.bytes + entries.bytes,
        file_bytes: text.input.size(),
    })
}

/// What the lines after the size line amount to.
struct Entries {
    csr: Csr<f64>,
    duplicates: u64,
    bytes: u64,
}
