//! Generated matrices, given as `gen:NAME,key=value,…` wherever a file is accepted. A matrix is the same on
//! every machine and with any number of threads. All values are 1, as in merge-spmv's generators, or, with
//! `random=SEED`, uniform in [-1, 1), so that a method that stores equal values only once has no advantage.
//!
//! A matrix is generated in blocks of rows (`blocks`), which need not be in memory at the same time.

mod blocks;
mod columns;
mod combinatorial;
mod error;
mod lengths;
mod pattern;
mod rmat;
mod spec;
mod stencil;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

pub use error::SpecError;
pub use spec::{FORMS, forms};

use super::csr::{Csr, MAX_INDEX};
use super::market::{Head, write_block, write_head};
use super::size::SizeHint;
use blocks::{Block, Blocks};
use pattern::Pattern;

/// The temporary memory per row, in bytes: its length while it is drawn, its final length, and its offset in
/// the block.
const ROW_BYTES: u64 = 12;

/// A generator with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    spec: String,
    pattern: Pattern,
    /// The seed of random values.
    random: Option<u64>,
}

impl Generator {
    /// Parses `NAME,key=value,…` (without `gen:`).
    ///
    /// # Errors
    /// Returns an error that names the part that is invalid or too large.
    pub fn parse(spec: &str) -> Result<Self, SpecError> {
        let parsed = spec::parse(spec).and_then(|(pattern, random)| {
            pattern.check()?;
            Ok(Self { spec: spec.into(), pattern, random })
        });
        parsed.map_err(|problem| problem.of(spec))
    }

    /// Returns the specification, without `gen:`, that [`parse`](Self::parse) accepts.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// Returns an upper bound on the number of entries.
    pub fn most_entries(&self) -> u128 {
        self.pattern.most_entries()
    }

    /// Returns an upper bound on the memory, in bytes, for the row lengths and the offsets of a block, which
    /// are needed even to compute the size of the matrix.
    pub fn bytes_for_rows(&self) -> u64 {
        let rows = self.pattern.rows().map_or(0, |_| self.pattern.shape().0);
        ROW_BYTES * rows as u64
    }

    /// Returns the size of the matrix.
    ///
    /// # Errors
    /// Returns an error if the row lengths are impossible.
    pub fn size_hint(&self) -> Result<SizeHint, SpecError> {
        let (rows, cols) = self.pattern.shape();
        // If the upper bound is too large to be useful, the row lengths are computed.
        let nnz = match self.most_entries() {
            most if most > MAX_INDEX as u128 => self.blocks()?.most_entries() as u64,
            most => most as u64,
        };
        // Temporary memory: values in a vector that has grown, and the edges of an R-MAT graph.
        let drawn = if matches!(self.pattern, Pattern::Rmat { .. }) { 24 } else { 0 };
        Ok(SizeHint { rows, cols, nnz, scratch: nnz * (16 + drawn) + ROW_BYTES * rows as u64 })
    }

    /// Prepares the generation of the whole matrix. Returns an error if 32-bit indices are too small for it.
    fn blocks(&self) -> Result<Blocks<'_>, SpecError> {
        let blocks =
            self.pattern.check_entries().and_then(|()| Blocks::new(&self.pattern, self.random));
        let blocks = blocks.and_then(|blocks| match blocks.nnz() {
            Some(nnz) if nnz > MAX_INDEX => Err(pattern::too_many(nnz)),
            _ => Ok(blocks),
        });
        blocks.map_err(|problem| problem.of(&self.spec))
    }

    /// Returns the numbers of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        self.pattern.shape()
    }

    /// Calls `take` for each of `rows` in order, with the row's index, its ascending columns and its values.
    /// The values are empty if all are 1. The matrix may have more entries than 32-bit indices allow.
    ///
    /// # Errors
    /// Returns an error if the row lengths are impossible.
    pub fn each_row(
        &self,
        rows: Range<usize>,
        mut take: impl FnMut(usize, &[u32], &[f64]),
    ) -> Result<(), SpecError> {
        let blocks =
            Blocks::new(&self.pattern, self.random).map_err(|problem| problem.of(&self.spec))?;
        let taken: Result<(), Infallible> = blocks.each_of(rows, |block| {
            for (row, ends) in (block.first_row..).zip(block.row_offsets.windows(2)) {
                let entries = ends[0] as usize..ends[1] as usize;
                let values = block.values.get(entries.clone()).unwrap_or_default();
                take(row, &block.column_indices[entries], values);
            }
            Ok(())
        });
        let Ok(()) = taken;
        Ok(())
    }

    /// Generates the matrix on the current rayon pool.
    ///
    /// # Errors
    /// Returns an error if the row lengths are impossible or the matrix is too large.
    pub fn generate(&self) -> Result<Csr<f64>, SpecError> {
        let blocks = self.blocks()?;
        let (rows, cols) = (blocks.rows, blocks.cols);
        let mut csr = Csr {
            rows,
            cols,
            row_offsets: Vec::with_capacity(rows + 1),
            column_indices: Vec::with_capacity(blocks.most_entries()),
            values: Vec::new(),
        };
        csr.row_offsets.push(0);
        let appended: Result<(), Infallible> = blocks.each(|block| {
            let begun = csr.column_indices.len() as u32;
            csr.row_offsets.extend(block.row_offsets[1..].iter().map(|offset| begun + offset));
            csr.column_indices.extend_from_slice(&block.column_indices);
            csr.values.extend_from_slice(&block.values);
            Ok(())
        });
        let Ok(()) = appended;
        csr.values.resize(csr.column_indices.len(), 1.0);
        Ok(csr)
    }

    /// Writes the matrix as a Matrix Market file with `kind` in a comment, without storing it in memory. The
    /// file is opened only after the specification has been checked. Returns (rows, columns, entries).
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or an error of the kind `InvalidInput` if the row lengths
    /// are impossible or the matrix is too large.
    pub fn write<W: Write>(
        &self,
        kind: &str,
        open: impl FnOnce() -> io::Result<W>,
    ) -> io::Result<(usize, usize, usize)> {
        let blocks =
            self.blocks().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let (rows, cols) = (blocks.rows, blocks.cols);
        let nnz = match blocks.nnz() {
            Some(nnz) => nnz,
            None => {
                let mut nnz = 0;
                blocks.each(|block| -> io::Result<()> {
                    nnz += block.column_indices.len();
                    Ok(())
                })?;
                nnz
            }
        };
        let (pattern, mut out) = (self.random.is_none(), open()?);
        write_head(&Head { pattern, kind: Some(kind), rows, cols, nnz }, &mut out)?;
        blocks.each(|Block { first_row, row_offsets, column_indices, values }| {
            let values = (!pattern).then_some(&values[..]);
            write_block(first_row, &row_offsets, &column_indices, values, &mut out)
        })?;
        out.flush()?;
        Ok((rows, cols, nnz))
    }
}

/// Prints the generator as it is given on the command line.
impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gen:{}", self.spec)
    }
}

/// Returns whether the text begins with the name of a generator, as a specification without `gen:` does.
pub fn is_generator(text: &str) -> bool {
    spec::form(text.split(',').next().unwrap_or_default()).is_some()
}
