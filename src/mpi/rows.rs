//! Where a rank gets its rows from, without any rank having the whole matrix: a file is read twice, once
//! for the rows' lengths and once for the share, and generators make the rows asked for. (An R-MAT graph
//! is drawn whole by each rank for that, but not kept; array files are read whole.)

use std::ops::Range;

use super::partition::even_cuts;
use crate::matrix::Csr;
use crate::matrix::generate::Generator;
use crate::matrix::market::{Options, Stream};
use crate::matrix::source::{LoadError, Loaded, Source};

/// The rows of a matrix.
pub enum Rows<'s> {
    /// In a coordinate file.
    File(Stream),
    /// By a generator.
    Made(&'s Generator),
    /// In memory.
    Whole(Csr<f64>),
}

impl<'s> Rows<'s> {
    /// Looks at the source; `expand` as for [`Source::open`].
    ///
    /// # Errors
    /// What is wrong with a file so far.
    pub fn open(source: &'s Source, expand: bool) -> Result<Self, LoadError> {
        Ok(match source {
            Source::Generated(generator) | Source::StandIn(_, generator) => Self::Made(generator),
            Source::File(path) => {
                match Stream::open(path, &Options { expand, ..Options::default() })? {
                    Some(stream) => Self::File(stream),
                    None => Self::Whole(Loaded::read(path, expand)?.csr),
                }
            }
        })
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::File(stream) => stream.shape(),
            Self::Made(generator) => generator.shape(),
            Self::Whole(csr) => (csr.rows, csr.cols),
        }
    }

    /// The entries of each row, as far as rank `rank` counts them: the sum over `ranks` ranks is right.
    /// And how many of the file's entries were counted.
    ///
    /// # Errors
    /// What is wrong with the source.
    pub fn lengths(&self, rank: usize, ranks: usize) -> Result<(Vec<u64>, u64), LoadError> {
        let rows = self.shape().0;
        let cuts = even_cuts(rows, ranks);
        let counted = cuts[rank]..cuts[rank + 1];
        match self {
            Self::File(stream) => Ok(stream.lengths(|block| block % ranks == rank)?),
            Self::Made(generator) => {
                let mut lengths = vec![0; rows];
                let count =
                    |row: usize, columns: &[u32], _: &[f64]| lengths[row] = columns.len() as u64;
                generator.each_row(counted, count)?;
                Ok((lengths, 0))
            }
            Self::Whole(csr) => {
                let mut lengths = vec![0; rows];
                counted.for_each(|row| lengths[row] = csr.row(row).len() as u64);
                Ok((lengths, 0))
            }
        }
    }

    /// Whether all ranks together counted what a file announces.
    ///
    /// # Errors
    /// What is wrong with it, if they did not.
    pub fn check(&self, counted: u64) -> Result<(), LoadError> {
        match self {
            Self::File(stream) if counted != stream.size_hint() => Err(stream.defect().into()),
            _ => Ok(()),
        }
    }

    /// Hands the entries of some rows, and of a file also those of others, to `take`: row, column, value.
    ///
    /// # Errors
    /// What is wrong with the source.
    pub fn each(
        &self,
        rows: Range<usize>,
        mut take: impl FnMut(usize, u32, f64),
    ) -> Result<(), LoadError> {
        match self {
            Self::File(stream) => stream.each(take)?,
            Self::Made(generator) => generator.each_row(rows, |row, columns, values| {
                let value = |at| values.get(at).copied().unwrap_or(1.0);
                columns.iter().enumerate().for_each(|(at, &column)| take(row, column, value(at)));
            })?,
            Self::Whole(csr) => rows.for_each(|row| {
                csr.row(row).for_each(|k| take(row, csr.column_indices[k], csr.values[k]));
            }),
        }
        Ok(())
    }

    /// Whether entries come with their mirror images.
    pub fn mirrors(&self) -> bool {
        matches!(self, Self::File(stream) if stream.mirrors())
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> Option<u64> {
        match self {
            Self::File(stream) => Some(stream.file_bytes()),
            _ => None,
        }
    }

    /// What the collection says of the problem in the file.
    pub fn kind(&self) -> Option<String> {
        match self {
            Self::File(stream) => stream.kind().map(Into::into),
            _ => None,
        }
    }
}
