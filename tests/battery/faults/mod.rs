//! Faults planted in the kernels' text, by family.

pub mod merge;
pub mod naive;
pub mod rows;
