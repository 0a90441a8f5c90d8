//! Loads a matrix on all ranks, of which each stores its share.

use std::ops::Range;
use std::time::Duration;

use anyhow::{Result, anyhow};

use super::partition::{Partition, needed, owned_cuts, renumbered};
use super::ranks::Ranks;
use super::rows::Rows;
use super::share::{Collector, Share, need};
use crate::bench::clock::Clock;
use spmv_matrix::Csr;
use spmv_matrix::memory::{self, Available};
use spmv_matrix::reader::Stream;
use spmv_matrix::source::Source;
use spmv_matrix::stats::RowStatistics;
use spmv_matrix::stats::Shape;
use spmv_results::matrix::MatrixReport;
use spmv_results::row::MatrixFacts;
use spmv_results::settings::RunSettings;

/// The properties of a distributed matrix, which are the same on all ranks except `columns`.
pub struct Distributed {
    pub partition: Partition,
    pub shape: Shape,
    /// The time to divide the merge path, on the slowest rank. It is a part of the setup.
    pub cut: Duration,
    /// The time to number the columns of the shares, on the slowest rank. It is a part of the setup.
    pub numbering: Duration,
    /// The columns in which this rank's share has entries. The share's column indices are positions in this list.
    pub columns: Vec<u32>,
    /// The beginning of each rank's part of x, and the end of the last: see [`owned_cuts`].
    pub cuts: Vec<usize>,
}

impl Distributed {
    pub fn owned(&self, rank: usize) -> Range<usize> {
        self.cuts[rank]..self.cuts[rank + 1]
    }
}

/// Reads the matrix and returns its description and this rank's share (see [`Share::csr`]) with columns numbered as in
/// [`Distributed::columns`]. All ranks must call it. The error is that of the first rank that found one, on all ranks.
/// The time of reading is that on the slowest rank.
pub fn load(
    ranks: &Ranks,
    source: &Source,
    run: &RunSettings,
    clock: &dyn Clock,
) -> Result<(MatrixReport, Distributed, Csr<f64>)> {
    let begin = clock.now();
    let rows = ranks.agree(Rows::open(source, &run.reading()))?;
    let (lengths, counted) = ranks.agree(rows.lengths(ranks.rank(), ranks.count()))?;
    let lengths = ranks.sum(&lengths);
    ranks.agree(rows.check(ranks.sum(&[counted])[0]))?;
    let counted = clock.now();
    let partition = Partition::new(lengths, ranks.count());
    let cut = clock.now() - counted;
    let need = need(&partition, ranks.rank(), rows.shape().1, run);
    let available = Available::shared(run.settings.max_memory, 0, ranks.on_machine().1 as u64);
    ranks.agree(match memory::refusal("to load its share and run", need, available) {
        Some(refusal) => Err(anyhow!("{source}: a rank {refusal}; {}", available.advice())),
        None => Ok(()),
    })?;
    let share = share(&rows, &partition, ranks.rank());
    let share = ranks.agree(share.map_err(|error| anyhow!("{source}: {error:#}")))?;
    let read = clock.now() - begin - cut;
    let Share { csr, duplicates } = share;
    let shape = shape(ranks, &partition, &csr);
    let begin = clock.now();
    let columns = needed(&csr);
    let csr = renumbered(csr, &columns);
    let times = [read, cut, clock.now() - begin].map(|time| time.as_nanos() as u64);
    let [read, cut, numbering] = ranks.max(times).map(Duration::from_nanos);
    let kind = rows.file().and_then(Stream::kind).map(Into::into);
    let report = MatrixReport {
        facts: MatrixFacts {
            file: source.to_string(),
            shape: Some(shape.clone()),
            kind: source.generator_kind().or(kind),
            ..MatrixFacts::default()
        },
        load_ms: Some(1e3 * read.as_secs_f64()),
        load_mbs: rows.file().map(|file| file.file_bytes() as f64 / read.as_secs_f64() / 1e6),
        duplicates: ranks.sum(&[duplicates])[0],
        ..MatrixReport::default()
    };
    let cuts = owned_cuts(&partition, shape.cols);
    Ok((report, Distributed { partition, shape, cut, numbering, columns, cuts }, csr))
}

fn share(rows: &Rows, partition: &Partition, rank: usize) -> Result<Share> {
    let mut collector = Collector::new(partition, rank, rows.shape().1)?;
    rows.each(collector.rows(), |row, column, value| collector.take(row, column, value))?;
    Ok(collector.finish(rows.mirrors())?)
}

/// Computes the shape of the matrix after duplicates have been summed.
fn shape(ranks: &Ranks, partition: &Partition, share: &Csr<f64>) -> Shape {
    let (rows, cols) = (partition.rows(), share.cols());
    let nnz = ranks.sum(&[share.nnz() as u64])[0] as usize;
    let counted = (0..rows).map(|row| partition.length(row) as u32);
    let row_length = if nnz == partition.nnz() {
        RowStatistics::of_lengths(counted, rows, nnz)
    } else {
        let mut lengths = vec![0; rows];
        for (row, length) in partition.touched(ranks.rank()).zip(share.row_lengths()) {
            lengths[row] = length.into();
        }
        let lengths = ranks.sum(&lengths);
        RowStatistics::of_lengths(lengths.iter().map(|&length| length as u32), rows, nnz)
    };
    Shape { rows, cols, nnz, row_length }
}
