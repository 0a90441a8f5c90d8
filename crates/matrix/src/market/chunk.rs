//! The parser of chunks of text. It returns entries grouped by ranges of rows, from which `build` makes the
//! matrix.

use std::io;

use rayon::prelude::*;

use super::entries::entries;
use super::entry::Entry;
use super::error::Stop;
use super::header::{Field, Header};
use super::memory::Arena;
use super::text::Block;
use crate::Csr;

/// The division of the rows into ranges of `1 << shift` rows, so that the entries of a range can be placed
/// within a cache, and the index of a row within its range fits into 16 bits.
#[derive(Clone, Copy)]
pub struct Ranges {
    pub shift: u32,
    pub count: usize,
}

/// The intended number of entries of a range: their columns, values and cursors fit in a second-level cache.
const RANGE_ENTRIES: u64 = 1 << 16;
/// The largest number of ranges, which bounds the table `Chunk::ends`. With more than 2^27 rows there can be
/// more.
const MAX_RANGES: u64 = 1 << 11;

impl Ranges {
    pub fn new(rows: usize, entries: u64) -> Self {
        let wanted = (entries / RANGE_ENTRIES + 1).min(MAX_RANGES);
        let rows = rows as u64;
        let shift = rows.div_ceil(wanted).max(1).next_power_of_two().trailing_zeros().min(16);
        let count = rows.div_ceil(1 << shift) as usize;
        Self { shift, count }
    }

    fn of(self, key: u64) -> usize {
        (key >> 32 >> self.shift) as usize
    }

    fn row_within(self, key: u64) -> u16 {
        (key >> 32 & ((1 << self.shift) - 1)) as u16
    }
}

/// The entries of one chunk, mirrored ones included, grouped by range and otherwise in the order
/// of the file.
pub struct Chunk<'a> {
    /// The rows, counted from the first row of the range to save memory.
    pub rows: &'a mut [u16],
    pub columns: &'a mut [u32],
    /// The values; empty for a pattern.
    pub values: &'a mut [f64],
    /// The end of each range in the arrays.
    pub ends: Vec<u32>,
    /// The number of entries in the text, without mirrored ones.
    pub stored: u64,
    /// The number of those above the diagonal, if entries are mirrored.
    pub above: u64,
    /// The size of the text in bytes.
    pub bytes: u64,
}

/// The result of parsing the lines after the size line.
pub struct Entries {
    pub csr: Csr<f64>,
    pub duplicates: u64,
    /// The numbers of stored entries above and below the diagonal; 0 if entries are not mirrored.
    pub triangles: [u64; 2],
    /// The size of these lines in bytes.
    pub bytes: u64,
}

/// The arrays that store the entries of all chunks until the matrix is built.
pub struct Store<'a> {
    pub rows: Arena<'a, u16>,
    pub columns: Arena<'a, u32>,
    pub values: Arena<'a, f64>,
}

/// Parses blocks of text on all threads and returns the results in the order of the file.
pub fn parse_all<'a, S, T: Send>(
    blocks: impl Iterator<Item = io::Result<Block<'a>>> + Send,
    scratch: impl Fn() -> S + Sync + Send,
    parse: impl Fn(&mut S, &[u8]) -> Option<T> + Sync + Send,
) -> Result<Vec<T>, Stop> {
    let scratch = || (scratch(), Vec::new());
    let parsed = blocks.enumerate().par_bridge().map_init(scratch, |scratch, (place, block)| {
        let (scratch, buffer) = scratch;
        let text = block.and_then(|block| block.read(buffer)).map_err(|_| Stop::Defect)?;
        Ok((place, parse(scratch, text).ok_or(Stop::Defect)?))
    });
    let mut parsed = parsed.collect::<Result<Vec<_>, Stop>>()?;
    parsed.sort_unstable_by_key(|&(place, _)| place);
    Ok(parsed.into_iter().map(|(_, result)| result).collect())
}

/// A parser of chunks in the coordinate format. Each thread has its own, because it reuses its buffers.
pub struct Parser<'a, 's> {
    header: &'a Header,
    ranges: Ranges,
    /// The sign of mirrored values, if entries are mirrored.
    mirror: Option<f64>,
    store: &'a Store<'s>,
    buffer: Buffer,
}

impl<'a, 's> Parser<'a, 's> {
    pub fn new(
        header: &'a Header,
        ranges: Ranges,
        mirror: Option<f64>,
        store: &'a Store<'s>,
    ) -> Self {
        Self { header, ranges, mirror, store, buffer: Buffer::default() }
    }

    /// Parses the entries of `text`. Returns `None` if a line is invalid or the file has too many entries.
    pub fn parse(&mut self, text: &[u8]) -> Option<Chunk<'s>> {
        let (stored, values) = match self.header.field {
            Field::Pattern => (self.lines::<true>(text)?, 0),
            _ => (self.lines::<false>(text)?, self.buffer.size),
        };
        let mut chunk = Chunk {
            rows: self.store.rows.take(self.buffer.size)?,
            columns: self.store.columns.take(self.buffer.size)?,
            values: self.store.values.take(values)?,
            ends: std::mem::take(&mut self.buffer.counts),
            stored,
            above: self.buffer.above,
            bytes: text.len() as u64,
        };
        self.group(&mut chunk);
        Some(chunk)
    }

    fn lines<const PATTERN: bool>(&mut self, text: &[u8]) -> Option<u64> {
        // The compiler keeps the fields of a local buffer and header in registers.
        let (mut buffer, header) = (std::mem::take(&mut self.buffer), *self.header);
        buffer.begin(self.ranges);
        let mirror = self.mirror;
        let push = |entry| buffer.push_with_image::<PATTERN>(entry, mirror);
        let stored = entries::<PATTERN>(text, &header, push)?;
        self.buffer = buffer;
        Some(stored)
    }

    /// Sorts the entries by range with a stable counting sort. `chunk.ends` must contain the counts at first.
    fn group(&self, chunk: &mut Chunk) {
        let keys = &self.buffer.keys[..self.buffer.size];
        let mut start = 0;
        for end in &mut chunk.ends {
            start += std::mem::replace(end, start);
        }
        let mut place = |key| {
            let end = &mut chunk.ends[self.ranges.of(key)];
            let place = *end as usize;
            *end += 1;
            chunk.rows[place] = self.ranges.row_within(key);
            chunk.columns[place] = key as u32;
            place
        };
        if chunk.values.is_empty() {
            for &key in keys {
                place(key);
            }
        } else {
            for (&key, &value) in keys.iter().zip(&self.buffer.values) {
                chunk.values[place(key)] = value;
            }
        }
    }
}

/// The entries of a chunk in the order of the file.
#[derive(Default)]
struct Buffer {
    /// The positions, with the row in the upper and the column in the lower half.
    keys: Vec<u64>,
    /// The values; unused for a pattern.
    values: Vec<f64>,
    /// The number of entries. The vectors are longer: writing into them is faster than appending to them.
    size: usize,
    /// The number of mirrored entries that the file stores above the diagonal.
    above: u64,
    /// The number of entries in each range of rows.
    counts: Vec<u32>,
    shift: u32,
}

impl Buffer {
    fn begin(&mut self, ranges: Ranges) {
        (self.size, self.above) = (0, 0);
        self.counts = vec![0; ranges.count];
        self.shift = ranges.shift;
    }

    #[inline(always)]
    fn push_with_image<const PATTERN: bool>(&mut self, entry: Entry, mirror: Option<f64>) {
        self.push::<PATTERN>(entry);
        if let Some(image) = mirror.and_then(|sign| entry.image(sign)) {
            self.push::<PATTERN>(image);
            self.above += u64::from(entry.col > entry.row);
        }
    }

    #[inline(always)]
    fn push<const PATTERN: bool>(&mut self, entry: Entry) {
        if self.size == self.keys.len() {
            self.grow::<PATTERN>();
        }
        self.keys[self.size] = u64::from(entry.row) << 32 | u64::from(entry.col);
        if !PATTERN {
            self.values[self.size] = entry.value;
        }
        self.size += 1;
        self.counts[(entry.row >> self.shift) as usize] += 1;
    }

    #[cold]
    fn grow<const PATTERN: bool>(&mut self) {
        let room = (2 * self.size).max(1 << 12);
        self.keys.resize(room, 0);
        if !PATTERN {
            self.values.resize(room, 0.0);
        }
    }
}
