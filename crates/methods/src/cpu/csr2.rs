//! CSR-2: csr-k, the variant that the paper chooses for CPUs. The rows are in Band-k order and grouped into
//! super-rows. Each thread owns an equal number of consecutive super-rows. See `csr_k.rs`.

use super::csr_k::{SRS, memory, prepare};
use crate::formats::csr_k::{COARSENING, ORDER};
use crate::method::{Code, Method, Setup};

pub const METHOD: Method = Method {
    name: "csr2",
    source: "csr-k, sections 2.2 and 4.2, Listings 1 and 2; Kabir et al. 2014",
    summary: "super-rows in Band-k order, an equal number per thread; SIMD, four rows at a time",
    parameters: &[SRS, ORDER, COARSENING],
    setup: Setup::Ordering,
    memory,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare::<f64, 2>, f32: prepare::<f32, 2> })
};
