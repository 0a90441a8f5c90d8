//! The one list of methods. Help, `spmv-bench methods`, verification and the tests follow from it.

pub mod cpu;
pub mod simd;
pub mod vendor;

use crate::method::Method;

/// Every method, in the order in which they are shown and run.
pub const METHODS: &[Method] = &[
    cpu::seq::METHOD,
    cpu::csr_rows::METHOD,
    cpu::merge::METHOD,
    cpu::sprs::METHOD,
    vendor::mkl_csrmv::METHOD,
    vendor::mkl_ie::METHOD,
    vendor::mkl_ie::METHOD_OPT,
];
