//! The time of a row that comparisons use, with the rates and the interval that belong to it.

use super::Row;

impl Row {
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
}
