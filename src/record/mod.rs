//! What is written: rows, reports and the facts of the run. Nothing here runs anything.

pub mod cells;
pub mod file;
pub mod ginkgo;
pub mod infinite;
pub mod lines;
pub mod markdown;
pub mod output;
pub mod row;
pub mod run;
pub mod setting;
pub mod sort;
pub mod stages;
pub mod text;
pub mod tuning;
pub mod write;

use serde::{Deserialize, Serialize};

use crate::bench::peak::Peak;
use crate::bench::plan::CacheState;
use crate::device::Stage;
use crate::device::facts::Clocks;
use crate::matrix::order::Order;
use crate::method::Device;
use crate::scalar::Precision;
use row::{MatrixFacts, Row, Status};
use run::Library;
use run::Timed;

/// All that was found out about one matrix.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MatrixReport {
    /// Name, shape, statistics.
    #[serde(flatten)]
    pub facts: MatrixFacts,
    /// Time to read or generate it.
    pub load_ms: Option<f64>,
    /// The file's bytes over that time, in 10^6 per second; `None` for a generated matrix.
    pub load_mbs: Option<f64>,
    /// Whether it had been parsed before and came from the cache; `load_mbs` then counts the bytes of
    /// the CSR arrays.
    pub from_cache: bool,
    /// What is worth telling of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Entries summed into others.
    pub duplicates: u64,
    /// One per order, precision, kind of caches, device and number of threads.
    pub groups: Vec<Group>,
    /// Why there are no groups.
    pub ended: Option<Row>,
}

/// A matrix brought into another order before any method saw it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Reordering {
    /// Time of finding the order and permuting the matrix.
    pub order_ms: f64,
    /// The farthest that an entry lay from the diagonal, and lies now.
    pub bandwidth: [usize; 2],
}

/// The rows that may be compared: one matrix, order, precision and device, hot or cold, and one number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// The precision.
    pub precision: Precision,
    /// Where the methods ran.
    pub device: Device,
    /// Threads of the team.
    pub threads: usize,
    /// Hot or cold.
    pub cache: CacheState,
    /// The order of the matrix.
    pub order: Order,
    /// What that has cost and changed, unless it is the natural one.
    #[serde(flatten)]
    pub reordering: Option<Reordering>,
    /// Compulsory bytes of a product.
    pub footprint: u64,
    /// The ceiling at that footprint; `None` when it was not measured.
    pub peak: Option<Peak>,
    /// Time spent compiling kernels for these rows, in milliseconds; part of no other time.
    pub compile_ms: Option<f64>,
    /// The GPU's clocks while products ran, where it tells.
    pub clocks: Vec<Clocks>,
    /// The libraries of the host that the process has opened so far.
    pub libraries: Vec<Library>,
    /// One per method.
    pub rows: Vec<Row>,
    /// For each row the times of its product's parts, when they were asked for.
    pub stages: Vec<Vec<Stage>>,
}

impl Group {
    /// What it has rows of.
    pub fn timed(&self) -> impl Iterator<Item = Timed> {
        self.rows.iter().filter_map(Row::timed)
    }

    /// The index of the fastest row.
    pub fn fastest(&self) -> Option<usize> {
        let timed =
            self.rows.iter().enumerate().filter_map(|(k, row)| Some((k, row.typical_ms()?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
    }

    /// The other methods whose 95 % intervals begin below the end of that of the fastest.
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
    /// Says in the row of a method that chooses among others how far it is from the fastest, `others` with their
    /// times among them, which were measured before.
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
    /// Of a matrix that was not measured at all.
    pub fn without_groups(file: String, run_id: &str, status: Status, reason: String) -> Self {
        let facts = MatrixFacts { file, ..MatrixFacts::default() };
        let ended = Some(Row::of_matrix(&facts, run_id).ended(status, reason));
        Self { facts, ended, ..Self::default() }
    }

    /// Whether not even its name is known, because nothing was told of it.
    pub fn is_unknown(&self) -> bool {
        self.facts.file.is_empty()
    }

    /// What stderr is told of the matrix.
    pub fn warnings(&self) -> Vec<String> {
        let (file, duplicates) = (&self.facts.file, self.duplicates);
        let summed =
            (duplicates > 0).then(|| format!("{file}: {duplicates} duplicate entries summed"));
        let note = self.note.as_ref().map(|note| format!("{file}: {note}"));
        summed.into_iter().chain(note).collect()
    }

    /// All rows of the matrix.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows).chain(&self.ended)
    }

    /// Whether the matrix has a single row or column, or none: merge-spmv leaves such out.
    pub fn is_trivial(&self) -> bool {
        self.facts.shape.as_ref().is_some_and(|shape| shape.rows <= 1 || shape.cols <= 1)
    }

    /// Why there is nothing but the name.
    pub fn unreadable(&self) -> Option<&str> {
        self.ended.as_ref().and_then(|row| row.reason.as_deref())
    }

    /// Whether a result is wrong or something failed.
    pub fn is_bad(&self) -> bool {
        self.rows()
            .any(|row| matches!(row.status, Some(Status::Wrong | Status::Failed | Status::Timeout)))
    }
}

#[cfg(test)]
impl Group {
    /// Rows of one thread of the CPU, in f64, without parts.
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
            // Of a run that another program interrupted once.
            avg_spmv_ms: Some(if name == "first" { 9.0 * median } else { median }),
            median_ms: Some(median),
            ci95_low_ms: Some(low),
            ci95_high_ms: Some(high),
            reason: Some("picked".into()),
            ..Row::default()
        }
    }

    #[test]
    fn the_fastest_is_so_by_its_median_and_others_may_not_be_told_apart() {
        let rows =
            [("second", [2.0, 1.75, 2.5]), ("first", [1.0, 0.5, 1.75]), ("last", [4.0, 2.0, 8.0])];
        let group = Group::of(rows.map(|(name, times)| row(name, times)).to_vec());
        assert_eq!(group.fastest(), Some(1));
        assert_eq!(group.as_fast_as_the_fastest().collect::<Vec<_>>(), ["second"]);
        assert_eq!(group.rows[1].uncertainty(), Some(62.5));
    }

    #[test]
    fn a_chooser_is_set_off_by_medians() {
        let rows = [row("auto", [2.0, 2.0, 2.0]), row("first", [1.0, 1.0, 1.0])];
        let mut group = Group::of(rows.to_vec());
        ["auto", "first"].iter().for_each(|chooser| group.note_gap_to_fastest(chooser, &[]));
        let reasons = group.rows.iter().map(|row| row.reason.as_deref().unwrap());
        let expected =
            ["picked; 2.00 times the time of the fastest, first", "picked; the fastest of the run"];
        assert!(reasons.eq(expected));
    }
}
