//! The formulas that convert times into rates. Times are in milliseconds.

mod peak;

pub use peak::Peak;
use spmv_matrix::scalar::Precision;

/// Bytes of a row offset or column index.
const INDEX: u64 = 4;

/// Returns 2·nnz / t in GFLOP/s (10^9 operations per second).
pub fn gflops(nnz: usize, ms: f64) -> f64 {
    2.0 * nnz as f64 / ms / 1e6
}

/// Returns `bytes` / t in GB/s (10^9 bytes per second).
pub fn gbs(bytes: u64, ms: f64) -> f64 {
    bytes as f64 / ms / 1e6
}

/// Returns merge-spmv's byte count, in which x is read once per nonzero: nnz·(2V + I) + rows·(I + V), with V bytes
/// per value and I bytes per index.
pub fn effective_bytes(rows: usize, nnz: usize, precision: Precision) -> u64 {
    let value = precision.bytes();
    nnz as u64 * (2 * value + INDEX) + rows as u64 * (INDEX + value)
}

/// Returns the bytes of every array once: nnz·(V + I) + (rows + 1)·I + cols·V + rows·V, with V bytes per value and I
/// bytes per index. This is the basis of the roofline. With β ≠ 0 y is read as well, which is not counted.
pub fn compulsory_bytes(rows: usize, cols: usize, nnz: usize, precision: Precision) -> u64 {
    let value = precision.bytes();
    nnz as u64 * (value + INDEX) + (rows as u64 + 1) * INDEX + (rows + cols) as u64 * value
}

/// Returns the products after which a setup has paid off against a baseline without setup; `None` if never.
pub fn break_even(setup_ms: f64, product_ms: f64, baseline_ms: f64) -> Option<f64> {
    (product_ms < baseline_ms).then(|| setup_ms / (baseline_ms - product_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures that merge-spmv's README prints for circuit5M, computed from its times of six digits.
    #[test]
    fn circuit5m() {
        let (rows, nnz) = (5_558_326, 59_524_291);
        let bytes = effective_bytes(rows, nnz, Precision::F64);
        for (ms, rate, bandwidth) in [(53.6234, 2.22009, 23.445), (12.6356, 9.42165, 99.495)] {
            assert!((gflops(nnz, ms) / rate - 1.0).abs() < 5e-6);
            assert!((gbs(bytes, ms) - bandwidth).abs() < 1e-3);
        }
    }

    #[test]
    fn compulsory_counts_every_array_once() {
        assert_eq!(compulsory_bytes(2, 3, 5, Precision::F64), 5 * 12 + 3 * 4 + 5 * 8);
        assert_eq!(compulsory_bytes(2, 3, 5, Precision::F32), 5 * 8 + 3 * 4 + 5 * 4);
    }

    #[test]
    fn a_setup_pays_off_only_where_the_product_is_faster() {
        assert_eq!(break_even(10.0, 1.0, 3.0), Some(5.0));
        assert_eq!(break_even(10.0, 3.0, 3.0), None);
    }
}
