//! Results in the form of the benchmarks of Ginkgo (ginkgo-project.github.io): an array with an object per matrix,
//! whose `spmv` has an object per kernel. It is the form in which most published times of this product are.

mod written;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::row::{Row, Status};
use crate::bench::plan::CacheState;
use crate::matrix::order::Order;
use crate::method::Device;
use crate::scalar::Precision;

/// What stands before the names of kernels that are not of this program.
const PREFIX: &str = "ginkgo:";

/// A matrix with its results. The sizes are in `problem`, in newer files of Ginkgo beside it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Matrix {
    filename: String,
    problem: Problem,
    #[serde(skip_serializing)]
    rows: Option<usize>,
    #[serde(skip_serializing)]
    cols: Option<usize>,
    #[serde(skip_serializing)]
    nonzeros: Option<usize>,
    /// The order that the matrix was brought into.
    #[serde(skip_serializing_if = "Option::is_none")]
    reordered: Option<String>,
    /// The kernels; `None` in results of other operations.
    pub spmv: Option<BTreeMap<String, Kernel>>,
    /// Why there is nothing, where this program found that.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Kernel>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Problem {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    name: Option<String>,
    rows: Option<usize>,
    /// Some files have one of the two, some have both.
    cols: Option<usize>,
    columns: Option<usize>,
    nonzeros: Option<usize>,
    kind: Option<String>,
    row_distribution: Distribution,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Distribution {
    max: Option<u32>,
    mean: Option<f64>,
    variance: Option<f64>,
    skewness: Option<f64>,
}

/// What became of a kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// The mean of the repetitions, in the file's [`Unit`].
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// Bytes of the matrix as it is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetitions: Option<usize>,
    completed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What only this program writes.
    #[serde(rename = "spmv-bench", skip_serializing_if = "Option::is_none")]
    told: Option<Told>,
}

/// What the form has no place for and rows need; programs of Ginkgo pass over it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Told {
    run_id: String,
    status: Option<Status>,
    precision: Option<Precision>,
    device: Option<Device>,
    threads: Option<usize>,
    transpose: Option<bool>,
    cache: Option<CacheState>,
}

/// The unit of a file's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Unit {
    /// Nanoseconds, as in files until 2020
    Ns,
    /// Seconds, as in later files
    S,
}

impl Unit {
    /// In a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ns => "nanoseconds",
            Self::S => "seconds",
        }
    }

    /// In seconds.
    pub const fn seconds(self) -> f64 {
        match self {
            Self::Ns => 1e-9,
            Self::S => 1.0,
        }
    }
}

impl Matrix {
    /// What it is called, `place` being its number in the file. A matrix in another order is another one, but for
    /// the orders that rows tell.
    pub fn file(&self, place: usize) -> String {
        let Problem { group, name, .. } = &self.problem;
        let group = group.iter().map(|group| format!("{group}/")).collect::<String>();
        let name = || name.as_ref().map(|name| format!("{group}{name}"));
        let file = Some(self.filename.clone()).filter(|file| !file.is_empty()).or_else(name);
        let file = file.unwrap_or_else(|| format!("matrix {place}"));
        match self.reordered.as_ref().filter(|_| self.order().is_none()) {
            Some(order) => format!("{file} (reordered: {order})"),
            None => file,
        }
    }

    /// Stored entries.
    pub fn nonzeros(&self) -> Option<usize> {
        self.problem.nonzeros.or(self.nonzeros)
    }

    /// Rows, columns and nonzeros, in all places where they may be.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        let Problem { rows, cols, columns, .. } = self.problem;
        let sizes = [rows, cols, columns, self.rows, self.cols, self.nonzeros()];
        sizes.into_iter().flatten()
    }

    /// Whether this program wrote it, in seconds.
    pub fn is_ours(&self) -> bool {
        let mut kernels = self.spmv.iter().flat_map(BTreeMap::values).chain(&self.ended);
        kernels.any(|kernel| kernel.told.is_some())
    }

    /// `None` where rows have no word for it.
    fn order(&self) -> Option<Order> {
        let Some(name) = &self.reordered else { return Some(Order::Natural) };
        serde_json::from_value(name.as_str().into()).ok()
    }

    /// A row per kernel.
    pub fn rows(&self, place: usize, unit: Unit) -> Vec<Row> {
        let matrix = self.row(place);
        let order = Some(self.order().unwrap_or_default());
        let measured = Row { order, ..matrix.clone() };
        let ended = self.ended.iter().map(|kernel| kernel.row(None, matrix.clone(), unit));
        let kernels = self.spmv.iter().flatten();
        let rows = kernels.map(|(name, kernel)| kernel.row(Some(name), measured.clone(), unit));
        rows.chain(ended).collect()
    }

    /// What rows tell of the matrix.
    fn row(&self, place: usize) -> Row {
        let Problem { rows, cols, columns, .. } = self.problem;
        let Distribution { max, mean, variance, skewness } = self.problem.row_distribution;
        let std_dev = variance.map(f64::sqrt);
        Row {
            file: self.file(place),
            num_rows: rows.or(self.rows),
            num_cols: cols.or(columns).or(self.cols),
            num_nonzeros: self.nonzeros(),
            row_length_mean: mean,
            row_length_std_dev: std_dev,
            row_length_variation: std_dev.zip(mean).map(|(std_dev, mean)| std_dev / mean),
            row_length_skewness: skewness,
            max_row_length: max,
            variance,
            kind: self.problem.kind.clone(),
            ..Row::default()
        }
    }
}

impl Kernel {
    /// Its time, if it came to an end.
    pub fn measured(&self) -> Option<f64> {
        self.time.filter(|_| self.completed)
    }

    /// The row of a kernel, or of a matrix where there is no name.
    fn row(&self, name: Option<&String>, matrix: Row, unit: Unit) -> Row {
        let foreign =
            Told { device: Some(Device::Gpu), precision: Some(Precision::F64), ..Told::default() };
        let told = self.told.clone().unwrap_or(foreign);
        let prefix = if self.told.is_some() { "" } else { PREFIX };
        let row = Row {
            method_name: name.map(|name| format!("{prefix}{name}")),
            iterations: self.repetitions,
            precision: told.precision,
            device: told.device,
            threads: told.threads,
            transpose: told.transpose,
            cache: told.cache,
            run_id: told.run_id,
            ..matrix
        };
        let Some(time) = self.measured() else {
            let reason = self.error.clone().unwrap_or_else(|| "not completed".into());
            return row.ended(told.status.unwrap_or(Status::Failed), reason);
        };
        let row = Row { status: Some(Status::Ok), ..row.with_mean(1e3 * unit.seconds() * time) };
        let required = self.storage.zip(row.vector_bytes());
        let required = required.and_then(|(matrix, vectors)| matrix.checked_add(vectors));
        Row { required_bytes: required, ..row }
    }
}
