use super::{MatrixFacts, Row, Status};
use crate::bench::metrics;
use crate::bench::outcome::{Measurement, Outcome};
use crate::record::run::RowKey;

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
            bandwidth: matrix.bandwidth,
            profile: matrix.profile,
            run_id: run_id.to_owned(),
            ..Self::default()
        }
    }

    /// Sets the status and the reason of a row without measurements.
    pub fn ended(self, status: Status, reason: String) -> Self {
        Self { status: Some(status), reason: Some(reason), ..self }
    }

    /// Sets the columns that identify the row within its matrix.
    pub fn with_key(self, cell: &RowKey) -> Self {
        let RowKey { precision, device, method, threads, cache, order } = cell.clone();
        Self {
            precision: Some(precision),
            device: Some(device),
            method_name: Some(method),
            threads,
            cache,
            order,
            ..self
        }
    }

    /// Sets the result of a method, but not what follows from other rows: see `Group::complete`.
    pub fn with_outcome(self, outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Skipped(reason) => self.ended(Status::Skipped, reason.clone()),
            Outcome::Failed(reason) => self.ended(Status::Failed, reason.clone()),
            Outcome::Timeout(reason) => self.ended(Status::Timeout, reason.clone()),
            Outcome::Wrong { reason, error_ratio } => Self {
                error_ratio: Some(*error_ratio),
                ..self.ended(Status::Wrong, reason.clone())
            },
            Outcome::Ok(measurement) => self.measured(measurement),
        }
    }

    fn measured(self, measurement: &Measurement) -> Self {
        let summary = &measurement.summary;
        let stored = measurement.matrix_bytes.zip(self.vector_bytes());
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
            extra_bytes: measurement.extra_bytes,
            error_ratio: Some(measurement.error_ratio),
            occupancy: measurement.occupancy,
            distinct_results: Some(measurement.distinct_results),
            launches: measurement.launches,
            launch_floor_ms: measurement.launch_floor_ms,
            required_bytes: stored.map(|(matrix, vectors)| matrix + vectors),
            achieved_occupancy: profile.and_then(|profile| profile.achieved_occupancy),
            warp_execution_efficiency: profile.and_then(|p| p.warp_execution_efficiency),
            global_load_efficiency: profile.and_then(|profile| profile.global_load_efficiency),
            memory_bytes: profile.map(|profile| profile.memory_bytes),
            bound_by: profile.map(|profile| profile.bound_by.to_owned()),
            warp_instructions: profile.map(|profile| profile.warp_instructions),
            global_sectors: profile.map(|profile| profile.global_sectors),
            registers: profile.map(|profile| profile.registers),
            host_launch_ms: summary.host_launch_ms,
            independent_ms: summary.independent_ms,
            joules_per_product: measurement.watts.map(|watts| 1e-3 * watts * summary.mean_ms),
            library_version: measurement.library_version.clone(),
            reason: measurement.note.clone(),
            ..self.with_mean(summary.mean_ms)
        }
    }

    /// Sets the mean time of a product, and the rates computed from it if the sizes are known.
    pub fn with_mean(self, ms: f64) -> Self {
        let rate = |bytes| metrics::gbs(bytes, ms);
        let effective = |([rows, _, nonzeros], precision): ([_; 3], _)| {
            rate(metrics::effective_bytes(rows, nonzeros, precision))
        };
        Self {
            avg_spmv_ms: Some(ms),
            gflops: self.num_nonzeros.map(|nnz| metrics::gflops(nnz, ms)),
            effective_gbs: self.sizes().zip(self.precision).map(effective),
            compulsory_gbs: self.compulsory_bytes().map(rate),
            ..self
        }
    }
}
