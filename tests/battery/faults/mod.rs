//! Faults planted in the kernels' text, by family.

pub mod csrk;
pub mod formats;
pub mod hola;
pub mod merge;
pub mod naive;
pub mod rows;
