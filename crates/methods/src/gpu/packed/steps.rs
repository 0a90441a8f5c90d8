//! The steps of a slice: in each of them, a lane of a warp has at most one nonzero.

use std::array::from_fn;
use std::ops::Range;

use spmv_matrix::Csr;

pub const LANES: usize = 32;

/// The nonzeros of a step: for each lane, the index in CSR.
pub type Entries = [Option<u32>; LANES];

/// Returns the steps of rows, given by the ranges of their nonzeros, which the `lanes` lanes of each row take in turn.
pub fn by_rows(ranges: &[Range<usize>], lanes: usize) -> Vec<Entries> {
    let longest = ranges.iter().map(Range::len).max().unwrap_or(0);
    let entry = |step: usize, lane: usize| {
        let range = ranges.get(lane / lanes)?;
        let k = range.start + step * lanes + lane % lanes;
        (k < range.end).then_some(k as u32)
    };
    (0..longest.div_ceil(lanes)).map(|step| from_fn(|lane| entry(step, lane))).collect()
}

/// Returns the steps of rows with a lane each and a diagonal per step; `None` if there are more than `most` diagonals.
pub fn band<T>(csr: &Csr<T>, rows: Range<usize>, most: usize) -> Option<Vec<Entries>> {
    let mut ranges: Vec<_> = rows.clone().map(|row| csr.row(row)).collect();
    let mut steps = Vec::new();
    let diagonal = |lane: usize, range: &Range<usize>| {
        let column = (!range.is_empty()).then(|| csr.column_indices()[range.start])?;
        Some(i64::from(column) - (rows.start + lane) as i64)
    };
    let lowest = |ranges: &[Range<usize>]| {
        ranges.iter().enumerate().filter_map(|(lane, range)| diagonal(lane, range)).min()
    };
    while let Some(lowest) = lowest(&ranges) {
        if steps.len() == most {
            return None;
        }
        let mut entries = [None; LANES];
        for (lane, range) in ranges.iter_mut().enumerate() {
            if diagonal(lane, range) == Some(lowest) {
                entries[lane] = range.next().map(|k| k as u32);
            }
        }
        steps.push(entries);
    }
    Some(steps)
}

/// The stream of column offsets of a slice.
pub struct Stream<'a> {
    columns: [u32; LANES],
    words: &'a mut Vec<u32>,
    start: usize,
    bits: usize,
}

impl<'a> Stream<'a> {
    /// Starts a stream at the end of `words`. Lane k starts at column `first + k`.
    pub fn new(first: u32, words: &'a mut Vec<u32>) -> Self {
        let columns = from_fn(|lane| first.wrapping_add(lane as u32));
        Self { columns, start: words.len(), words, bits: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// Writes the offsets of a step. Returns the step as the kernel reads it: a distance and a width in bits, and a mask.
    pub fn step(&mut self, column_indices: &[u32], entries: &Entries) -> [u32; 2] {
        let delta = |(lane, entry): (usize, &Option<u32>)| {
            entry
                .map(|k| (lane, column_indices[k as usize].wrapping_sub(self.columns[lane]) as i32))
        };
        let deltas: Vec<(usize, i32)> = entries.iter().enumerate().filter_map(delta).collect();
        let least = deltas.iter().map(|(_, delta)| *delta).min().unwrap_or(0);
        let most = deltas.iter().map(|(_, delta)| *delta).max().unwrap_or(0);
        let near = least << 6 >> 6 == least;
        let advance = if near { least } else { 0 };
        let width =
            if near { 32 - most.wrapping_sub(least).cast_unsigned().leading_zeros() } else { 32 };
        for column in &mut self.columns {
            *column = column.wrapping_add_signed(advance);
        }
        for &(lane, delta) in &deltas {
            let offset = delta.wrapping_sub(advance).cast_unsigned();
            self.columns[lane] = self.columns[lane].wrapping_add(offset);
            self.write(offset, width);
        }
        let lanes = deltas.iter().fold(0, |lanes, (lane, _)| lanes | 1 << lane);
        [advance.cast_unsigned() << 6 | width, lanes]
    }

    /// Appends the `width` lowest bits of `offset`.
    fn write(&mut self, offset: u32, width: u32) {
        if width == 0 {
            return;
        }
        let end = self.bits + width as usize;
        self.words.resize(self.start + end.div_ceil(32), 0);
        let (word, shift) = (self.start + self.bits / 32, self.bits % 32);
        self.words[word] |= offset << shift;
        if shift + width as usize > 32 {
            self.words[word + 1] |= offset >> (32 - shift);
        }
        self.bits = end;
    }
}
