//! What follows from columns of a row.

use super::{Row, Status};
use crate::metrics;

impl Row {
    /// Sets the status and the reason of a row without measurements.
    pub fn ended(self, status: Status, reason: String) -> Self {
        Self { status: Some(status), reason: reason.into(), ..self }
    }

    /// Sets the median time of a product and its 95 % interval.
    pub fn with_median(self, ms: f64, (low, high): (f64, f64)) -> Self {
        Self { median_ms: Some(ms), ci95_low_ms: Some(low), ci95_high_ms: Some(high), ..self }
    }

    /// Sets the mean time of a product, and the rates computed from it if the sizes are known.
    pub fn with_mean(self, ms: f64) -> Self {
        let rate = |bytes| metrics::gbs(bytes, ms);
        let effective =
            |([rows, _, nonzeros], precision): ([_; 3], _)| rate(metrics::effective_bytes(rows, nonzeros, precision));
        Self {
            avg_spmv_ms: Some(ms),
            gflops: self.num_nonzeros.map(|nnz| metrics::gflops(nnz, ms)),
            effective_gbs: self.sizes().zip(self.precision).map(effective),
            compulsory_gbs: self.compulsory_bytes().map(rate),
            ..self
        }
    }

    /// Returns the numbers of rows, columns and nonzeros of the matrix, if it was read.
    pub fn sizes(&self) -> Option<[usize; 3]> {
        Some([self.num_rows?, self.num_cols?, self.num_nonzeros?])
    }

    /// Returns whether the matrix has at most 256 different values, so that one byte can represent each; `None` in
    /// files without that number.
    pub fn values_repeat(&self) -> Option<bool> {
        self.values.map(|_| self.distinct_values.is_some_and(|values| values <= 256))
    }

    pub fn is_ok(&self) -> bool {
        self.status == Some(Status::Ok)
    }

    pub fn is_bad(&self) -> bool {
        matches!(self.status, Some(Status::Wrong | Status::Failed | Status::Timeout))
    }

    /// Returns whether the matrix has at most one row or column; merge-spmv skips such matrices.
    pub fn is_trivial(&self) -> bool {
        self.num_rows.is_some_and(|rows| rows <= 1) || self.num_cols.is_some_and(|cols| cols <= 1)
    }

    /// Returns the bytes of each array of CSR, x and y once.
    pub fn compulsory_bytes(&self) -> Option<u64> {
        let [rows, cols, nonzeros] = self.sizes()?;
        Some(metrics::compulsory_bytes(rows, cols, nonzeros, self.precision?))
    }

    /// Returns the bytes of x and y.
    pub fn vector_bytes(&self) -> Option<u64> {
        Some((self.num_rows? + self.num_cols?) as u64 * self.precision?.bytes())
    }

    /// Whether the method keeps nothing for its products, which read CSR as it is.
    pub fn prepares_nothing(&self) -> bool {
        self.required_bytes.is_some() && self.required_bytes == self.compulsory_bytes()
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

    /// Returns the time of what is done once per matrix: the setup, and the ordering if there is one, in milliseconds.
    /// `None` if that of the ordering is unknown.
    pub fn once_ms(&self) -> Option<f64> {
        let is_unknown = self.order.is_some_and(|order| order.path().is_some());
        Some(self.setup_ms.filter(|_| !is_unknown)? + self.order_ms.unwrap_or(0.0))
    }

    /// Returns the time of this many products and of what is done once, in milliseconds.
    pub fn total_ms(&self, products: u32) -> Option<f64> {
        Some(self.once_ms()? + f64::from(products) * self.typical_ms()?)
    }

    pub fn typical_gflops(&self) -> Option<f64> {
        self.typical(self.gflops?)
    }

    /// Returns the 95 % confidence interval of the median, in milliseconds.
    pub fn interval_ms(&self) -> Option<(f64, f64)> {
        let low = self.ci95_low_ms?;
        let high = self.ci95_high_ms?;
        (low.is_finite() && high.is_finite() && low <= high).then_some((low, high))
    }

    /// Returns half the width of the 95 % confidence interval, in percent of the median.
    pub fn uncertainty(&self) -> Option<f64> {
        let (low, high) = self.interval_ms()?;
        Some(50.0 * (high - low) / self.typical_ms()?)
    }
}
