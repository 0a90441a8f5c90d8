//! Faults planted in the kernels' text, by family.

pub mod csr5;
pub mod csrk;
pub mod formats;
pub mod hola;
pub mod merge;
pub mod naive;
pub mod rows;
