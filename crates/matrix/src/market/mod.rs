//! The Matrix Market reader and writer.
//!
//! A file is split at line ends into chunks of text (`text`). All threads parse the chunks (`chunk`, with
//! `scan` and `decimal` for ordinary lines and `entry` for all others) and group the entries by ranges of
//! rows. Then the entries are placed range by range into the CSR arrays (`build`; `dense` for the array
//! format). The threads only detect that the file has a defect. The first defect is then searched for by a
//! sequential pass from the start (`defect`), so that the message does not depend on the number of threads.

mod build;
mod chunk;
mod decimal;
mod defect;
mod dense;
mod entries;
mod entry;
mod error;
mod header;
mod input;
mod line;
#[cfg(target_arch = "x86_64")]
mod marks;
mod memory;
mod options;
#[cfg(target_arch = "x86_64")]
mod plain;
mod scan;
mod stream;
mod text;
mod window;
mod write;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use build::sum;
pub use error::{Defect, MarketError};
pub use header::{Banner, Field, Sizes, Symmetry};
pub use line::LONGEST_LINE;
pub use options::Options;
pub use stream::Stream;
pub use write::{Head, write, write_block, write_head};

use super::Csr;
use super::bounds::ReadBounds;
use super::size::SizeHint;
use error::{Fault, Stop};
use header::{Format, Header};
use text::Text;

/// A matrix and the facts that its file states about it.
#[derive(Debug)]
pub struct Market {
    /// The matrix, expanded if requested. Duplicates are summed and explicit zeros retained.
    pub csr: Csr<f64>,
    /// The type of the values.
    pub field: Field,
    /// The symmetry, which determines the part of the matrix that the file stores.
    pub symmetry: Symmetry,
    /// The number of entries in the file.
    pub stored: u64,
    /// The kind of problem, from the comment `% kind: …`.
    pub kind: Option<String>,
    /// The number of stored entries that have the position of an earlier entry.
    pub duplicates: u64,
    /// The numbers of entries that a symmetric file in the coordinate format stores above and below the diagonal, if it is
    /// expanded; otherwise 0.
    pub triangles: [u64; 2],
    /// The size of the uncompressed text in bytes.
    pub text_bytes: u64,
    /// The size of the file in bytes.
    pub file_bytes: u64,
}

/// Reads the Matrix Market file at `path`, plain or compressed with gzip, on the current rayon
/// pool.
///
/// Both formats, all symmetries and all fields except `complex` are supported. All elements of an array
/// become entries. The values of a `pattern` are 1, and `hermitian` means symmetric because no value is
/// complex. Numbers of an `integer` file may have a fraction. Entries of a symmetric file may lie in either
/// triangle. Entries with the same position are summed in the order of the file. With expansion, (i, j) and
/// (j, i) of a symmetric file have the same position: both positions get the sum, and this counts as one
/// duplicate. A file is read in blocks and is never in memory as a whole; a pipe or device is read into memory.
///
/// # Errors
/// Returns the first defect of the file and its line.
pub fn read(path: &Path, options: &Options) -> Result<Market, MarketError> {
    Opened::open(path, options, ReadBounds::NONE)?.read()
}

/// An open file, or a stream that has been read to its end.
pub struct Opened<'c> {
    path: PathBuf,
    text: Text<'c>,
    options: Options,
}

impl<'c> Opened<'c> {
    /// Opens a file to be read within `bounds`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or an archive contains no matrix.
    pub fn open(
        path: &Path,
        options: &Options,
        bounds: ReadBounds<'c>,
    ) -> Result<Self, MarketError> {
        let text = Text::open(path, bounds);
        let text = text.map_err(|error| MarketError::new(path, error))?;
        Ok(Self { path: path.to_owned(), text, options: *options })
    }

    /// Returns whether the text was read from a pipe or a device, which cannot be read again.
    pub fn is_stream(&self) -> bool {
        self.text.input.is_stream()
    }

    /// Returns the bounds within which the file is read.
    pub fn bounds(&self) -> ReadBounds<'c> {
        self.text.input.bounds()
    }

    /// Returns the memory in bytes that holds the contents of a stream; 0 for a file.
    pub fn stream_bytes(&self) -> u64 {
        self.text.input.stream_bytes()
    }

    /// Returns the size of the matrix according to the header of the file.
    ///
    /// # Errors
    /// Returns an error if the header is invalid.
    pub fn size_hint(&self) -> Result<SizeHint, MarketError> {
        let header = Header::read(&mut self.text.lines(self.options.chunk));
        let (header, _) = header.map_err(|fault| MarketError::new(&self.path, fault))?;
        Ok(size_hint(&header, &self.text, &self.options))
    }

    /// Reads the matrix; see [`read`].
    ///
    /// # Errors
    /// Returns the first defect of the file and its line.
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

/// Returns the size of the matrix and the temporary memory according to the header.
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

fn parse(text: &Text, options: &Options) -> Result<Market, Stop> {
    let mut lines = text.lines(options.chunk);
    let (header, kind) = Header::read(&mut lines)?;
    header.check_entries(&lines)?;
    let needs = size_hint(&header, text, options).bytes().saturating_add(text.input.stream_bytes());
    text.input.bounds().allow(needs).map_err(Fault::from)?;
    let entries = match header.format {
        Format::Coordinate => {
            build::coordinate(&header, options.expand, text.most_entries(), lines.remainder())?
        }
        Format::Array => dense::array(&header, options.expand, lines.remainder())?,
    };
    Ok(Market {
        csr: entries.csr,
        field: header.field,
        symmetry: header.symmetry,
        stored: header.stored,
        kind,
        duplicates: entries.duplicates,
        triangles: entries.triangles,
        text_bytes: header.bytes + entries.bytes,
        file_bytes: text.input.size(),
    })
}
