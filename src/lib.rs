//! `spmv-bench`: the reference benchmark for sparse matrix-vector multiplication.

pub mod matrix;
pub mod scalar;
