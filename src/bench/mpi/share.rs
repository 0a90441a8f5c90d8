//! A rank's share of the matrix, built from the entries of the rows that it touches, and the memory that it needs.

use std::ops::Range;

use anyhow::{Result, ensure};

use super::partition::Partition;
use crate::bench::need;
use spmv_matrix::Csr;
use spmv_matrix::csr::MAX_INDEX;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::order::Order;
use spmv_matrix::reader::{Defect, sum};
use spmv_results::settings::RunSettings;

/// Bytes per row of the whole matrix: its lengths while they are summed over all ranks, and the initial y.
const ROW: u64 = 3 * 8;
/// Bytes per column: its number, and the values that a rank receives and sends.
const COLUMN: u64 = 4 + 2 * 8;
/// Bytes per row of a share while its entries are collected, besides CSR.
const COLLECTED_ROW: u64 = 2 * 8;

pub struct Share {
    /// The rows that the rank stores, and its tail as one more row, which may be empty. Column indices are those of the
    /// matrix.
    pub csr: Csr<f64>,
    /// The number of duplicate entries, which were added to other entries.
    pub duplicates: u64,
}

/// Collects the entries of a share. Until all are read, rows that are split between ranks are stored completely: the
/// rank's part of them is known only after sorting.
pub struct Collector<'p> {
    partition: &'p Partition,
    rank: usize,
    cols: usize,
    /// The offsets of the rows that the rank touches, and the end of the last.
    offsets: Vec<usize>,
    /// The position of the next entry of each row.
    cursors: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// Whether a row received more entries than were counted.
    surplus: bool,
}

impl<'p> Collector<'p> {
    pub fn new(partition: &'p Partition, rank: usize, cols: usize) -> Result<Self> {
        let (ranks, nonzeros) = (partition.ranks(), partition.nonzeros(rank).len());
        ensure!(
            nonzeros <= MAX_INDEX,
            "each of {ranks} ranks would have {nonzeros} nonzeros, but can index at most {MAX_INDEX}: start more ranks"
        );
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

    /// Returns the rows whose entries are collected.
    pub fn rows(&self) -> Range<usize> {
        self.partition.touched(self.rank)
    }

    /// Stores an entry if it is in one of the rows that the rank touches.
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

    /// Builds the share: sorts every row, sums duplicates in the order in which they were read, and removes the parts
    /// of split rows that other ranks store. `mirrored` says whether entries were passed with their mirror images.
    pub fn finish(mut self, mirrored: bool) -> Result<Share, Defect> {
        let rows = self.rows();
        if self.surplus || self.cursors[..rows.len()] != self.offsets[1..] {
            return Err(Defect::changed());
        }
        let (mut kept, mut duplicates) = (0, 0);
        let mut row_offsets = vec![0];
        for row in rows.clone() {
            duplicates += self.keep_row(row, &mut kept, mirrored)?;
            row_offsets.push(kept as u32);
        }
        // An empty row for the tail if there is none.
        row_offsets.resize(self.partition.stored(self.rank).len() + 2, kept as u32);
        let (mut column_indices, mut values) = (self.columns, self.values);
        column_indices.truncate(kept);
        values.truncate(kept);
        column_indices.shrink_to_fit();
        values.shrink_to_fit();
        let (rows, cols) = (row_offsets.len() - 1, self.cols);
        // SAFETY: the reader has checked that the columns are below `cols`, and `keep_row` leaves those of each row in
        // strictly ascending order.
        let csr = unsafe { Csr::new_unchecked(rows, cols, row_offsets, column_indices, values) };
        Ok(Share { csr, duplicates })
    }

    /// Sorts a row and moves the rank's part of it to the position `kept`. Returns the number of duplicates in that
    /// part. The sum of duplicates is in the part that contains the first of them.
    fn keep_row(&mut self, row: usize, kept: &mut usize, mirrored: bool) -> Result<u64, Defect> {
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
                // The mirror image of a duplicate is not counted as another duplicate.
                let counts = !mirrored || column as usize <= row;
                duplicates += if counts { same.len() as u64 - 1 } else { 0 };
            }
            position += same.len();
        }
        Ok(duplicates)
    }
}

/// Returns an upper bound of the bytes that a rank needs, from the division of the matrix to the last product.
pub fn need(partition: &Partition, rank: usize, cols: usize, run: &RunSettings) -> u64 {
    let touched = partition.touched(rank);
    let entries = touched.clone().map(|row| partition.length(row) as u64).sum();
    let share = Extent::announced(touched.len() + 1, cols, partition.nonzeros(rank).len() as u64, 1);
    let collected = Extent { nnz: entries, ..share }.csr() + COLLECTED_ROW * share.rows;
    let in_precision = |&precision| need::all(&share, &run.settings, precision, Order::Natural);
    // If all of x is gathered, the product has a copy of the share.
    let measured = run.precisions.iter().map(in_precision).max().unwrap_or_default() + share.csr();
    collected.max(measured) + ROW * partition.rows() as u64 + COLUMN * cols as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::need::SMALL;
    use spmv_results::settings::{Protocol, Settings};

    #[test]
    fn a_rank_needs_its_share_and_lists_of_all_rows_and_columns() {
        let run = RunSettings::new(Settings::new(Protocol::MergeSpmv));
        // 1000 rows of 999 entries are a million items, of which each of 10 ranks has 100 rows.
        let partition = Partition::new(vec![999; 1000], 10);
        let share = Extent::announced(101, 1000, 99_900, 1);
        let lists = 24 * 1000 + 20 * 1000;
        let measured = 2 * share.csr() + need::run(&share, &run.settings);
        assert!(share.csr() > 1_198_800 && measured > 3 * share.csr() + SMALL);
        assert_eq!(need(&partition, 3, 1000, &run), measured + lists);
        // While it is collected, a row that is divided among all ranks is complete on each of them: 12 bytes per entry,
        // and 44 for the offsets of two rows.
        let partition = Partition::new(vec![1_000_000], 100);
        let collected = 12 * 1_000_000 + 44;
        assert_eq!(need(&partition, 5, 1000, &run), collected + 24 + 20 * 1000);
    }
}
