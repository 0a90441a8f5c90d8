//! What one rank keeps of the matrix, made of the entries of the rows that it touches.

use std::ops::Range;

use super::partition::Partition;
use crate::matrix::Csr;
use crate::matrix::csr::MAX_INDEX;
use crate::matrix::market::sum;

/// A rank's part of the matrix.
pub struct Share {
    /// The rows that the rank stores and one more: its tail, empty if it has none. Columns are the
    /// matrix'.
    pub csr: Csr<f64>,
    /// Stored entries that were summed into others.
    pub duplicates: u64,
}

/// A share in the making. While it is read, the rows that are split between ranks are whole in it: only
/// sorted it shows which of their entries are whose.
pub struct Collector<'p> {
    partition: &'p Partition,
    rank: usize,
    cols: usize,
    /// Of the rows touched, and where the last ends.
    offsets: Vec<usize>,
    /// Where the next entry of each row goes.
    cursors: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Entries without room: the rows were shorter when they were counted.
    surplus: bool,
}

impl<'p> Collector<'p> {
    /// For a rank's share of a matrix of `cols` columns.
    ///
    /// # Errors
    /// More nonzeros than a rank can index.
    pub fn new(partition: &'p Partition, rank: usize, cols: usize) -> Result<Self, String> {
        let nonzeros = partition.nonzeros(rank).len();
        if nonzeros > MAX_INDEX {
            let ranks = partition.ranks();
            return Err(format!(
                "{nonzeros} nonzeros fall to each of {ranks} ranks, which index {MAX_INDEX} at most: \
                 start more"
            ));
        }
        let lengths = partition.touched(rank).map(|row| partition.length(row));
        let mut offsets = vec![0];
        offsets.extend(lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let size = offsets[offsets.len() - 1];
        Ok(Self {
            partition,
            rank,
            cols,
            cursors: offsets.clone(),
            offsets,
            columns: vec![0; size],
            values: vec![0.0; size],
            surplus: false,
        })
    }

    /// The rows whose entries it wants.
    pub fn rows(&self) -> Range<usize> {
        self.partition.touched(self.rank)
    }

    /// Takes an entry, if it is in one of these rows.
    pub fn take(&mut self, row: usize, column: u32, value: f64) {
        let touched = self.rows();
        if !touched.contains(&row) {
            return;
        }
        let row = row - touched.start;
        let place = self.cursors[row];
        if place == self.offsets[row + 1] {
            self.surplus = true;
            return;
        }
        (self.columns[place], self.values[place]) = (column, value);
        self.cursors[row] += 1;
    }

    /// The share: every row sorted, duplicates summed in the order in which they came, `mirrored` or not,
    /// and what is others' of split rows left out.
    ///
    /// # Errors
    /// Entries that came or did not come as they were counted, and sums that are not finite.
    pub fn finish(mut self, mirrored: bool) -> Result<Share, String> {
        let rows = self.rows();
        if self.surplus || self.cursors[..rows.len()] != self.offsets[1..] {
            return Err("the file changed while it was being read".into());
        }
        let (mut kept, mut duplicates) = (0, 0);
        let mut row_offsets = vec![0];
        for row in rows.clone() {
            duplicates += self.keep_row(row, &mut kept, mirrored)?;
            row_offsets.push(kept as u32);
        }
        // The tail's row, if it has none.
        row_offsets.resize(self.partition.stored(self.rank).len() + 2, kept as u32);
        let (mut column_indices, mut values) = (self.columns, self.values);
        column_indices.truncate(kept);
        values.truncate(kept);
        column_indices.shrink_to_fit();
        values.shrink_to_fit();
        let (rows, cols) = (row_offsets.len() - 1, self.cols);
        Ok(Share { csr: Csr { rows, cols, row_offsets, column_indices, values }, duplicates })
    }

    /// Puts a row in order and keeps the rank's part of it at `kept`; how many stored entries were summed
    /// into others of the part. An entry with duplicates is where the first of them is.
    fn keep_row(&mut self, row: usize, kept: &mut usize, mirrored: bool) -> Result<u64, String> {
        let at = row - self.rows().start;
        let entries = self.offsets[at]..self.offsets[at + 1];
        let part = self.partition.part(self.rank, row);
        if self.columns[entries.clone()].is_sorted_by(|a, b| a < b) {
            let part = entries.start + part.start..entries.start + part.end;
            self.columns.copy_within(part.clone(), *kept);
            self.values.copy_within(part.clone(), *kept);
            *kept += part.len();
            return Ok(0);
        }
        let columns = self.columns[entries.clone()].iter().copied();
        let mut sorted: Vec<_> = columns.zip(self.values[entries].iter().copied()).collect();
        sorted.sort_by_key(|&(column, _)| column);
        let (mut position, mut duplicates) = (0, 0);
        for same in sorted.chunk_by(|a, b| a.0 == b.0) {
            if part.contains(&position) {
                let column = same[0].0;
                self.columns[*kept] = column;
                self.values[*kept] = sum(row, same)?;
                *kept += 1;
                // The mirror image of a duplicate is no second one.
                let counts = !mirrored || column as usize <= row;
                duplicates += if counts { same.len() as u64 - 1 } else { 0 };
            }
            position += same.len();
        }
        Ok(duplicates)
    }
}
