//! Makes a matrix of entries that are grouped by ranges of rows, on all threads.

use std::ops::Range;
use std::ptr::{NonNull, without_provenance_mut};

use nix::sys::mman::{MmapAdvise, madvise};
use num_traits::Zero;
use rayon::prelude::*;

use super::arrays::{check_count, sum, zeros};
use super::error::Fault;
use crate::Csr;
use crate::memory::{ReadBounds, ReadStop};
use crate::system::pages::{PAGE, provide_pages};

/// The memory for an entry of a row that is sorted, in bytes: column and value, in a buffer that may have doubled, and
/// half of them again.
const SORTED: u64 = 40;

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

    #[inline(always)]
    pub fn of(self, row: u32) -> usize {
        (row >> self.shift) as usize
    }

    #[inline(always)]
    pub fn row_within(self, row: u32) -> u16 {
        (row & ((1 << self.shift) - 1)) as u16
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

/// Makes a matrix of this shape of the entries of chunks, which may be `mirrored` ones too. Entries with the same
/// position are summed in the order of the chunks. Returns also the number of stored entries that were duplicates.
pub fn assemble(
    [rows, cols]: [usize; 2],
    ranges: Ranges,
    mirrored: bool,
    chunks: &[Chunk],
    bounds: ReadBounds,
) -> Result<(Csr<f64>, u64), Fault> {
    let nnz: usize = chunks.iter().map(|chunk| chunk.rows.len()).sum();
    check_count(nnz as u64, "nonzeros")?;
    let threads = rayon::current_num_threads();
    let allow = |length: usize| bounds.allow(SORTED * nnz.min(threads * length) as u64);
    let mut csr = Csr { rows, cols, row_offsets: zeros(rows + 1)?, column_indices: zeros(nnz)?, values: zeros(nnz)? };
    let is_pattern = chunks.iter().all(|chunk| chunk.values.is_empty());
    let results: Vec<Result<FilledSlot, Fault>> = slots(&mut csr, ranges, chunks)
        .into_par_iter()
        .map_init(Vec::new, |cursors, slot| slot.fill(chunks, is_pattern, mirrored, cursors, allow))
        .collect();
    // The results are collected sequentially so that the first fault is reported.
    let filled = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    csr.row_offsets[rows] = nnz as u32;
    if filled.iter().any(|slot| slot.entries.len() < slot.size) {
        close_gaps(&mut csr, ranges, &filled);
    }
    Ok((csr, filled.iter().map(|slot| slot.duplicates).sum()))
}

struct Slot<'a> {
    range: usize,
    first_row: usize,
    /// The position of the first entry of the slot in the arrays.
    start: usize,
    row_offsets: &'a mut [u32],
    column_indices: &'a mut [u32],
    values: &'a mut [f64],
}

struct FilledSlot {
    /// The positions of the remaining entries in the arrays.
    entries: Range<usize>,
    /// The number of entries before duplicates were summed.
    size: usize,
    duplicates: u64,
}

fn entries_of(chunk: &Chunk, range: usize) -> Range<usize> {
    let start = range.checked_sub(1).map_or(0, |before| chunk.ends[before]);
    start as usize..chunk.ends[range] as usize
}

fn slots<'a>(csr: &'a mut Csr<f64>, ranges: Ranges, chunks: &[Chunk]) -> Vec<Slot<'a>> {
    let mut start = 0;
    let mut row_offsets = &mut csr.row_offsets[..csr.rows];
    let mut column_indices = &mut csr.column_indices[..];
    let mut values = &mut csr.values[..];
    let mut slots = Vec::with_capacity(ranges.count);
    for range in 0..ranges.count {
        let size = chunks.iter().map(|chunk| entries_of(chunk, range).len()).sum();
        let rows = row_offsets.len().min(1 << ranges.shift);
        slots.push(Slot {
            range,
            first_row: range << ranges.shift,
            start,
            row_offsets: row_offsets.split_off_mut(..rows).expect("rows remain"),
            column_indices: column_indices.split_off_mut(..size).expect("entries remain"),
            values: values.split_off_mut(..size).expect("entries remain"),
        });
        start += size;
    }
    slots
}

impl Slot<'_> {
    /// Places the entries of the range in the order of the file, and then sorts each row.
    fn fill(
        mut self,
        chunks: &[Chunk],
        is_pattern: bool,
        mirrored: bool,
        cursors: &mut Vec<u32>,
        allow: impl Fn(usize) -> Result<(), ReadStop>,
    ) -> Result<FilledSlot, Fault> {
        provide_pages(self.column_indices);
        provide_pages(self.values);
        self.count_rows(chunks, cursors);
        if is_pattern {
            self.values.fill(1.0);
        }
        self.place(chunks, cursors);
        let size = self.values.len();
        let (remaining, duplicates) = if self.is_in_order() { (size, 0) } else { self.order_rows(mirrored, allow)? };
        for offset in self.row_offsets {
            *offset += self.start as u32;
        }
        Ok(FilledSlot { entries: self.start..self.start + remaining, size, duplicates })
    }

    /// Sets the row offsets, relative to the start of the slot, and sets `cursors` to the start of each row.
    fn count_rows(&mut self, chunks: &[Chunk], cursors: &mut Vec<u32>) {
        cursors.clear();
        cursors.resize(self.row_offsets.len(), 0);
        for chunk in chunks {
            for &row in &chunk.rows[entries_of(chunk, self.range)] {
                cursors[usize::from(row)] += 1;
            }
        }
        let mut start = 0;
        for (offset, cursor) in self.row_offsets.iter_mut().zip(cursors) {
            *offset = start;
            start += std::mem::replace(cursor, start);
        }
    }

    fn place(&mut self, chunks: &[Chunk], cursors: &mut [u32]) {
        for chunk in chunks {
            let entries = entries_of(chunk, self.range);
            let columns = &chunk.columns[entries.clone()];
            let rows = &chunk.rows[entries.clone()];
            match chunk.values.get(entries) {
                Some(values) => {
                    for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
                        let place = advance(&mut cursors[usize::from(row)]);
                        self.column_indices[place] = column;
                        self.values[place] = value;
                    }
                }
                None => {
                    for (&row, &column) in rows.iter().zip(columns) {
                        let place = advance(&mut cursors[usize::from(row)]);
                        self.column_indices[place] = column;
                    }
                }
            }
        }
    }

    fn row(&self, row: usize) -> Range<usize> {
        let end = self.row_offsets.get(row + 1);
        self.row_offsets[row] as usize..end.map_or(self.values.len(), |&end| end as usize)
    }

    /// Returns whether the columns of each row ascend strictly, as in any file sorted by rows or columns. In
    /// this case all descents lie between two rows. (Checking row by row takes longer.)
    fn is_in_order(&self) -> bool {
        let columns = &self.column_indices;
        let descents = columns.windows(2).filter(|pair| pair[0] >= pair[1]).count();
        let starts = (0..self.row_offsets.len()).map(|row| self.row(row));
        let starts = starts.filter(|row| !row.is_empty() && row.start > 0).map(|row| row.start);
        descents == starts.filter(|&start| columns[start - 1] >= columns[start]).count()
    }

    /// Sorts each row and sums its duplicates in the order of the file. The remaining entries are moved to the
    /// front of the slot. Returns their number and the number of stored entries that were duplicates. `allow` checks
    /// the memory for a row of this length.
    fn order_rows(
        &mut self,
        mirrored: bool,
        allow: impl Fn(usize) -> Result<(), ReadStop>,
    ) -> Result<(usize, u64), Fault> {
        let mut remaining = 0;
        let mut duplicates = 0;
        let mut sorted: Vec<(u32, f64)> = Vec::new();
        for row in 0..self.row_offsets.len() {
            let entries = self.row(row);
            allow(entries.len())?;
            let columns = self.column_indices[entries.clone()].iter().copied();
            sorted.clear();
            sorted.extend(columns.zip(self.values[entries].iter().copied()));
            sorted.sort_by_key(|&(col, _)| col);
            self.row_offsets[row] = remaining as u32;
            for same in sorted.chunk_by(|a, b| a.0 == b.0) {
                let row = self.first_row + row;
                let col = same[0].0;
                self.column_indices[remaining] = col;
                let value = sum(row, same)?;
                self.values[remaining] = value;
                remaining += 1;
                // The mirror image of a duplicate is not counted again.
                let counts = !mirrored || col as usize <= row;
                duplicates += if counts { same.len() as u64 - 1 } else { 0 };
            }
        }
        Ok((remaining, duplicates))
    }
}

fn advance(cursor: &mut u32) -> usize {
    *cursor += 1;
    *cursor as usize - 1
}

fn close_gaps(csr: &mut Csr<f64>, ranges: Ranges, slots: &[FilledSlot]) {
    let mut end = 0;
    for (range, slot) in slots.iter().enumerate() {
        let gap = slot.entries.start - end;
        csr.column_indices.copy_within(slot.entries.clone(), end);
        csr.values.copy_within(slot.entries.clone(), end);
        let first_row = range << ranges.shift;
        let last_row = csr.rows.min(first_row + (1 << ranges.shift));
        for offset in &mut csr.row_offsets[first_row..last_row] {
            *offset -= gap as u32;
        }
        end += slot.entries.len();
    }
    csr.row_offsets[csr.rows] = end as u32;
    csr.column_indices.truncate(end);
    csr.values.truncate(end);
    csr.column_indices.shrink_to_fit();
    csr.values.shrink_to_fit();
}
