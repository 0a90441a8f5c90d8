//! The source of a rank's rows. No rank needs to store the whole matrix: a file is read twice, once for the row lengths
//! and once for the share, and generators produce only the requested rows. (Each rank draws an R-MAT graph completely
//! without storing it; files in other formats than coordinates are stored completely.)

use std::ops::Range;

use super::partition::even_cuts;
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::loaded::Loaded;
use spmv_matrix::reader::{Options, Stream};
use spmv_matrix::source::{LoadError, Source};

pub enum Rows<'s> {
    /// A coordinate file, which is read entry by entry.
    File(Box<Stream>),
    /// A generated matrix, of which a rank produces only its rows.
    Made(&'s Generator),
    /// A matrix in memory.
    Whole(Csr<f64>),
}

impl<'s> Rows<'s> {
    pub fn open(source: &'s Source, options: &Options) -> Result<Self, LoadError> {
        Ok(match source {
            Source::Generated(generator) | Source::Surrogate(_, generator) => Self::Made(generator),
            Source::File(path) => match Stream::open(path, options)? {
                Some(stream) => Self::File(Box::new(stream)),
                None => Self::Whole(Loaded::read(path, options)?.csr),
            },
        })
    }

    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::File(stream) => stream.shape(),
            Self::Made(generator) => generator.shape(),
            Self::Whole(csr) => (csr.rows(), csr.cols()),
        }
    }

    /// Counts the entries of each row in the part of the source that rank `rank` reads; the row lengths are the sums
    /// over all `ranks` ranks. Also returns the number of entries of the file that were counted.
    pub fn lengths(&self, rank: usize, ranks: usize) -> Result<(Vec<u64>, u64), LoadError> {
        if let Self::File(stream) = self {
            return Ok(stream.lengths(|block| block % ranks == rank)?);
        }
        let cuts = even_cuts(self.shape().0, ranks);
        let mut lengths = vec![0; self.shape().0];
        self.each(cuts[rank]..cuts[rank + 1], |row, _, _| lengths[row] += 1)?;
        Ok((lengths, 0))
    }

    /// Checks that all ranks together counted as many entries as the file's header announces.
    pub fn check(&self, counted: u64) -> Result<(), LoadError> {
        match self {
            Self::File(stream) if counted != stream.size_hint() => Err(stream.defect().into()),
            _ => Ok(()),
        }
    }

    /// Passes row, column and value of each entry of `rows` to `take`; for a file also those of other rows.
    pub fn each(&self, rows: Range<usize>, mut take: impl FnMut(usize, u32, f64)) -> Result<(), LoadError> {
        match self {
            Self::File(stream) => stream.each(take)?,
            Self::Made(generator) => generator.each_row(rows, |row, columns, values| {
                let value = |at| values.get(at).copied().unwrap_or(1.0);
                columns.iter().enumerate().for_each(|(at, &column)| take(row, column, value(at)));
            })?,
            Self::Whole(csr) => rows.for_each(|row| {
                csr.row(row).for_each(|k| take(row, csr.column_indices()[k], csr.values()[k]));
            }),
        }
        Ok(())
    }

    /// Returns the file, if entries are read from one.
    pub fn file(&self) -> Option<&Stream> {
        if let Self::File(stream) = self { Some(stream) } else { None }
    }

    /// Returns whether entries are passed together with their mirror images.
    pub fn mirrors(&self) -> bool {
        self.file().is_some_and(Stream::mirrors)
    }
}
