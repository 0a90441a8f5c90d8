//! A row of results: one matrix × method × precision. External scripts rely on its columns.

use serde::{Deserialize, Serialize};

use super::run::{RowKey, Timed};
use crate::bench::metrics;
use crate::bench::outcome::{Measurement, Outcome};
use crate::bench::plan::{CacheState, Values};
use crate::matrix::Csr;
use crate::matrix::order::Order;
use crate::matrix::stats::RowStatistics;
use crate::method::{Choice, Device};
use crate::scalar::Precision;

/// The status of a method on a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The method was verified and timed.
    Ok,
    /// The method does not support this matrix or is not available on this machine.
    Skipped,
    /// A result exceeded its error bound, or a check of the times failed.
    Wrong,
    /// The method ended with an error.
    Failed,
    /// The method exceeded its time limit.
    Timeout,
}

impl Status {
    /// Returns the name used in CSV files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Wrong => "wrong",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
        }
    }
}

/// The properties of a matrix, which every row of it repeats. An unknown property is `None`, an empty cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatrixFacts {
    /// The file or generator specification as given on the command line.
    pub file: String,
    /// The size and the row statistics; `None` if the matrix could not be read.
    #[serde(flatten)]
    pub shape: Option<Shape>,
    /// See [`pattern_symmetry`](crate::matrix::stats::pattern_symmetry).
    pub pattern_symmetry: Option<f64>,
    /// The kind of problem according to the collection, or a note that the matrix is generated.
    pub kind: Option<String>,
    /// See [`distinct_values`](crate::matrix::stats::distinct_values).
    pub distinct_values: Option<usize>,
    /// The source of the values.
    pub values: Option<Values>,
}

/// The properties that are known when a matrix is in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
    /// The number of stored entries.
    pub nnz: usize,
    /// The statistics of the row lengths.
    pub row_length: RowStatistics,
}

impl Shape {
    /// Returns the numbers of rows, columns and nonzeros.
    pub fn sizes(&self) -> [usize; 3] {
        [self.rows, self.cols, self.nnz]
    }

    /// Computes the shape of a matrix.
    pub fn of<T>(csr: &Csr<T>) -> Self {
        let (rows, cols, nnz) = (csr.rows, csr.cols, csr.nnz());
        Self { rows, cols, nnz, row_length: RowStatistics::of(csr) }
    }
}

/// The settings and measurements that all methods of a matrix and precision share.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The precision.
    pub precision: Precision,
    /// The number of worker threads.
    pub threads: usize,
    /// The state of the caches.
    pub cache: CacheState,
    /// Whether products are with the transpose.
    pub transpose: bool,
    /// The order of the matrix.
    pub order: Order,
    /// The time to compute that order and to permute the matrix, in milliseconds.
    pub order_ms: Option<f64>,
    /// The measured peak bandwidth in GB/s; 0 if it could not be measured.
    pub peak_gbs: f64,
    /// The device on which methods of the GPU run.
    pub gpu: Device,
    /// The minimum time of a kernel launch on the GPU, in milliseconds.
    pub launch_ms: Option<f64>,
    /// The time per product of plain parallel CSR in milliseconds, the baseline for `break_even`; `None` for that
    /// method itself.
    pub baseline_ms: Option<f64>,
    /// The identifier of the run.
    pub run_id: &'a str,
}

/// One row; the fields are the columns. The first 13 columns are those of merge-spmv, in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)] // older files lack later columns
#[allow(missing_docs)] // each column is explained in docs/csv.md
pub struct Row {
    pub file: String,
    pub num_rows: Option<usize>,
    pub num_cols: Option<usize>,
    pub num_nonzeros: Option<usize>,
    pub row_length_mean: Option<f64>,
    pub row_length_std_dev: Option<f64>,
    pub row_length_variation: Option<f64>,
    pub row_length_skewness: Option<f64>,
    pub method_name: Option<String>,
    pub setup_ms: Option<f64>,
    pub avg_spmv_ms: Option<f64>,
    pub gflops: Option<f64>,
    #[serde(rename = "effective_GBs")]
    pub effective_gbs: Option<f64>,
    pub precision: Option<Precision>,
    pub device: Option<Device>,
    pub threads: Option<usize>,
    pub transpose: Option<bool>,
    pub status: Option<Status>,
    pub reason: Option<String>,
    pub min_ms: Option<f64>,
    pub median_ms: Option<f64>,
    pub max_ms: Option<f64>,
    pub std_dev_ms: Option<f64>,
    pub ci95_low_ms: Option<f64>,
    pub ci95_high_ms: Option<f64>,
    pub samples: Option<usize>,
    pub iterations: Option<usize>,
    #[serde(rename = "compulsory_GBs")]
    pub compulsory_gbs: Option<f64>,
    pub percent_of_peak: Option<f64>,
    pub extra_bytes: Option<u64>,
    /// Infinite if the setup never pays off.
    #[serde(with = "super::infinite")]
    pub break_even: Option<f64>,
    pub error_ratio: Option<f64>,
    pub max_row_length: Option<u32>,
    pub empty_rows: Option<usize>,
    pub variance: Option<f64>,
    pub pattern_symmetry: Option<f64>,
    pub kind: Option<String>,
    pub cache: Option<CacheState>,
    pub order: Option<Order>,
    pub library_version: Option<String>,
    pub run_id: String,
    pub order_ms: Option<f64>,
    pub occupancy: Option<f64>,
    pub distinct_results: Option<usize>,
    pub launches: Option<u64>,
    pub launch_floor_ms: Option<f64>,
    pub distinct_values: Option<usize>,
    pub values: Option<Values>,
    pub required_bytes: Option<u64>,
    pub required_percent_of_peak: Option<f64>,
    pub achieved_occupancy: Option<f64>,
    pub warp_execution_efficiency: Option<f64>,
    pub global_load_efficiency: Option<f64>,
    pub memory_bytes: Option<u64>,
    pub bound_by: Option<String>,
}

impl Row {
    /// Creates the row of a matrix on which no method ran.
    pub fn of_matrix(matrix: &MatrixFacts, run_id: &str) -> Self {
        let shape = matrix.shape.as_ref();
        let statistics = shape.map(|shape| &shape.row_length);
        Self {
            file: matrix.file.clone(),
            num_rows: shape.map(|s| s.rows),
            num_cols: shape.map(|s| s.cols),
            num_nonzeros: shape.map(|s| s.nnz),
            row_length_mean: statistics.and_then(|s| s.mean),
            row_length_std_dev: statistics.and_then(|s| s.std_dev),
            row_length_variation: statistics.and_then(|s| s.variation),
            row_length_skewness: statistics.and_then(|s| s.skewness),
            max_row_length: statistics.map(|s| s.max),
            empty_rows: statistics.map(|s| s.empty),
            variance: statistics.and_then(|s| s.variance),
            pattern_symmetry: matrix.pattern_symmetry,
            kind: matrix.kind.clone(),
            distinct_values: matrix.distinct_values,
            values: matrix.values,
            run_id: run_id.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the key of the row within its matrix; `None` for the row of a matrix without methods.
    pub fn cell(&self) -> Option<RowKey> {
        Some(RowKey {
            precision: self.precision?,
            device: self.device?,
            method: self.method_name.clone()?,
            threads: self.threads,
            cache: self.cache,
            order: self.order,
        })
    }

    /// Returns the numbers of rows, columns and nonzeros of the matrix, if it was read.
    pub fn sizes(&self) -> Option<[usize; 3]> {
        Some([self.num_rows?, self.num_cols?, self.num_nonzeros?])
    }

    /// Returns the key of the row with its time.
    pub fn timed(&self) -> Option<Timed> {
        Some(Timed { cell: self.cell()?, median_ms: self.typical_ms() })
    }

    /// Returns the time of a product for comparisons, in milliseconds: the median over the samples, which is robust
    /// against interruptions by other programs, or the mean in files without a median.
    pub fn typical_ms(&self) -> Option<f64> {
        self.median_ms.or(self.avg_spmv_ms)
    }

    /// Converts a rate of this row, which was computed from the mean time, to the rate for
    /// [`typical_ms`](Self::typical_ms).
    pub fn typical(&self, rate: f64) -> Option<f64> {
        Some(rate * self.avg_spmv_ms? / self.typical_ms()?)
    }

    /// Returns GFLOP/s for [`typical_ms`](Self::typical_ms).
    pub fn typical_gflops(&self) -> Option<f64> {
        self.typical(self.gflops?)
    }

    /// Returns the 95 % confidence interval of the median, in milliseconds.
    pub fn interval_ms(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.ci95_low_ms?, self.ci95_high_ms?);
        (low.is_finite() && high.is_finite() && low <= high).then_some((low, high))
    }

    /// Returns half the width of the 95 % confidence interval, in percent of the median.
    pub fn uncertainty(&self) -> Option<f64> {
        let (low, high) = self.interval_ms()?;
        Some(50.0 * (high - low) / self.typical_ms()?)
    }

    /// Returns whether the matrix has at most 256 different values, so that one byte can represent each; `None` in
    /// files without that number.
    pub fn values_repeat(&self) -> Option<bool> {
        self.values.map(|_| self.distinct_values.is_some_and(|values| values <= 256))
    }

    /// Returns whether the method was verified and timed.
    pub fn is_ok(&self) -> bool {
        self.status == Some(Status::Ok)
    }

    /// Returns whether the method was wrong, failed or exceeded its time limit.
    pub fn is_bad(&self) -> bool {
        matches!(self.status, Some(Status::Wrong | Status::Failed | Status::Timeout))
    }

    /// Returns whether the matrix has at most one row or column; merge-spmv skips such matrices.
    pub fn is_trivial(&self) -> bool {
        self.num_rows.is_some_and(|rows| rows <= 1) || self.num_cols.is_some_and(|cols| cols <= 1)
    }

    /// Sets the status and the reason of a row without measurements.
    pub fn ended(self, status: Status, reason: String) -> Self {
        Self { status: Some(status), reason: Some(reason), ..self }
    }

    /// Creates the row of a method from its outcome.
    pub fn new(
        matrix: &MatrixFacts,
        choice: &Choice,
        outcome: &Outcome,
        circumstances: &Circumstances,
    ) -> Self {
        let row = Self {
            method_name: Some(choice.name()),
            precision: Some(circumstances.precision),
            device: Some(choice.method.runs_on(circumstances.gpu)),
            threads: choice.method.threads(circumstances.threads),
            transpose: Some(circumstances.transpose),
            cache: Some(circumstances.cache),
            order: Some(circumstances.order),
            order_ms: circumstances.order_ms,
            ..Self::of_matrix(matrix, circumstances.run_id)
        };
        match outcome {
            Outcome::Skipped(reason) => row.ended(Status::Skipped, reason.clone()),
            Outcome::Failed(reason) => row.ended(Status::Failed, reason.clone()),
            Outcome::Timeout(reason) => row.ended(Status::Timeout, reason.clone()),
            Outcome::Wrong { reason, error_ratio } => {
                Self { error_ratio: Some(*error_ratio), ..row.ended(Status::Wrong, reason.clone()) }
            }
            Outcome::Ok(measurement) => row.measured(measurement, circumstances),
        }
    }

    fn measured(self, measurement: &Measurement, circumstances: &Circumstances) -> Self {
        let summary = &measurement.summary;
        let ms = summary.mean_ms;
        let [rows, cols, nnz] = self.sizes().expect("a measured matrix was read");
        let compulsory = metrics::compulsory_bytes(rows, cols, nnz, circumstances.precision);
        // A peak that could not be measured is 0.
        let peak_gbs = Some(circumstances.peak_gbs).filter(|&peak| peak > 0.0);
        let stored = measurement.matrix_bytes.zip(self.vector_bytes());
        let required = stored.map(|(matrix, vectors)| matrix + vectors);
        let percent_of_peak = |bytes| Some(100.0 * metrics::gbs(bytes, ms) / peak_gbs?);
        let floor = |(launches, launch_ms)| launches as f64 * launch_ms;
        let pays_off = |baseline| {
            let products = metrics::break_even(measurement.setup_ms, summary.median_ms, baseline);
            products.unwrap_or(f64::INFINITY)
        };
        let profile = measurement.profile.as_ref();
        Self {
            status: Some(Status::Ok),
            setup_ms: Some(measurement.setup_ms),
            min_ms: Some(summary.min_ms),
            median_ms: Some(summary.median_ms),
            max_ms: Some(summary.max_ms),
            std_dev_ms: summary.std_dev_ms,
            ci95_low_ms: summary.ci95_ms.map(|ci| ci.0),
            ci95_high_ms: summary.ci95_ms.map(|ci| ci.1),
            samples: Some(summary.samples),
            iterations: Some(summary.iterations),
            percent_of_peak: percent_of_peak(compulsory),
            extra_bytes: measurement.extra_bytes,
            break_even: circumstances.baseline_ms.map(pays_off),
            error_ratio: Some(measurement.error_ratio),
            occupancy: measurement.occupancy,
            distinct_results: Some(measurement.distinct_results),
            launches: measurement.launches,
            launch_floor_ms: measurement.launches.zip(circumstances.launch_ms).map(floor),
            required_bytes: required,
            required_percent_of_peak: required.and_then(percent_of_peak),
            achieved_occupancy: profile.and_then(|profile| profile.achieved_occupancy),
            warp_execution_efficiency: profile.and_then(|p| p.warp_execution_efficiency),
            global_load_efficiency: profile.and_then(|profile| profile.global_load_efficiency),
            memory_bytes: profile.map(|profile| profile.memory_bytes),
            bound_by: profile.map(|profile| profile.bound_by.to_owned()),
            library_version: measurement.library_version.clone(),
            reason: measurement.note.clone(),
            ..self.with_mean(ms)
        }
    }

    /// Sets the mean time of a product, and the rates computed from it if the sizes are known.
    pub fn with_mean(self, ms: f64) -> Self {
        let sizes = self.sizes().zip(self.precision);
        let rate = |bytes: fn([usize; 3], Precision) -> u64| {
            sizes.map(|(sizes, precision)| metrics::gbs(bytes(sizes, precision), ms))
        };
        Self {
            avg_spmv_ms: Some(ms),
            gflops: self.num_nonzeros.map(|nnz| metrics::gflops(nnz, ms)),
            effective_gbs: rate(|[rows, _, nnz], p| metrics::effective_bytes(rows, nnz, p)),
            compulsory_gbs: rate(|[rows, cols, nnz], p| {
                metrics::compulsory_bytes(rows, cols, nnz, p)
            }),
            ..self
        }
    }

    /// Returns the bytes of x and y.
    pub fn vector_bytes(&self) -> Option<u64> {
        Some((self.num_rows? + self.num_cols?) as u64 * self.precision?.bytes())
    }
}

/// Returns the name of a matrix: `cant` for `ufl_mtx/cant.mtx.gz` and for `stand-in:Williams/cant`, and the complete
/// specification of a generator.
pub fn matrix_name(file: &str) -> &str {
    if file.starts_with("gen:") {
        return file;
    }
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let endings = [".mtx.gz", ".tar.gz", ".mtx"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

#[cfg(test)]
mod tests;
