//! CSR-3: csr-k. The rows are in Band-k order and grouped into super-rows, and these into super-super-rows.
//! Each thread owns an equal number of consecutive super-super-rows. See `csr_k.rs`.

use super::csr_k::{SRS, SSRS, prepare};
use super::csr2;
use crate::formats::csr_k::{COARSENING, ORDER};
use crate::method::{Code, Method};

pub const METHOD: Method = Method {
    name: "csr3",
    summary: "super-super-rows of super-rows in Band-k order, an equal number per thread; SIMD, four rows at a time",
    parameters: &[SRS, SSRS, ORDER, COARSENING],
    code: Code::Cpu { parallel: true, f64: prepare::<f64, 3>, f32: prepare::<f32, 3> },
    ..csr2::METHOD
};
