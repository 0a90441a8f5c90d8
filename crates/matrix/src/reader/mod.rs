//! The reader of matrix files, and the writer of Matrix Market files.
//!
//! The first bytes show how a file is packed (`layers`, `compression`, `zip`) and which format it has (`contents`),
//! also if it is one that is not read (`foreign`). Formats other than Matrix Market are in `formats`.
//!
//! A Matrix Market file is split at line ends into chunks of text (`text`). All threads parse the chunks (`chunk`, with
//! `plain` and `scan` for ordinary lines and `entry` for all others) and group the entries by ranges of rows. Then the
//! entries are placed range by range into the CSR arrays (`build`). The threads only detect that the file has a defect.
//! The first defect is then searched for by a sequential pass from the start, so that the message does not depend on
//! the number of threads.

mod build;
mod chunk;
mod compression;
mod contents;
#[cfg(target_arch = "x86_64")]
mod decimal;
mod entry;
mod error;
mod foreign;
mod formats;
mod header;
mod input;
mod layers;
#[cfg(target_arch = "x86_64")]
mod plain;
mod scan;
mod text;
mod write;
mod zip;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use build::sum;
pub use compression::decompressed;
pub use contents::is_konect_file;
pub use error::{Defect, ReadError};
pub use formats::Edges;
pub use header::{Banner, Field, Sizes, Symmetry};
pub use text::LONGEST_LINE;
pub use write::write;
pub(crate) use write::{write_block, write_head};

use super::Csr;
use super::memory::{ReadBounds, SizeHint};
use contents::Contents;
use entry::{Entry, entries};
use error::{Fault, Stop};
use header::{Format, Header, check_count};
use text::{Lines, Text};

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether a symmetric or skew-symmetric file is expanded to the whole matrix. Otherwise only the stored
    /// triangle is returned.
    pub expand: bool,
    /// What an edge list means, as far as the user declares it.
    pub edges: Edges,
    /// The approximate size in bytes of the chunks of text that a thread parses. It does not affect the result.
    pub chunk: usize,
}

impl Options {
    pub fn new(expand: bool, edges: Option<Edges>) -> Self {
        Self { expand, edges: edges.unwrap_or_default(), ..Self::default() }
    }

    /// Returns what determines the matrix that is read from a file, in words.
    pub fn words(&self) -> String {
        let expanded = if self.expand { "expanded" } else { "as stored" };
        format!("{expanded} {}", self.edges).trim_end().to_owned()
    }
}

impl Default for Options {
    fn default() -> Self {
        // The entries of a chunk of this size fit into the second-level cache of a core.
        Self { expand: true, edges: Edges::default(), chunk: 1 << 20 }
    }
}

/// A matrix and the facts that its file states about it.
#[derive(Debug)]
pub struct ReadMatrix {
    /// The matrix, expanded if requested. Duplicates are summed and explicit zeros retained.
    pub csr: Csr<f64>,
    pub field: Field,
    /// The symmetry, which determines the part of the matrix that the file stores.
    pub symmetry: Symmetry,
    /// The number of entries in the file.
    pub stored: u64,
    /// The kind of problem, from the comment `% kind: …`.
    pub kind: Option<String>,
    /// The number of stored entries that have the position of an earlier entry.
    pub duplicates: u64,
    /// The numbers of entries that a symmetric file in the coordinate format stores above and below the diagonal, if it
    /// is expanded; otherwise 0.
    pub triangles: [u64; 2],
    /// The size of the uncompressed text in bytes.
    pub text_bytes: u64,
    pub file_bytes: u64,
    /// Sentences about what the reader had to guess.
    pub remarks: Vec<String>,
}

/// Reads the matrix file at `path` on the current rayon pool: Matrix Market, Rutherford-Boeing and Harwell-Boeing, edge
/// lists, METIS, DIMACS, DLMC, Octave's text or scipy's `.npz`, plain or compressed by gzip, bzip2, xz, zstd or zip, or
/// in a tar archive.
///
/// Of Matrix Market, both formats, all symmetries and all fields except `complex` are supported. All elements of an
/// array become entries. The values of a `pattern` are 1, and `hermitian` means symmetric because no value is
/// complex. Numbers of an `integer` file may have a fraction. Entries of a symmetric file may lie in either
/// triangle. Entries with the same position are summed in the order of the file. With expansion, (i, j) and
/// (j, i) of a symmetric file have the same position: both positions get the sum, and this counts as one
/// duplicate. A file is read in blocks and is never in memory as a whole; a pipe or device is read into memory.
/// The error names the first defect of the file and its line.
pub fn read(path: &Path, options: &Options) -> Result<ReadMatrix, ReadError> {
    Opened::open(path, options, ReadBounds::NONE)?.read()
}

/// An open file, or a stream that has been read to its end.
pub struct Opened<'c> {
    text: Text<'c>,
    options: Options,
    contents: Contents,
}

impl<'c> Opened<'c> {
    pub fn open(path: &Path, options: &Options, bounds: ReadBounds<'c>) -> Result<Self, ReadError> {
        let text = Text::open(path, bounds)?;
        let declares = options.edges != Edges::default();
        let contents = match text.arrays.is_empty() {
            true => Contents::of(&text.head, &text.name, declares),
            false => Contents::Npz,
        };
        Ok(Self { text, options: *options, contents })
    }

    /// Returns whether the text was read from a pipe or a device, which cannot be read again.
    pub fn is_stream(&self) -> bool {
        self.text.input.is_stream()
    }

    pub fn bounds(&self) -> ReadBounds<'c> {
        self.text.input.bounds
    }

    /// Returns the memory in bytes that holds the contents of a stream; 0 for a file.
    pub fn stream_bytes(&self) -> u64 {
        self.text.input.stream_bytes()
    }

    /// Returns the size of the matrix according to a Matrix Market file; files in other formats are read without.
    pub fn size_hint(&self) -> Result<Option<SizeHint>, ReadError> {
        if self.contents != Contents::Market {
            return Ok(None);
        }
        Ok(Some(size_hint(&self.header()?.0, &self.text, &self.options)))
    }

    fn header(&self) -> Result<(Header, Option<String>), ReadError> {
        let header = Header::read(&mut self.text.lines(self.options.chunk));
        header.map_err(|fault| self.text.error(fault))
    }

    /// Reads the matrix; see [`read()`].
    pub fn read(&self) -> Result<ReadMatrix, ReadError> {
        if self.contents != Contents::Market {
            let read = formats::read(self.contents, &self.text, &self.options);
            return read.map_err(|fault| self.text.error(fault));
        }
        parse(&self.text, &self.options)
            .map_err(|stop| stop.map_or_else(|| self.defect(), |fault| self.text.error(fault)))
    }

    /// Searches for the first defect of a file that could not be parsed, from the start.
    fn defect(&self) -> ReadError {
        let fault = search(&mut self.text.lines(self.options.chunk)).err();
        self.text.error(fault.unwrap_or_else(|| Defect::changed().into()))
    }
}

/// Returns the size of the matrix and the temporary memory according to the header.
fn size_hint(header: &Header, text: &Text, options: &Options) -> SizeHint {
    let mirrored = options.expand && header.symmetry != Symmetry::General;
    let stored = header.stored.min(text.most_entries());
    let nnz = stored.saturating_mul(if mirrored { 2 } else { 1 });
    let scratch = match header.format {
        Format::Coordinate => build::coordinate_scratch_bytes(header.field, nnz),
        Format::Array => build::array_scratch_bytes(stored),
    };
    SizeHint { rows: header.rows, cols: header.cols, nnz, scratch }
}

fn parse(text: &Text, options: &Options) -> Result<ReadMatrix, Stop> {
    let mut lines = text.lines(options.chunk);
    let (header, kind) = Header::read(&mut lines)?;
    check_count(header.stored, "entries").map_err(|defect| lines.fault(defect))?;
    let needs = size_hint(&header, text, options).bytes();
    text.input.bounds.allow(needs).map_err(Fault::from)?;
    let entries = match header.format {
        Format::Coordinate => {
            let bounds = text.input.bounds.beside(needs);
            let most = text.most_entries();
            build::coordinate(&header, options.expand, most, bounds, lines.remainder())?
        }
        Format::Array => build::array(&header, options.expand, lines.remainder())?,
    };
    Ok(ReadMatrix {
        csr: entries.csr,
        field: header.field,
        symmetry: header.symmetry,
        stored: header.stored,
        kind,
        duplicates: entries.duplicates,
        triangles: entries.triangles,
        text_bytes: header.bytes + entries.bytes,
        file_bytes: text.input.size,
        remarks: one_percent_sign(&text.head).into_iter().collect(),
    })
}

fn one_percent_sign(head: &[u8]) -> Option<String> {
    let percents = head.iter().skip_while(|&&byte| byte != b'%').take_while(|&&byte| byte == b'%');
    (percents.count() == 1).then(|| "the banner has one percent sign instead of two".to_owned())
}

fn search(lines: &mut Lines) -> Result<(), Fault> {
    let (header, _) = Header::read(lines)?;
    let (mut found, stored) = (0, header.stored);
    while let Some(line) = lines.next()? {
        let entry = match header.format {
            Format::Coordinate => entry::coordinate(line, &header).map(|entry| entry.is_some()),
            Format::Array => entry::element(line, &header).map(|value| value.is_some()),
        };
        found += u64::from(entry.map_err(|defect| lines.fault(defect))?);
        if found > stored {
            let most = format!("the {stored} given in the size line");
            return Err(lines.fault(format!("there are more entries than {most}")));
        }
    }
    if found < stored {
        return Err(lines.fault(format!("the file ends after {found} of {stored} entries")));
    }
    Ok(())
}

/// An open coordinate file whose header has been read. It may have more entries than 32-bit indices allow.
pub struct Stream {
    file: Opened<'static>,
    header: Header,
    kind: Option<String>,
    /// The sign of mirrored values, if entries are mirrored.
    mirror: Option<f64>,
}

impl Stream {
    /// Opens a file and reads its header. Returns `None` for the array format and for files that are not
    /// in the Matrix Market format, which only [`read`](read()) supports.
    pub fn open(path: &Path, options: &Options) -> Result<Option<Self>, ReadError> {
        let file = Opened::open(path, options, ReadBounds::NONE)?;
        if file.contents != Contents::Market {
            return Ok(None);
        }
        let (header, kind) = file.header()?;
        let mirror = header.symmetry.mirror_sign().filter(|_| options.expand);
        let is_coordinate = header.format == Format::Coordinate;
        Ok(is_coordinate.then_some(Self { file, header, kind, mirror }))
    }

    pub fn shape(&self) -> (usize, usize) {
        (self.header.rows, self.header.cols)
    }

    /// Returns the number of stored entries according to the size line.
    pub fn size_hint(&self) -> u64 {
        self.header.stored
    }

    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    pub fn file_bytes(&self) -> u64 {
        self.file.text.input.size
    }

    /// Returns whether the entries of the stored triangle are mirrored.
    pub fn mirrors(&self) -> bool {
        self.mirror.is_some()
    }

    /// Parses only the blocks for whose number `mine` returns true. Returns the number of their entries in each
    /// row, mirrored ones included, and the number of their stored entries. The sum of the latter over all
    /// blocks must be [`Stream::size_hint`], which the caller checks.
    pub fn lengths(&self, mine: impl Fn(usize) -> bool) -> Result<(Vec<u64>, u64), ReadError> {
        let zeros = chunk::zeros(self.header.rows);
        let mut lengths = zeros.map_err(|fault| self.file.text.error(fault))?;
        let stored = self.blocks(mine, |row, _, _| lengths[row] += 1)?;
        Ok((lengths, stored))
    }

    /// Calls `take` with row, column and value of each entry in the order of the file. If entries are mirrored,
    /// each one is followed by its mirror image.
    pub fn each(&self, take: impl FnMut(usize, u32, f64)) -> Result<(), ReadError> {
        self.blocks(|_| true, take).map(|_| ())
    }

    fn blocks(
        &self,
        mine: impl Fn(usize) -> bool,
        mut take: impl FnMut(usize, u32, f64),
    ) -> Result<u64, ReadError> {
        let mut both = |entry: Entry| {
            take(entry.row as usize, entry.col, entry.value);
            if let Some(image) = self.mirror.and_then(|sign| entry.image(sign)) {
                take(image.row as usize, image.col, image.value);
            }
        };
        let mut lines = self.file.text.lines(self.file.options.chunk);
        Header::read(&mut lines).map_err(|fault| self.file.text.error(fault))?;
        let (mut stored, mut buffer) = (0, Vec::new());
        for (_, block) in lines.remainder().enumerate().filter(|(number, _)| mine(*number)) {
            let text = block.and_then(|block| block.read(&mut buffer));
            let text = text.map_err(|_| self.defect())?;
            let parsed = match self.header.field {
                Field::Pattern => entries::<true>(text, &self.header, &mut both),
                _ => entries::<false>(text, &self.header, &mut both),
            };
            stored += parsed.ok_or_else(|| self.defect())?;
        }
        Ok(stored)
    }

    /// Returns the first defect of a file that is known to have one.
    pub fn defect(&self) -> ReadError {
        self.file.defect()
    }
}
