use std::mem;

use super::super::arrays::{Built, check_count, push};
use super::super::assemble::{Chunk, Ranges, assemble, scratch};
use super::super::entry::Entry;
use super::super::error::Fault;
use crate::memory::{ReadBounds, SizeHint};

struct Grouped {
    /// The rows, counted from the first row of their range.
    rows: Vec<u16>,
    columns: Vec<u32>,
    /// The values; empty if all are 1.
    values: Vec<f64>,
}

/// Entries in the order of a file. Their number need not be known before.
pub struct Triplets<'c> {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// The values; empty if all are 1.
    values: Vec<f64>,
    has_values: bool,
    /// What is held beside the entries, in bytes.
    held: u64,
    bounds: ReadBounds<'c>,
}

impl<'c> Triplets<'c> {
    pub fn new(has_values: bool, bounds: ReadBounds<'c>) -> Self {
        Self { rows: Vec::new(), columns: Vec::new(), values: Vec::new(), has_values, held: 0, bounds }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Appends an entry, whose row and column are counted from 0.
    pub fn push(&mut self, entry: Entry) -> Result<(), Fault> {
        // Some of the arrays may have doubled before another one does.
        let bounds = self.bounds.beside(self.held + 2 * self.bytes());
        push(&mut self.rows, entry.row, bounds)?;
        push(&mut self.columns, entry.col, bounds)?;
        if self.has_values {
            push(&mut self.values, entry.value, bounds)?;
        }
        Ok(())
    }

    /// Sets what is held beside the entries, in bytes.
    pub fn hold(&mut self, bytes: u64) -> Result<(), Fault> {
        self.held = bytes;
        Ok(self.bounds.allow(self.held + self.bytes())?)
    }

    /// Returns the memory of the entries in bytes.
    fn bytes(&self) -> u64 {
        (size_of_val(&self.rows[..]) + size_of_val(&self.columns[..]) + size_of_val(&self.values[..])) as u64
    }

    fn entry(&self, at: usize) -> Entry {
        let value = if self.has_values { self.values[at] } else { 1.0 };
        Entry { row: self.rows[at], col: self.columns[at], value }
    }

    /// Returns a column that two of the entries from number `first` on have.
    pub fn repeated_column(&self, first: usize) -> Option<u32> {
        let columns = &self.columns[first..];
        if columns.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }

    /// Replaces the numbers of all rows and columns.
    pub fn renumber(&mut self, row: impl Fn(u32) -> u32, col: impl Fn(u32) -> u32) {
        self.rows.iter_mut().for_each(|index| *index = row(*index));
        self.columns.iter_mut().for_each(|index| *index = col(*index));
    }

    /// Sets the value of an entry, which must exist and have one.
    pub fn set_value(&mut self, at: usize, value: f64) {
        self.values[at] = value;
    }

    /// Replaces the first entry, which must exist.
    pub fn set_first(&mut self, entry: Entry) {
        (self.rows[0], self.columns[0]) = (entry.row, entry.col);
        if self.has_values {
            self.values[0] = entry.value;
        }
    }

    /// Removes the first entry, which must exist.
    pub fn remove_first(&mut self) {
        self.rows.remove(0);
        self.columns.remove(0);
        if self.has_values {
            self.values.remove(0);
        }
    }

    /// Calls `take` for each entry, followed by its mirror image if it has one.
    fn each(&self, mirror: Option<f64>, mut take: impl FnMut(Entry)) {
        for entry in (0..self.len()).map(|at| self.entry(at)) {
            take(entry);
            if let Some(image) = mirror.and_then(|sign| entry.image(sign)) {
                take(image);
            }
        }
    }

    /// Makes a matrix. If `mirror` is given, each entry outside the diagonal has an image with its value times this
    /// sign. Entries with the same position are summed in their order.
    pub fn into_csr(self, rows: usize, cols: usize, mirror: Option<f64>) -> Result<Built, Fault> {
        check_count(rows as u64, "rows")?;
        check_count(cols as u64, "columns")?;
        let nnz = self.len() as u64 * if mirror.is_some() { 2 } else { 1 };
        check_count(nnz, "nonzeros")?;
        // The row, the column and the value of each grouped entry.
        let scratch = nnz * if self.has_values_with(mirror) { 2 + 4 + 8 } else { 2 + 4 };
        let needs = SizeHint { rows, cols, nnz, scratch }.bytes();
        self.bounds.allow(needs.max(self.bytes() + scratch))?;
        let bounds = self.bounds.beside(needs);
        let stored = self.len() as u64;
        let above = self.rows.iter().zip(&self.columns).filter(|(row, col)| col > row).count() as u64;
        let ranges = Ranges::new(rows, nnz);
        let (ends, mut grouped) = self.grouped(ranges, mirror)?;
        drop(self);
        let all = grouped.rows.len() as u64;
        let chunk = Chunk {
            rows: &mut grouped.rows,
            columns: &mut grouped.columns,
            values: &mut grouped.values,
            ends,
            stored,
            above,
        };
        let is_mirrored = mirror.is_some();
        let (csr, duplicates) = assemble([rows, cols], ranges, is_mirrored, &[chunk], bounds)?;
        let triangles = if is_mirrored { [above, all - stored - above] } else { [0; 2] };
        Ok(Built { csr, duplicates, triangles })
    }

    /// Returns whether a value, also of a mirrored entry, is not 1.
    fn has_values_with(&self, mirror: Option<f64>) -> bool {
        self.has_values || mirror.is_some_and(|sign| sign != 1.0)
    }

    /// Returns the entries grouped by ranges of rows, in their order, and the ends of the ranges.
    fn grouped(&self, ranges: Ranges, mirror: Option<f64>) -> Result<(Vec<u32>, Grouped), Fault> {
        let mut ends = vec![0; ranges.count];
        self.each(mirror, |entry| ends[ranges.of(entry.row)] += 1);
        let mut all = 0;
        for end in &mut ends {
            all += mem::replace(end, all);
        }
        let all = all as usize;
        let has_values = self.has_values_with(mirror);
        let values = scratch(if has_values { all } else { 0 })?;
        let mut grouped = Grouped { rows: scratch(all)?, columns: scratch(all)?, values };
        self.each(mirror, |entry| {
            let end = &mut ends[ranges.of(entry.row)];
            let place = *end as usize;
            *end += 1;
            grouped.rows[place] = ranges.row_within(entry.row);
            grouped.columns[place] = entry.col;
            if has_values {
                grouped.values[place] = entry.value;
            }
        });
        Ok((ends, grouped))
    }
}
