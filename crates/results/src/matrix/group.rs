//! Rows that may be compared with each other, and what follows from them together.

use serde::{Deserialize, Serialize};

use crate::metrics::{Peak, break_even, compulsory_bytes, gbs};
use crate::row::baseline::{Baseline, Kind};
use crate::row::contest::{contestants, timed};
use crate::row::{GroupKey, MatrixFacts, Remark, Row, RowKey};
use crate::run::Library;
use crate::settings::CacheState;
use spmv_matrix::device::facts::Clocks;
use spmv_matrix::device::{Device, Stage};
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_matrix::stats::Shape;

/// The cost and the effect of reordering a matrix before it is passed to any method.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Reordering {
    /// The time to compute the order and to permute the matrix, in milliseconds; `None` if another program computed it.
    pub order_ms: Option<f64>,
    /// The bandwidth (the largest distance of an entry from the diagonal) before and after.
    pub bandwidth: [usize; 2],
    /// The profile (the sum over rows of the distance from the first entry to the diagonal) before and after.
    pub profile: [u64; 2],
}

/// Rows that may be compared: they share matrix, order, precision, device, cache state and threads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Group {
    pub precision: Precision,
    pub device: Device,
    pub threads: usize,
    pub cache: CacheState,
    pub order: Order,
    #[serde(flatten)]
    pub reordering: Option<Reordering>,
    pub footprint: u64,
    pub peak: Option<Peak>,
    /// The time spent compiling kernels for these rows, in milliseconds. It is not part of any other time.
    pub compile_ms: Option<f64>,
    pub clocks: Vec<Clocks>,
    /// The host libraries that the process has opened so far.
    pub libraries: Vec<Library>,
    pub rows: Vec<Row>,
    /// For each row the times of the parts of a product, if they were requested.
    pub stages: Vec<Vec<Stage>>,
}

impl Group {
    pub fn new(cell: &RowKey, threads: usize, matrix: &MatrixFacts) -> Self {
        let RowKey { precision, device, cache, order, .. } = *cell;
        let bytes = |shape: &Shape| compulsory_bytes(shape.rows, shape.cols, shape.nnz, precision);
        Self {
            precision,
            device,
            threads,
            cache: cache.unwrap_or_default(),
            order: order.unwrap_or_default(),
            footprint: matrix.shape.as_ref().map_or(0, bytes),
            ..Self::default()
        }
    }

    /// Creates a group of rows in f64 on one CPU thread, without stages.
    pub fn of(rows: Vec<Row>) -> Self {
        let stages = vec![Vec::new(); rows.len()];
        Self { threads: 1, rows, stages, ..Self::default() }
    }

    pub fn has_cell(&self, cell: &RowKey) -> bool {
        (self.precision, self.device, Some(self.cache), Some(self.order))
            == (cell.precision, cell.device, cell.cache, cell.order)
    }

    /// Returns the place of the row with the least time, of a product or of `planned` ones with the setup, perhaps of a
    /// method that chose another one; `None` if no two methods compete.
    pub fn fastest(&self, planned: Option<u32>) -> Option<usize> {
        contestants(&self.rows).get(1)?;
        let ms = |row: &Row| planned.map_or(row.typical_ms(), |planned| row.total_ms(planned));
        Some(least(timed(&self.rows), ms)?.0)
    }

    /// Sets the columns that follow from the whole group and its methods that were measured `before`, with their times.
    pub fn complete(&mut self, before: &[(String, f64)]) {
        let name_and_ms = |row: &Row| Some((row.method_name.clone()?, row.typical_ms()?));
        let here = self.rows.iter().filter_map(name_and_ms);
        let times: Vec<_> = here.chain(before.iter().cloned()).collect();
        let baseline = times.iter().find(|(name, _)| is_plain_csr(name)).map(|(_, ms)| *ms);
        for row in &mut self.rows {
            if self.order != Order::Natural {
                row.order_ms = self.reordering.and_then(|cost| cost.order_ms);
                row.bandwidth = self.reordering.map(|cost| cost.bandwidth[1]);
                row.profile = self.reordering.map(|cost| cost.profile[1]);
            }
            row.set_shares_of_peak(self.peak);
            row.set_break_even(baseline);
            if row.picked.is_some() {
                row.note_gap_to_fastest(&times);
            }
        }
    }
}

fn least<'r>(
    rows: impl Iterator<Item = (usize, &'r Row)>,
    ms: impl Fn(&Row) -> Option<f64>,
) -> Option<(usize, &'r Row)> {
    let timed = rows.filter_map(|row| Some((row, ms(row.1)?)));
    timed.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(row, _)| row)
}

/// Returns whether a method is the baseline of break-even: parallel CSR without a setup.
fn is_plain_csr(name: &str) -> bool {
    Baseline::named(name).is_some_and(|baseline| baseline.kind == Kind::Csr)
}

impl Row {
    fn set_shares_of_peak(&mut self, peak: Option<Peak>) {
        let percent = |bytes| Some(100.0 * gbs(bytes, self.avg_spmv_ms?) / peak?.gbs());
        let as_csr = self.compulsory_bytes().and_then(percent);
        self.required_percent_of_peak = self.required_bytes.and_then(percent);
        self.percent_of_peak = as_csr;
    }

    /// Sets the number of products after which the setup has paid off, compared with a baseline of this time.
    fn set_break_even(&mut self, baseline_ms: Option<f64>) {
        let is_baseline = self.method_name.as_deref().is_some_and(is_plain_csr);
        let times = self.setup_ms.zip(self.median_ms).zip(baseline_ms.filter(|_| !is_baseline));
        self.break_even =
            times.map(|((setup, product), baseline)| break_even(setup, product, baseline).unwrap_or(f64::INFINITY));
    }

    /// Remarks how far this method, which chose one of several, is from the fastest of `times`.
    fn note_gap_to_fastest(&mut self, times: &[(String, f64)]) {
        let fastest = times.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let (Some((best, best_ms)), Some(ms)) = (fastest, self.typical_ms()) else { return };
        let is_fastest = self.picked.as_ref() == Some(best) || ms <= *best_ms;
        self.reason.push(if is_fastest {
            Remark::FastestOfRun
        } else {
            Remark::SlowerThan { method: best.clone(), times: ms / best_ms }
        });
    }
}

impl From<&Group> for GroupKey {
    fn from(group: &Group) -> Self {
        Self {
            precision: Some(group.precision),
            device: Some(group.device),
            threads: (group.device == Device::Cpu).then_some(group.threads),
            cache: Some(group.cache),
            order: Some(group.order),
            transpose: group.rows.iter().any(|row| row.transpose == Some(true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, [median, low, high]: [f64; 3]) -> Row {
        // The mean of a run that another program interrupted once.
        let mean = if name == "first" { 9.0 * median } else { median };
        crate::report::row("a.mtx", name, mean).with_median(median, (low, high))
    }

    #[test]
    fn the_fastest_has_the_smallest_median_and_intervals_may_overlap() {
        let rows = [("second", [2.0, 1.75, 2.5]), ("first", [1.0, 0.5, 1.75]), ("last", [4.0, 2.0, 8.0])];
        let mut group = Group::of(rows.map(|(name, times)| row(name, times)).to_vec());
        assert_eq!(group.fastest(None), Some(1));
        assert_eq!(group.fastest(Some(9)), None, "setups are not known");
        assert_eq!(group.rows[1].uncertainty(), Some(62.5));
        group.rows[0].setup_ms = Some(1.0);
        group.rows[1].setup_ms = Some(9.0);
        assert_eq!([7, 9].map(|planned| group.fastest(Some(planned))), [Some(0), Some(1)]);
    }

    #[test]
    fn a_chooser_is_compared_by_medians() {
        let slower = Remark::SlowerThan { method: "first".into(), times: 2.0 };
        for (ms, picked, fastest, expected) in [
            (2.0, "last", "first", slower),
            (2.0, "first", "first", Remark::FastestOfRun),
            (0.9, "first", "auto", Remark::FastestOfRun),
        ] {
            let rows = [("auto", ms), ("first", 1.0), ("last", 4.0)];
            let mut group = Group::of(rows.map(|(name, ms)| row(name, [ms; 3])).to_vec());
            group.rows[0].picked = Some(picked.into());
            group.complete(&[]);
            assert_eq!(group.rows[0].reason.all(), [expected]);
            assert_eq!(group.rows[1].reason.text(), None);
            let place = group.fastest(None).unwrap();
            assert_eq!(group.rows[place].method_name.as_deref(), Some(fastest));
        }
        let mut group = Group::of(vec![row("auto", [2.0; 3])]);
        group.rows[0].picked = Some("slow".into());
        group.complete(&[("slow".into(), 3.0)]);
        assert_eq!(group.rows[0].reason.all(), [Remark::FastestOfRun]);
        assert_eq!(group.fastest(None), None, "one method wins nothing");
    }
}
