//! Results in the format of Ginkgo's benchmarks (ginkgo-project.github.io): an array with an object per matrix, whose
//! `spmv` has an object per kernel. Most published SpMV times are in this format.

pub mod parse;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::matrix::MatrixReport;
use crate::row::{Row, Status, matrix_name};
use crate::settings::CacheState;
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

/// The prefix of method names for kernels that another program has measured.
const PREFIX: &str = "ginkgo:";

/// A matrix with its results. Its sizes are in `problem` or, in newer files of Ginkgo, next to `problem`.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    reordered: Option<String>,
    /// The results by kernel; `None` in results of other operations.
    pub spmv: Option<BTreeMap<String, Kernel>>,
    /// The reason why nothing was measured, in files of this program.
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
    /// The number of columns: some files have `cols`, some `columns`, some both.
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

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// The mean time of the repetitions, in the file's [`Unit`].
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetitions: Option<usize>,
    completed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(rename = "spmv-bench", skip_serializing_if = "Option::is_none")]
    own: Option<OwnFields>,
}

/// The fields of rows that Ginkgo's format does not have; Ginkgo's programs ignore them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct OwnFields {
    run_id: String,
    status: Option<Status>,
    precision: Option<Precision>,
    device: Option<Device>,
    threads: Option<usize>,
    transpose: Option<bool>,
    cache: Option<CacheState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Unit {
    /// Nanoseconds, as in files until 2020
    Ns,
    /// Seconds, as in later files
    S,
}

impl Unit {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ns => "nanoseconds",
            Self::S => "seconds",
        }
    }

    pub const fn seconds(self) -> f64 {
        match self {
            Self::Ns => 1e-9,
            Self::S => 1.0,
        }
    }
}

impl Matrix {
    /// Returns the name of the matrix, the `place`-th of the file. An order that rows cannot represent is part of it.
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

    pub fn nonzeros(&self) -> Option<usize> {
        self.problem.nonzeros.or(self.nonzeros)
    }

    /// Returns the numbers of rows, columns and nonzeros from all fields that contain them.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        let Problem { rows, cols, columns, .. } = self.problem;
        let sizes = [rows, cols, columns, self.rows, self.cols, self.nonzeros()];
        sizes.into_iter().flatten()
    }

    /// Returns whether this program wrote the results; its times are in seconds.
    pub fn is_ours(&self) -> bool {
        let mut kernels = self.spmv.iter().flat_map(BTreeMap::values).chain(&self.ended);
        kernels.any(|kernel| kernel.own.is_some())
    }

    fn order(&self) -> Option<Order> {
        self.reordered.as_ref().map_or(Some(Order::Natural), |name| Order::named(name))
    }

    pub fn rows(&self, place: usize, unit: Unit) -> Vec<Row> {
        let matrix = self.row(place);
        let order = Some(self.order().unwrap_or_default());
        let measured = Row { order, ..matrix.clone() };
        let ended = self.ended.iter().map(|kernel| kernel.row(None, matrix.clone(), unit));
        let kernels = self.spmv.iter().flatten();
        let rows = kernels.map(|(name, kernel)| kernel.row(Some(name), measured.clone(), unit));
        rows.chain(ended).collect()
    }

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
    pub fn measured(&self) -> Option<f64> {
        self.time.filter(|_| self.completed)
    }

    fn row(&self, name: Option<&String>, matrix: Row, unit: Unit) -> Row {
        let (device, precision) = (Some(Device::Gpu), Some(Precision::F64));
        let foreign = OwnFields { device, precision, ..OwnFields::default() };
        let own = self.own.clone().unwrap_or(foreign);
        let prefix = if self.own.is_some() { "" } else { PREFIX };
        let row = Row {
            method_name: name.map(|name| format!("{prefix}{name}")),
            iterations: self.repetitions,
            precision: own.precision,
            device: own.device,
            threads: own.threads,
            transpose: own.transpose,
            cache: own.cache,
            run_id: own.run_id,
            ..matrix
        };
        let Some(time) = self.measured() else {
            let reason = self.error.clone().unwrap_or_else(|| "not completed".into());
            return row.ended(own.status.unwrap_or(Status::Failed), reason);
        };
        let row = Row { status: Some(Status::Ok), ..row.with_mean(1e3 * unit.seconds() * time) };
        let required = self.storage.zip(row.vector_bytes());
        let required = required.and_then(|(matrix, vectors)| matrix.checked_add(vectors));
        Row { required_bytes: required, ..row }
    }

    /// Times are written in seconds.
    fn of(row: &Row) -> Self {
        let stored = row.required_bytes.zip(row.vector_bytes());
        let Row { status, precision, device, threads, transpose, cache, .. } = *row;
        let run_id = row.run_id.clone();
        let own = OwnFields { run_id, status, precision, device, threads, transpose, cache };
        Self {
            time: row.avg_spmv_ms.map(|ms| ms / 1e3),
            storage: stored.map(|(required, vectors)| required - vectors),
            repetitions: row.iterations,
            completed: row.is_ok(),
            error: row.reason.text().filter(|_| !row.is_ok()).map(String::from),
            own: Some(own),
        }
    }
}

impl From<&MatrixReport> for Matrix {
    fn from(report: &MatrixReport) -> Self {
        let rows = report.groups.iter().flat_map(|group| &group.rows);
        let order = rows.clone().find_map(|row| row.order.filter(|&o| o != Order::Natural));
        let kernel = |row: &Row| Some((row.method_name.clone()?, Kernel::of(row)));
        let matrix = Row::of_matrix(&report.facts, "");
        let problem = Problem {
            group: None,
            name: Some(matrix_name(&matrix.file).into()),
            rows: matrix.num_rows,
            cols: matrix.num_cols,
            columns: matrix.num_cols,
            nonzeros: matrix.num_nonzeros,
            kind: matrix.kind,
            row_distribution: Distribution {
                max: matrix.max_row_length,
                mean: matrix.row_length_mean,
                variance: matrix.variance,
                skewness: matrix.row_length_skewness,
            },
        };
        Self {
            filename: matrix.file,
            problem,
            reordered: order.map(|order| order.name().into()),
            spmv: Some(rows.filter_map(kernel).collect()),
            ended: report.ended.as_ref().map(Kernel::of),
            ..Self::default()
        }
    }
}
