//! A file whose entries are passed one after another and not stored, as each rank of MPI reads it.

use std::path::Path;

use super::arrays::zeros;
use super::entry::Entry;
use super::error::ReadError;
use super::field::Field;
use super::formats::market;
use super::formats::market::header::{Header, Layout};
use super::formats::market::line::entries;
use super::open::Opened;
use super::options::Options;
use crate::memory::ReadBounds;

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
    /// in the Matrix Market format, which only [`read`](super::read()) supports.
    pub fn open(path: &Path, options: &Options) -> Result<Option<Self>, ReadError> {
        let file = Opened::open(path, options, ReadBounds::NONE)?;
        if file.format.name != market::FORMAT.name {
            return Ok(None);
        }
        let read = Header::read(&mut file.text.lines(options.chunk));
        let (header, kind) = read.map_err(|fault| file.text.error(fault))?;
        let mirror = header.symmetry.mirror_sign().filter(|_| options.expand);
        let is_coordinate = header.layout == Layout::Coordinate;
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
        let zeros = zeros(self.header.rows);
        let mut lengths = zeros.map_err(|fault| self.file.text.error(fault))?;
        let stored = self.blocks(mine, |row, _, _| lengths[row] += 1)?;
        Ok((lengths, stored))
    }

    /// Calls `take` with row, column and value of each entry in the order of the file. If entries are mirrored,
    /// each one is followed by its mirror image.
    pub fn each(&self, take: impl FnMut(usize, u32, f64)) -> Result<(), ReadError> {
        self.blocks(|_| true, take).map(|_| ())
    }

    fn blocks(&self, mine: impl Fn(usize) -> bool, mut take: impl FnMut(usize, u32, f64)) -> Result<u64, ReadError> {
        let mut both = |entry: Entry| {
            take(entry.row as usize, entry.col, entry.value);
            if let Some(image) = self.mirror.and_then(|sign| entry.image(sign)) {
                take(image.row as usize, image.col, image.value);
            }
        };
        let mut lines = self.file.text.lines(self.file.options.chunk);
        Header::read(&mut lines).map_err(|fault| self.file.text.error(fault))?;
        let mut stored = 0;
        let mut buffer = Vec::new();
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
        self.file.text.error(market::defect(&self.file.text, &self.file.options))
    }
}
