use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::chunk::{Buffer, Chunk, Entries, Parser, Ranges, Store, parse_all, scratch, zeros};
use super::entry;
use super::error::{Defect, Fault, Stop};
use super::header::{Field, Header, Symmetry, check_count};
use super::scan;
use super::text::{Block, line_at};
use crate::Csr;
use crate::memory::{ReadBounds, ReadStop};
use crate::system::pages::provide_pages;

/// The memory for an entry of a row that is sorted, in bytes: column and value, in a buffer that may have doubled, and
/// half of them again.
pub const SORTED: u64 = 40;

pub fn coordinate<'a>(
    header: &Header,
    expand: bool,
    most_entries: u64,
    bounds: ReadBounds,
    blocks: impl Iterator<Item = io::Result<Block<'a>>> + Send,
) -> Result<Entries, Stop> {
    let mirror = header.symmetry.mirror_sign().filter(|_| expand);
    // The number in the header may be wrong, so the length of the text limits the allocation.
    let entries = header.stored.min(most_entries) as usize * if mirror.is_some() { 2 } else { 1 };
    let (mut rows, mut columns) = (scratch(entries)?, scratch(entries)?);
    let mut values = scratch(if header.field == Field::Pattern { 0 } else { entries })?;
    let store = Store(Mutex::new((&mut rows, &mut columns, &mut values)));
    let ranges = Ranges::new(header.rows, entries as u64);
    let parser = || Parser { header, ranges, mirror, store: &store, buffer: Buffer::default() };
    let (chunks, bytes) = parse_all(blocks, parser, |parser, text| parser.parse(text))?;
    if chunks.iter().map(|chunk| chunk.stored).sum::<u64>() != header.stored {
        return Err(None);
    }
    let (csr, duplicates) = assemble(header, ranges, mirror.is_some(), &chunks, bounds)?;
    let above: u64 = chunks.iter().map(|chunk| chunk.above).sum();
    let mirrored = chunks.iter().map(|chunk| chunk.rows.len() as u64).sum::<u64>() - header.stored;
    Ok(Entries { csr, duplicates, triangles: [above, mirrored - above], bytes })
}

/// Returns the temporary memory of `coordinate` in bytes: row, column and value of each entry, and one byte
/// per entry for the tables of ranges.
pub fn coordinate_scratch_bytes(field: Field, entries: u64) -> u64 {
    entries.saturating_mul(if field == Field::Pattern { 2 + 4 + 1 } else { 2 + 4 + 8 + 1 })
}

fn assemble(
    header: &Header,
    ranges: Ranges,
    mirrored: bool,
    chunks: &[Chunk],
    bounds: ReadBounds,
) -> Result<(Csr<f64>, u64), Fault> {
    let nnz: usize = chunks.iter().map(|chunk| chunk.rows.len()).sum();
    check_count(nnz as u64, "nonzeros")?;
    let threads = rayon::current_num_threads();
    let allow = |length: usize| bounds.allow(SORTED * nnz.min(threads * length) as u64);
    let mut csr = Csr {
        rows: header.rows,
        cols: header.cols,
        row_offsets: zeros(header.rows + 1)?,
        column_indices: zeros(nnz)?,
        values: zeros(nnz)?,
    };
    let results: Vec<Result<FilledSlot, Fault>> = slots(&mut csr, ranges, chunks)
        .into_par_iter()
        .map_init(Vec::new, |cursors, slot| {
            slot.fill(chunks, header.field == Field::Pattern, mirrored, cursors, allow)
        })
        .collect();
    // The results are collected sequentially so that the first fault is reported.
    let filled = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    csr.row_offsets[header.rows] = nnz as u32;
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
        pattern: bool,
        mirrored: bool,
        cursors: &mut Vec<u32>,
        allow: impl Fn(usize) -> Result<(), ReadStop>,
    ) -> Result<FilledSlot, Fault> {
        provide_pages(self.column_indices);
        provide_pages(self.values);
        self.count_rows(chunks, cursors);
        if pattern {
            self.values.fill(1.0);
        }
        self.place(chunks, cursors);
        let size = self.values.len();
        let (remaining, duplicates) =
            if self.is_in_order() { (size, 0) } else { self.order_rows(mirrored, allow)? };
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
        let (mut remaining, mut duplicates) = (0, 0);
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
                let (row, col) = (self.first_row + row, same[0].0);
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

/// Sums entries (column, value) that have the same position in row `row`. The sum must be finite.
pub fn sum(row: usize, same: &[(u32, f64)]) -> Result<f64, Defect> {
    let (col, first) = same[0];
    let sum = same[1..].iter().fold(first, |sum, entry| sum + entry.1);
    if sum.is_finite() {
        return Ok(sum);
    }
    let (count, row, col) = (same.len(), row + 1, col + 1);
    Err(format!("the {count} entries in row {row}, column {col} sum to {sum}").into())
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

/// Parses the elements of a file in the array format: all elements column by column, without indices.
pub fn array<'a>(
    header: &Header,
    expand: bool,
    blocks: impl Iterator<Item = io::Result<Block<'a>>> + Send,
) -> Result<Entries, Stop> {
    let found = AtomicU64::new(0);
    let (chunks, bytes) = parse_all(
        blocks,
        || (),
        |(), text| {
            let chunk = elements(text, header)?;
            let size = chunk.len() as u64;
            let all = found.fetch_add(size, Ordering::Relaxed) + size;
            // Surplus elements are not stored: a small compressed file can contain very many.
            (all <= header.stored).then_some(chunk)
        },
    )?;
    let elements = chunks.concat();
    if elements.len() as u64 != header.stored {
        return Err(None);
    }
    let csr = by_rows(header, expand, &elements)?;
    Ok(Entries { csr, duplicates: 0, triangles: [0; 2], bytes })
}

/// Returns the temporary memory of `array` in bytes: the vectors of the chunks and their concatenation.
pub fn array_scratch_bytes(elements: u64) -> u64 {
    elements.saturating_mul(16 + 8)
}

fn elements(text: &[u8], header: &Header) -> Option<Vec<f64>> {
    let (mut elements, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let quick = scan::element(&text[at..]);
        let quick = quick.filter(|q| header.field != Field::UnsignedInteger || q.0 >= 0.0);
        let (element, length) = match quick {
            Some((element, length)) => (Some(element), length),
            None => {
                let line = line_at(text, at)?;
                (entry::element(line, header).ok()?, line.len())
            }
        };
        elements.extend(element);
        at += length;
    }
    Some(elements)
}

/// Returns the index of element (row, col) in the array and the sign by which it is multiplied.
fn stored_at(header: &Header, row: usize, col: usize) -> (usize, f64) {
    let (low, high) = (row.min(col), row.max(col));
    let rows = header.rows;
    match header.symmetry {
        Symmetry::General => (col * rows + row, 1.0),
        // The columns before column `low` have rows, rows - 1, ... elements.
        Symmetry::Symmetric => (low * (2 * rows - low + 1) / 2 + high - low, 1.0),
        Symmetry::SkewSymmetric => {
            let sign = if row < col { -1.0 } else { 1.0 };
            (low * (2 * rows - low - 1) / 2 + high - low - 1, sign)
        }
    }
}

fn columns(header: &Header, expand: bool, row: usize) -> impl Iterator<Item = usize> {
    let last = match header.symmetry {
        Symmetry::General => header.cols,
        _ if expand => header.cols,
        _ => row + 1,
    };
    let skip = header.symmetry == Symmetry::SkewSymmetric;
    (0..last).filter(move |&col| !(skip && col == row))
}

fn by_rows(header: &Header, expand: bool, elements: &[f64]) -> Result<Csr<f64>, Fault> {
    let nnz = (0..header.rows).map(|row| columns(header, expand, row).count()).sum::<usize>();
    check_count(nnz as u64, "nonzeros")?;
    let mut row_offsets = zeros(header.rows + 1)?;
    let mut column_indices = Vec::with_capacity(nnz);
    let mut values = Vec::with_capacity(nnz);
    for row in 0..header.rows {
        for col in columns(header, expand, row) {
            let (place, sign) = stored_at(header, row, col);
            column_indices.push(col as u32);
            values.push(sign * elements[place]);
        }
        row_offsets[row + 1] = values.len() as u32;
    }
    let (rows, cols) = (header.rows, header.cols);
    Ok(Csr { rows, cols, row_offsets, column_indices, values })
}
