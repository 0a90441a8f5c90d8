//! A chunk of text becomes entries grouped by ranges of rows, ready for `build`.

use std::borrow::Cow;
use std::io;

use rayon::prelude::*;

use super::entry::{self, Entry};
use super::header::{Field, Header, Symmetry};
use super::memory::Arena;
use super::{Stop, scan};

/// Equal ranges of `1 << shift` rows, so that the entries of each are placed within a cache, and a
/// row within its range takes 16 bits.
#[derive(Clone, Copy)]
pub struct Ranges {
    pub shift: u32,
    pub count: usize,
}

/// Entries of one range, whose columns, values and cursors then fit in a second-level cache.
const RANGE_ENTRIES: u64 = 1 << 16;
/// Bounds the table of range ends that each chunk carries, but for more than 2^27 rows.
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
    /// Counted from the first row of the range, to save memory.
    pub rows: &'a mut [u16],
    pub columns: &'a mut [u32],
    /// Empty for a pattern.
    pub values: &'a mut [f64],
    /// Where each range ends in the arrays.
    pub ends: Vec<u32>,
    /// Entries in the text.
    pub stored: u64,
    pub bytes: u64,
}

/// Where all chunks keep their entries until the matrix is built.
pub struct Store<'a> {
    pub rows: Arena<'a, u16>,
    pub columns: Arena<'a, u32>,
    pub values: Arena<'a, f64>,
}

/// Parses blocks of text on all threads and returns the results in the order of the file.
pub fn parse_all<'a, S, T: Send>(
    blocks: impl Iterator<Item = io::Result<Cow<'a, [u8]>>> + Send,
    scratch: impl Fn() -> S + Sync + Send,
    parse: impl Fn(&mut S, &[u8]) -> Option<T> + Sync + Send,
) -> Result<Vec<T>, Stop> {
    let parsed = blocks.enumerate().par_bridge().map_init(scratch, |scratch, (place, block)| {
        let block = block.map_err(|_| Stop::Defect)?;
        Ok((place, parse(scratch, &block).ok_or(Stop::Defect)?))
    });
    let mut parsed = parsed.collect::<Result<Vec<_>, Stop>>()?;
    parsed.sort_unstable_by_key(|&(place, _)| place);
    Ok(parsed.into_iter().map(|(_, result)| result).collect())
}

/// The line that begins at `at`, with its end.
pub fn line_at(text: &[u8], at: usize) -> &[u8] {
    let rest = &text[at..];
    let end = rest.iter().position(|&byte| byte == b'\n');
    &rest[..end.map_or(rest.len(), |end| end + 1)]
}

/// Parses chunks of coordinates; one for each thread, for the sake of its buffers.
pub struct Parser<'a, 's> {
    header: &'a Header,
    ranges: Ranges,
    /// The sign of mirrored values, if entries are mirrored.
    mirror: Option<f64>,
    store: &'a Store<'s>,
    /// Row in the high half, column in the low.
    keys: Vec<u64>,
    values: Vec<f64>,
}

impl<'a, 's> Parser<'a, 's> {
    pub fn new(
        header: &'a Header,
        ranges: Ranges,
        mirror: Option<f64>,
        store: &'a Store<'s>,
    ) -> Self {
        Self { header, ranges, mirror, store, keys: Vec::new(), values: Vec::new() }
    }

    /// The entries of `text`; none if something is wrong with it, or they are more than announced.
    pub fn parse(&mut self, text: &[u8]) -> Option<Chunk<'s>> {
        self.keys.clear();
        self.values.clear();
        let stored = match self.header.field {
            Field::Pattern => self.lines::<true>(text)?,
            _ => self.lines::<false>(text)?,
        };
        let mut chunk = Chunk {
            rows: self.store.rows.take(self.keys.len())?,
            columns: self.store.columns.take(self.keys.len())?,
            values: self.store.values.take(self.values.len())?,
            ends: vec![0; self.ranges.count],
            stored,
            bytes: text.len() as u64,
        };
        self.group(&mut chunk);
        Some(chunk)
    }

    fn lines<const PATTERN: bool>(&mut self, text: &[u8]) -> Option<u64> {
        let (mut at, mut stored) = (0, 0);
        while at < text.len() {
            let (entry, length) = match self.quick::<PATTERN>(&text[at..]) {
                Some((entry, length)) => (Some(entry), length),
                None => {
                    let line = line_at(text, at);
                    (entry::coordinate(line, self.header).ok()?, line.len())
                }
            };
            at += length;
            if let Some(entry) = entry {
                stored += 1;
                self.push::<PATTERN>(entry);
            }
        }
        Some(stored)
    }

    #[inline(always)]
    fn quick<const PATTERN: bool>(&self, text: &[u8]) -> Option<(Entry, usize)> {
        let (row, col, value, length) = scan::coordinate::<PATTERN>(text)?;
        let (row, col) = (row.wrapping_sub(1), col.wrapping_sub(1));
        let inside = row < self.header.rows as u64 && col < self.header.cols as u64;
        let doubtful = self.header.symmetry == Symmetry::SkewSymmetric && row == col
            || self.header.field == Field::UnsignedInteger && value < 0.0;
        let entry = Entry { row: row as u32, col: col as u32, value };
        (inside && !doubtful).then_some((entry, length))
    }

    #[inline(always)]
    fn push<const PATTERN: bool>(&mut self, entry: Entry) {
        let (row, col) = (u64::from(entry.row), u64::from(entry.col));
        self.keys.push(row << 32 | col);
        if !PATTERN {
            self.values.push(entry.value);
        }
        if let Some(sign) = self.mirror
            && row != col
        {
            self.keys.push(col << 32 | row);
            if !PATTERN {
                self.values.push(sign * entry.value);
            }
        }
    }

    /// A stable counting sort by range.
    fn group(&self, chunk: &mut Chunk) {
        for &key in &self.keys {
            chunk.ends[self.ranges.of(key)] += 1;
        }
        let mut start = 0;
        for end in &mut chunk.ends {
            start += std::mem::replace(end, start);
        }
        for (entry, &key) in self.keys.iter().enumerate() {
            let end = &mut chunk.ends[self.ranges.of(key)];
            let place = *end as usize;
            *end += 1;
            chunk.rows[place] = self.ranges.row_within(key);
            chunk.columns[place] = key as u32;
            if let Some(value) = self.values.get(entry) {
                chunk.values[place] = *value;
            }
        }
    }
}
