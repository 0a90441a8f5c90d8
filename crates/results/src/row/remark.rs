//! Remarks on a result.

/// The end of the remark on a time that stayed noisy.
pub const REPEATED: &str = " re-measurements";

/// The remark on a result whose error exceeds [`LIKELY_FACTOR`](spmv_matrix::verify::LIKELY_FACTOR) times the likely
/// bound.
pub const LESS_ACCURATE: &str = "less accurate than its precision explains";
