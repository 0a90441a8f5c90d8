//! The parser of chunks of text. It returns entries grouped by ranges of rows, from which `assemble` makes the
//! matrix.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::super::super::assemble::{Chunk, Ranges};
use super::super::super::entry::Entry;
use super::super::super::error::Stop;
use super::super::super::field::Field;
use super::super::super::lines::Block;
use super::header::Header;
use super::line::entries;

/// The rows, columns and values of all chunks until the matrix is built. Threads take consecutive pieces of the arrays.
pub struct Store<'a>(pub Mutex<Arrays<'a>>);

type Arrays<'a> = (&'a mut [u16], &'a mut [u32], &'a mut [f64]);

impl<'a> Store<'a> {
    /// Returns the next `size` rows and columns and `values` values, or `None` if fewer are left.
    fn take(&self, size: usize, values: usize) -> Option<Arrays<'a>> {
        let mut rest = self.0.lock().expect("no thread panics while it holds the lock");
        let rows = rest.0.split_off_mut(..size)?;
        let columns = rest.1.split_off_mut(..size)?;
        Some((rows, columns, rest.2.split_off_mut(..values)?))
    }
}

/// Parses blocks of text on all threads. Returns the results in the order of the file and the size of the text in
/// bytes.
pub fn parse_all<'a, S, T: Send>(
    blocks: impl Iterator<Item = io::Result<Block<'a>>> + Send,
    scratch: impl Fn() -> S + Sync + Send,
    parse: impl Fn(&mut S, &[u8]) -> Option<T> + Sync + Send,
) -> Result<(Vec<T>, u64), Stop> {
    let bytes = AtomicU64::new(0);
    let scratch = || (scratch(), Vec::new());
    let parsed = blocks.enumerate().par_bridge().map_init(scratch, |scratch, (place, block)| {
        let (scratch, buffer) = scratch;
        let text = block.and_then(|block| block.read(buffer)).map_err(|_| None)?;
        bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        Ok((place, parse(scratch, text).ok_or(None)?))
    });
    let mut parsed = parsed.collect::<Result<Vec<_>, Stop>>()?;
    parsed.sort_unstable_by_key(|&(place, _)| place);
    Ok((parsed.into_iter().map(|(_, result)| result).collect(), bytes.into_inner()))
}

/// A parser of chunks in the coordinate format. Each thread has its own, because it reuses its buffers.
pub struct Parser<'a, 's> {
    pub header: &'a Header,
    pub ranges: Ranges,
    /// The sign of mirrored values, if entries are mirrored.
    pub mirror: Option<f64>,
    pub store: &'a Store<'s>,
    pub buffer: Buffer,
}

impl<'s> Parser<'_, 's> {
    pub fn parse(&mut self, text: &[u8]) -> Option<Chunk<'s>> {
        let (stored, values) = match self.header.field {
            Field::Pattern => (self.lines::<true>(text)?, 0),
            _ => (self.lines::<false>(text)?, self.buffer.size),
        };
        let (rows, columns, values) = self.store.take(self.buffer.size, values)?;
        let ends = std::mem::take(&mut self.buffer.counts);
        let above = self.buffer.above;
        let mut chunk = Chunk { rows, columns, values, ends, stored, above };
        self.group(&mut chunk);
        Some(chunk)
    }

    fn lines<const PATTERN: bool>(&mut self, text: &[u8]) -> Option<u64> {
        // The compiler keeps the fields of a local buffer and header in registers.
        let mut buffer = std::mem::take(&mut self.buffer);
        let header = *self.header;
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
            let row = (key >> 32) as u32;
            let end = &mut chunk.ends[self.ranges.of(row)];
            let place = *end as usize;
            *end += 1;
            chunk.rows[place] = self.ranges.row_within(row);
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

#[derive(Default)]
pub struct Buffer {
    /// The positions, with the row in the upper and the column in the lower half.
    keys: Vec<u64>,
    /// The values; unused for a pattern.
    values: Vec<f64>,
    /// The number of entries. The vectors are longer: writing into them is faster than appending to them.
    size: usize,
    /// The number of mirrored entries that the file stores above the diagonal.
    above: u64,
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
        let capacity = (2 * self.size).max(1 << 12);
        self.keys.resize(capacity, 0);
        if !PATTERN {
            self.values.resize(capacity, 0.0);
        }
    }
}
