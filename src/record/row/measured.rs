//! Creates rows from the results of measurements.

use super::{MatrixFacts, Row, Status};
use crate::bench::metrics;
use crate::bench::outcome::{Measurement, Outcome};
use crate::bench::plan::CacheState;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::{Choice, Device};

/// The settings and measurements that all methods of a matrix and precision share.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The precision of the values and vectors.
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
            warp_instructions: profile.map(|profile| profile.warp_instructions),
            global_sectors: profile.map(|profile| profile.global_sectors),
            registers: profile.map(|profile| profile.registers),
            host_launch_ms: summary.host_launch_ms,
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
}
