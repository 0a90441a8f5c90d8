//! The parser of chunks of text. It returns entries grouped by ranges of rows, from which `build` makes the
//! matrix.

use std::io;
use std::ptr::{NonNull, without_provenance_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::mman::{MmapAdvise, madvise};
use num_traits::Zero;
use rayon::prelude::*;

use super::entry::{Entry, entries};
use super::error::{Defect, Fault, Stop};
use super::header::{Field, Header};
use super::text::Block;
use crate::Csr;
use crate::system::pages::PAGE;

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
}

pub struct Entries {
    pub csr: Csr<f64>,
    pub duplicates: u64,
    /// The numbers of stored entries above and below the diagonal; 0 if entries are not mirrored.
    pub triangles: [u64; 2],
    pub bytes: u64,
}

/// The rows, columns and values of all chunks until the matrix is built. Threads take consecutive pieces of the arrays.
pub struct Store<'a>(pub Mutex<Arrays<'a>>);

type Arrays<'a> = (&'a mut [u16], &'a mut [u32], &'a mut [f64]);

impl<'a> Store<'a> {
    /// Returns the next `size` rows and columns and `values` values, or `None` if fewer are left.
    fn take(&self, size: usize, values: usize) -> Option<Arrays<'a>> {
        let mut rest = self.0.lock().expect("no thread panics while it holds the lock");
        let (rows, columns) = (rest.0.split_off_mut(..size)?, rest.1.split_off_mut(..size)?);
        Some((rows, columns, rest.2.split_off_mut(..values)?))
    }
}

/// Allocates `size` zeros, or returns an error if they do not fit in memory. The pages are used only when they
/// are written.
pub fn zeros<T: Zero + Clone>(size: usize) -> Result<Vec<T>, Fault> {
    // `vec!` gets zeroed pages from the system but aborts if there is no memory, so this is checked first.
    if Vec::<T>::new().try_reserve_exact(size).is_err() {
        let bytes = size as u64 * size_of::<T>() as u64;
        let message = format!("an array of {bytes} bytes for this matrix does not fit in memory");
        return Err(Defect::unsupported(message).into());
    }
    Ok(vec![T::zero(); size])
}

/// Allocates `size` zeros for temporary use in huge pages, which the kernel maps faster. The matrix itself is in the
/// pages of all other memory that products use.
pub fn scratch<T: Zero + Clone>(size: usize) -> Result<Vec<T>, Fault> {
    const WORTHWHILE: usize = 1 << 22;
    let scratch = zeros(size)?;
    let start = (scratch.as_ptr() as usize).next_multiple_of(PAGE);
    let bytes = (scratch.as_ptr_range().end as usize).saturating_sub(start);
    if let Some(start) = NonNull::new(without_provenance_mut(start))
        && size_of_val(&scratch[..]) >= WORTHWHILE
    {
        // SAFETY: the range starts at the first page boundary within the array. The advice does not change
        // the contents, and a failure has no consequences.
        let _ = unsafe { madvise(start, bytes, MmapAdvise::MADV_HUGEPAGE) };
    }
    Ok(scratch)
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
        let (ends, above) = (std::mem::take(&mut self.buffer.counts), self.buffer.above);
        let mut chunk = Chunk { rows, columns, values, ends, stored, above };
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
