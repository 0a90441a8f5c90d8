use super::{MatrixFacts, Row, RowKey, Status};
use crate::metrics;

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
        Self { status: Some(status), reason: reason.into(), ..self }
    }

    /// Sets the columns that identify the row within its matrix.
    pub fn with_key(self, cell: &RowKey) -> Self {
        let RowKey { precision, device, method, threads, cache, order } = cell.clone();
        let (precision, device, method_name) = (Some(precision), Some(device), Some(method));
        Self { precision, device, method_name, threads, cache, order, ..self }
    }

    /// Sets the median time of a product and its 95 % interval.
    pub fn with_median(self, ms: f64, (low, high): (f64, f64)) -> Self {
        let (median_ms, ci95_low_ms, ci95_high_ms) = (Some(ms), Some(low), Some(high));
        Self { median_ms, ci95_low_ms, ci95_high_ms, ..self }
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
