//! A coordinate file read entry by entry, for who keeps a part of it only.

use std::path::{Path, PathBuf};

use super::chunk::entries;
use super::entry::Entry;
use super::error::Fault;
use super::header::{Field, Format, Header};
use super::text::Text;
use super::{MarketError, Options, defect, memory};
use crate::matrix::bounds::ReadBounds;

/// A file of which no more is known than its header. It may have more entries than 32-bit indices allow.
pub struct Stream {
    path: PathBuf,
    text: Text<'static>,
    header: Header,
    kind: Option<String>,
    /// The sign of mirrored values, if entries are mirrored.
    mirror: Option<f64>,
    /// See [`Options::chunk`].
    chunk: usize,
}

impl Stream {
    /// Reads the header; `None` for an array, which [`read`](super::read) reads.
    ///
    /// # Errors
    /// What is wrong with the file so far.
    pub fn open(path: &Path, options: &Options) -> Result<Option<Self>, MarketError> {
        let named = |fault: Fault| MarketError::new(path, fault);
        let text = Text::open(path, ReadBounds::NONE).map_err(|error| named(error.into()))?;
        let (header, kind) = Header::read(&mut text.lines(options.chunk)).map_err(named)?;
        let mirror = header.symmetry.mirror_sign().filter(|_| options.expand);
        let chunk = options.chunk;
        let stream = Self { path: path.into(), text, header, kind, mirror, chunk };
        Ok((header.format == Format::Coordinate).then_some(stream))
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.header.rows, self.header.cols)
    }

    /// Entries that the size line announces.
    pub fn size_hint(&self) -> u64 {
        self.header.stored
    }

    /// What the collection says of the problem.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.text.input.size()
    }

    /// Whether both triangles come from one.
    pub fn mirrors(&self) -> bool {
        self.mirror.is_some()
    }

    /// How many entries the text's blocks with a number that is `mine` add to each row, and how many of
    /// them are stored: over all blocks as many as are announced.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn lengths(&self, mine: impl Fn(usize) -> bool) -> Result<(Vec<u64>, u64), MarketError> {
        let zeros = memory::zeros(self.header.rows);
        let mut lengths = zeros.map_err(|fault| MarketError::new(&self.path, fault))?;
        let stored = self.blocks(mine, |row, _, _| lengths[row] += 1)?;
        Ok((lengths, stored))
    }

    /// Hands all entries to `take` in the order of the file, each followed by its mirror image if it has
    /// one: row, column, value.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn each(&self, take: impl FnMut(usize, u32, f64)) -> Result<(), MarketError> {
        self.blocks(|_| true, take).map(|_| ())
    }

    fn blocks(
        &self,
        mine: impl Fn(usize) -> bool,
        mut take: impl FnMut(usize, u32, f64),
    ) -> Result<u64, MarketError> {
        let mut both = |entry: Entry| {
            take(entry.row as usize, entry.col, entry.value);
            if let Some(image) = self.mirror.and_then(|sign| entry.image(sign)) {
                take(image.row as usize, image.col, image.value);
            }
        };
        let mut lines = self.text.lines(self.chunk);
        Header::read(&mut lines).map_err(|fault| MarketError::new(&self.path, fault))?;
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

    /// The first thing that is wrong with the file, when something is.
    pub fn defect(&self) -> MarketError {
        MarketError::new(&self.path, defect::first(&self.text, self.chunk))
    }
}
