//! Generated matrices, given as `gen:NAME,key=value,…` wherever a file is accepted. A matrix is the same on
//! every machine and with any number of threads. All values are 1, as in merge-spmv's generators, or, with
//! `random=SEED`, uniform in [-1, 1), so that a method that stores equal values only once has no advantage.
//!
//! A matrix is generated in blocks of rows (`blocks`), which need not be in memory at the same time.

mod blocks;
mod columns;
mod combinatorial;
mod lengths;
mod pattern;
mod rmat;
mod spec;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

pub use spec::{FORMS, SpecError, forms};

use super::csr::{Csr, MAX_INDEX};
use super::memory::SizeHint;
use super::reader::{write_block, write_head};
use blocks::Blocks;
use pattern::{Pattern, too_many};

/// The temporary memory per row, in bytes: its length while it is drawn, its final length, and its offset in
/// the block.
const ROW_BYTES: u64 = 12;

#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    spec: String,
    pattern: Pattern,
    /// The seed of random values; `None` if all values are 1.
    random: Option<u64>,
}

impl Generator {
    /// Parses `NAME,key=value,…` (without `gen:`).
    pub fn parse(spec: &str) -> Result<Self, SpecError> {
        let parsed = spec::parse(spec).and_then(|(pattern, random)| {
            pattern.check()?;
            Ok(Self { spec: spec.into(), pattern, random })
        });
        parsed.map_err(|problem| SpecError::new(spec, problem))
    }

    /// Returns the specification, without `gen:`, that [`parse`](Self::parse) accepts.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    pub fn most_entries(&self) -> u128 {
        self.pattern.most_entries()
    }

    /// Returns an upper bound on the memory, in bytes, for the row lengths and the offsets of a block, which
    /// are needed even to compute the size of the matrix.
    pub fn bytes_for_rows(&self) -> u64 {
        let rows = if self.pattern.columns().is_some() { self.shape().0 } else { 0 };
        ROW_BYTES * rows as u64
    }

    pub fn size_hint(&self) -> Result<SizeHint, SpecError> {
        let (rows, cols) = self.shape();
        // If the upper bound is too large to be useful, the row lengths are computed.
        let nnz = match self.most_entries() {
            most if most > MAX_INDEX as u128 => self.whole()?.most_entries() as u64,
            most => most as u64,
        };
        // Temporary memory: values in a vector that has grown, and the edges of an R-MAT graph.
        let drawn = if matches!(self.pattern, Pattern::Rmat { .. }) { 24 } else { 0 };
        Ok(SizeHint { rows, cols, nnz, scratch: nnz * (16 + drawn) + ROW_BYTES * rows as u64 })
    }

    pub fn shape(&self) -> (usize, usize) {
        self.pattern.shape()
    }

    fn blocks(&self) -> Result<Blocks<'_>, SpecError> {
        Blocks::new(&self.pattern, self.random).map_err(|problem| self.error(problem))
    }

    /// Prepares the generation of the whole matrix, unless 32-bit indices are too small for it.
    fn whole(&self) -> Result<Blocks<'_>, SpecError> {
        self.pattern.check_entries().map_err(|problem| self.error(problem))?;
        let blocks = self.blocks()?;
        match blocks.nnz() {
            Some(nnz) if nnz > MAX_INDEX => Err(self.error(too_many(nnz))),
            _ => Ok(blocks),
        }
    }

    fn error(&self, problem: String) -> SpecError {
        SpecError::new(&self.spec, problem)
    }

    /// Calls `take` for each of `rows` in order, with the row's index, its ascending columns and its values.
    /// The values are empty if all are 1. The matrix may have more entries than 32-bit indices allow.
    pub fn each_row(&self, rows: Range<usize>, mut take: impl FnMut(usize, &[u32], &[f64])) -> Result<(), SpecError> {
        for block in self.blocks()?.of(rows) {
            for (row, ends) in (block.first_row..).zip(block.row_offsets.windows(2)) {
                let entries = ends[0] as usize..ends[1] as usize;
                let values = block.values.get(entries.clone()).unwrap_or_default();
                take(row, &block.column_indices[entries], values);
            }
        }
        Ok(())
    }

    pub fn generate(&self) -> Result<Csr<f64>, SpecError> {
        let blocks = self.whole()?;
        let (rows, cols) = self.shape();
        let mut row_offsets = Vec::with_capacity(rows + 1);
        let mut column_indices = Vec::with_capacity(blocks.most_entries());
        let mut values = Vec::new();
        row_offsets.push(0);
        for block in blocks.of(0..rows) {
            let begun = column_indices.len() as u32;
            row_offsets.extend(block.row_offsets[1..].iter().map(|offset| begun + offset));
            column_indices.extend_from_slice(&block.column_indices);
            values.extend_from_slice(&block.values);
        }
        values.resize(column_indices.len(), 1.0);
        Ok(Csr { rows, cols, row_offsets, column_indices, values })
    }

    /// Writes the matrix as a Matrix Market file with `kind` in a comment, without storing it in memory. The
    /// file is opened only after the specification has been checked: if the row lengths are impossible or the matrix is
    /// too large, the error has the kind `InvalidInput`. Returns (rows, columns, entries).
    pub fn write<W: Write>(
        &self,
        kind: &str,
        open: impl FnOnce() -> io::Result<W>,
    ) -> io::Result<(usize, usize, usize)> {
        let blocks = self.whole();
        let blocks = blocks.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let (rows, cols) = self.shape();
        let count = || blocks.of(0..rows).map(|block| block.column_indices.len()).sum();
        let nnz = blocks.nnz().unwrap_or_else(count);
        let (pattern, mut out) = (self.random.is_none(), open()?);
        let field = if pattern { "pattern" } else { "real" };
        write_head(field, Some(kind), [rows, cols, nnz], &mut out)?;
        for block in blocks.of(0..rows) {
            let values = (!pattern).then_some(&block.values[..]);
            let (offsets, columns) = (&block.row_offsets, &block.column_indices);
            write_block(block.first_row, offsets, columns, values, &mut out)?;
        }
        out.flush()?;
        Ok((rows, cols, nnz))
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gen:{}", self.spec)
    }
}

/// Returns whether the text begins with the name of a generator, as a specification without `gen:` does.
pub fn is_generator(text: &str) -> bool {
    spec::form(text).is_some()
}
