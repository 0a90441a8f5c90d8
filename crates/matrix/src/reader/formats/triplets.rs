use super::super::build::{SORTED, sum};
use super::super::chunk::{Entries, zeros};
use super::super::entry::Entry;
use super::super::error::{Defect, Fault};
use super::super::header::check_count;
use crate::Csr;
use crate::memory::{ReadBounds, SizeHint};

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
        let (rows, columns, values) = (Vec::new(), Vec::new(), Vec::new());
        Self { rows, columns, values, has_values, held: 0, bounds }
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
        (size_of_val(&self.rows[..])
            + size_of_val(&self.columns[..])
            + size_of_val(&self.values[..])) as u64
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
    pub fn into_csr(self, rows: usize, cols: usize, mirror: Option<f64>) -> Result<Entries, Fault> {
        check_count(rows as u64, "rows")?;
        check_count(cols as u64, "columns")?;
        let nnz = self.len() * if mirror.is_some() { 2 } else { 1 };
        check_count(nnz as u64, "nonzeros")?;
        let needs = SizeHint { rows, cols, nnz: nnz as u64, scratch: self.bytes() }.bytes();
        self.bounds.allow(needs)?;
        // The start of each row is in the place of its end, which it becomes while the row is filled.
        let mut row_offsets: Vec<u32> = zeros(rows + 2)?;
        self.each(mirror, |entry| row_offsets[entry.row as usize + 2] += 1);
        let mut end = 0;
        for offset in &mut row_offsets {
            end += *offset;
            *offset = end;
        }
        let all = end as usize;
        let mut triangles = [0; 2];
        if mirror.is_some() {
            let above = (0..self.len()).filter(|&at| self.columns[at] > self.rows[at]).count();
            triangles = [above as u64, (all - self.len() - above) as u64];
        }
        let (mut column_indices, mut values) = (zeros(all)?, zeros(all)?);
        self.each(mirror, |entry| {
            let place = &mut row_offsets[entry.row as usize + 1];
            column_indices[*place as usize] = entry.col;
            values[*place as usize] = entry.value;
            *place += 1;
        });
        row_offsets.pop();
        let bounds = self.bounds;
        drop(self);
        let csr = Csr { rows, cols, row_offsets, column_indices, values };
        let (csr, duplicates) = ordered(csr, mirror.is_some(), bounds)?;
        Ok(Entries { csr, duplicates, triangles, bytes: 0 })
    }
}

/// Appends to a vector that grows with the contents of a file. While its elements move, they are in memory twice.
pub fn push<T>(vector: &mut Vec<T>, value: T, bounds: ReadBounds) -> Result<(), Fault> {
    if vector.len() == vector.capacity() {
        let more = vector.len().max(1 << 12);
        let bytes = ((2 * vector.len() + more) * size_of::<T>()) as u64;
        bounds.check().and_then(|()| bounds.allow(bytes))?;
        vector.try_reserve_exact(more).map_err(|_| {
            Defect::unsupported(format!("{bytes} bytes for its entries do not fit in memory"))
        })?;
    }
    vector.push(value);
    Ok(())
}

/// Sorts the rows of a matrix and sums its duplicates, as the reader of Matrix Market files does. Returns the number of
/// stored entries that were duplicates.
fn ordered(
    mut csr: Csr<f64>,
    mirrored: bool,
    bounds: ReadBounds,
) -> Result<(Csr<f64>, u64), Fault> {
    let bounds = bounds.beside(csr.bytes());
    let (mut next, mut end, mut duplicates) = (0, 0, 0);
    let mut sorted: Vec<(u32, f64)> = Vec::new();
    for row in 0..csr.rows {
        let entries = next..csr.row_offsets[row + 1] as usize;
        next = entries.end;
        if csr.column_indices[entries.clone()].is_sorted_by(|a, b| a < b) {
            if entries.start > end {
                csr.column_indices.copy_within(entries.clone(), end);
                csr.values.copy_within(entries.clone(), end);
            }
            end += entries.len();
        } else {
            bounds.allow(SORTED * entries.len() as u64)?;
            let columns = csr.column_indices[entries.clone()].iter().copied();
            sorted.clear();
            sorted.extend(columns.zip(csr.values[entries].iter().copied()));
            sorted.sort_by_key(|entry| entry.0);
            for same in sorted.chunk_by(|a, b| a.0 == b.0) {
                (csr.column_indices[end], csr.values[end]) = (same[0].0, sum(row, same)?);
                end += 1;
                // The mirror image of a duplicate is not counted again.
                let counts = !mirrored || same[0].0 as usize <= row;
                duplicates += if counts { same.len() as u64 - 1 } else { 0 };
            }
        }
        csr.row_offsets[row + 1] = end as u32;
    }
    csr.column_indices.truncate(end);
    csr.values.truncate(end);
    csr.column_indices.shrink_to_fit();
    csr.values.shrink_to_fit();
    Ok((csr, duplicates))
}
