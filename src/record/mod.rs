//! The output of runs: rows, reports and run records, and the writers of their formats. Nothing here measures.

pub mod cells;
pub mod column;
pub mod facts;
pub mod file;
pub mod filter;
pub mod ginkgo;
pub mod infinite;
pub mod lines;
pub mod markdown;
pub mod output;
pub mod read;
pub mod regression;
pub mod row;
pub mod run;
pub mod setting;
pub mod sort;
pub mod stages;
pub mod table;
pub mod terminal;
pub mod text;
pub mod tuning;
pub mod write;

use serde::{Deserialize, Serialize};

use crate::bench::peak::Peak;
use crate::bench::plan::CacheState;
use row::{MatrixFacts, Row, Status};
use run::Library;
use run::Timed;
use spmv_matrix::order::Order;
use spmv_matrix::remarks;
use spmv_matrix::scalar::Precision;
use spmv_methods::device::Stage;
use spmv_methods::device::facts::Clocks;
use spmv_methods::method::Device;

/// All results of one matrix.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MatrixReport {
    /// The name, the shape and the statistics of the matrix.
    #[serde(flatten)]
    pub facts: MatrixFacts,
    /// The time to read or generate the matrix, in milliseconds.
    pub load_ms: Option<f64>,
    /// The size of the file divided by that time, in MB/s (10^6 bytes per second); `None` for a generated matrix.
    pub load_mbs: Option<f64>,
    /// Whether the matrix was read from the cache of parsed matrices; `load_mbs` then counts the bytes of the CSR
    /// arrays.
    pub from_cache: bool,
    /// A note about reading the matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The number of duplicate entries, which were added to other entries.
    pub duplicates: u64,
    /// One group per order, precision, cache state, device and number of threads.
    pub groups: Vec<Group>,
    /// The row that gives the reason if nothing was measured.
    pub ended: Option<Row>,
}

/// The reordering of a matrix before it was passed to any method.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Reordering {
    /// The time to compute the order and to permute the matrix, in milliseconds.
    pub order_ms: f64,
    /// The bandwidth (the largest distance of an entry from the diagonal) before and after.
    pub bandwidth: [usize; 2],
}

/// Rows that may be compared with each other: they share matrix, order, precision, device, cache state and number of
/// threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// The precision of the values and vectors.
    pub precision: Precision,
    /// The device on which the methods ran.
    pub device: Device,
    /// The number of worker threads.
    pub threads: usize,
    /// The state of the caches.
    pub cache: CacheState,
    /// The order of the matrix.
    pub order: Order,
    /// The cost and the effect of the reordering; `None` for the natural order.
    #[serde(flatten)]
    pub reordering: Option<Reordering>,
    /// The compulsory bytes of a product.
    pub footprint: u64,
    /// The peak bandwidth at that footprint; `None` if it was not measured.
    pub peak: Option<Peak>,
    /// The time spent compiling kernels for these rows, in milliseconds. It is not part of any other time.
    pub compile_ms: Option<f64>,
    /// The GPU's clocks while products ran, where they can be read.
    pub clocks: Vec<Clocks>,
    /// The host libraries that the process has opened so far.
    pub libraries: Vec<Library>,
    /// One row per method.
    pub rows: Vec<Row>,
    /// For each row the times of the parts of a product, if they were requested.
    pub stages: Vec<Vec<Stage>>,
}

impl Group {
    /// Returns the key and the time of each row.
    pub fn timed(&self) -> impl Iterator<Item = Timed> {
        self.rows.iter().filter_map(Row::timed)
    }

    /// Returns the index of the row with the smallest time.
    pub fn fastest(&self) -> Option<usize> {
        let timed =
            self.rows.iter().enumerate().filter_map(|(k, row)| Some((k, row.typical_ms()?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
    }

    /// Returns the other methods whose 95 % intervals overlap that of the fastest method.
    pub fn as_fast_as_the_fastest(&self) -> impl Iterator<Item = &str> {
        let fastest = self.fastest();
        let end = fastest.and_then(|index| Some(self.rows[index].interval_ms()?.1));
        let others = self.rows.iter().enumerate().filter(move |other| Some(other.0) != fastest);
        let close = others.filter(move |(_, row)| {
            row.interval_ms().zip(end).is_some_and(|((low, _), end)| low <= end)
        });
        close.filter_map(|(_, row)| row.method_name.as_deref())
    }
}

impl Group {
    /// Adds to the row of `chooser`, a method that selects one of several methods, how far it is from the fastest
    /// method. `others` are methods with their times that were measured before.
    pub fn note_gap_to_fastest(&mut self, chooser: &str, others: &[(String, f64)]) {
        let here =
            self.rows.iter().filter_map(|row| Some((row.method_name.clone()?, row.typical_ms()?)));
        let all = here.chain(others.iter().cloned());
        let times = all.map(|(method, ms)| (ms, method));
        let Some((best_ms, best)) = times.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        for row in self.rows.iter_mut().filter(|r| r.method_name.as_deref() == Some(chooser)) {
            if let (Some(ms), Some(reason)) = (row.typical_ms(), &mut row.reason) {
                *reason += &match ms <= best_ms {
                    true => "; the fastest of the run".into(),
                    false => format!("; {:.2} times the time of the fastest, {best}", ms / best_ms),
                };
            }
        }
    }
}

impl MatrixReport {
    /// Creates the report of a matrix that was not measured.
    pub fn without_groups(file: String, run_id: &str, status: Status, reason: String) -> Self {
        let facts = MatrixFacts { file, ..MatrixFacts::default() };
        let ended = Some(Row::of_matrix(&facts, run_id).ended(status, reason));
        Self { facts, ended, ..Self::default() }
    }

    /// Returns whether the report is empty, so that not even the name of the matrix is known.
    pub fn is_unknown(&self) -> bool {
        self.facts.file.is_empty()
    }

    /// Returns the warnings about the matrix for stderr.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = remarks::of_duplicates(self.duplicates).into_iter().chain(self.note.clone());
        warnings.map(|warning| format!("{}: {warning}", self.facts.file)).collect()
    }

    /// Returns all rows of the matrix.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows).chain(&self.ended)
    }

    /// Returns whether the matrix has at most one row or column; merge-spmv skips such matrices.
    pub fn is_trivial(&self) -> bool {
        self.facts.shape.as_ref().is_some_and(|shape| shape.rows <= 1 || shape.cols <= 1)
    }

    /// Returns the reason if nothing was measured.
    pub fn unreadable(&self) -> Option<&str> {
        self.ended.as_ref().and_then(|row| row.reason.as_deref())
    }

    /// Returns whether any row is wrong, failed or exceeded its time limit.
    pub fn is_bad(&self) -> bool {
        self.rows().any(Row::is_bad)
    }
}

#[cfg(test)]
impl Group {
    /// Creates a group of rows in f64 on one CPU thread, without stages.
    pub fn of(rows: Vec<Row>) -> Self {
        Self {
            precision: Precision::F64,
            device: Device::Cpu,
            threads: 1,
            cache: CacheState::Hot,
            order: Order::Natural,
            reordering: None,
            footprint: 0,
            peak: None,
            compile_ms: None,
            clocks: Vec::new(),
            libraries: Vec::new(),
            stages: vec![Vec::new(); rows.len()],
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, [median, low, high]: [f64; 3]) -> Row {
        Row {
            method_name: Some(name.into()),
            precision: Some(Precision::F64),
            device: Some(Device::Cpu),
            status: Some(Status::Ok),
            // The mean of a run that another program interrupted once.
            avg_spmv_ms: Some(if name == "first" { 9.0 * median } else { median }),
            median_ms: Some(median),
            ci95_low_ms: Some(low),
            ci95_high_ms: Some(high),
            reason: Some("picked".into()),
            ..Row::default()
        }
    }

    #[test]
    fn the_fastest_has_the_smallest_median_and_intervals_may_overlap() {
        let rows =
            [("second", [2.0, 1.75, 2.5]), ("first", [1.0, 0.5, 1.75]), ("last", [4.0, 2.0, 8.0])];
        let group = Group::of(rows.map(|(name, times)| row(name, times)).to_vec());
        assert_eq!(group.fastest(), Some(1));
        assert_eq!(group.as_fast_as_the_fastest().collect::<Vec<_>>(), ["second"]);
        assert_eq!(group.rows[1].uncertainty(), Some(62.5));
    }

    #[test]
    fn a_chooser_is_compared_by_medians() {
        let rows = [row("auto", [2.0, 2.0, 2.0]), row("first", [1.0, 1.0, 1.0])];
        let mut group = Group::of(rows.to_vec());
        ["auto", "first"].iter().for_each(|chooser| group.note_gap_to_fastest(chooser, &[]));
        let reasons = group.rows.iter().map(|row| row.reason.as_deref().unwrap());
        let expected =
            ["picked; 2.00 times the time of the fastest, first", "picked; the fastest of the run"];
        assert!(reasons.eq(expected));
    }
}
