//! Faults to plant in the text of kernels, by family.

pub mod bccoo;
pub mod csr5;
pub mod csr_bulk;
pub mod csr_lrb;
pub mod csrk;
pub mod dasp;
pub mod formats;
pub mod hola;
pub mod kokkos_style;
pub mod merge;
pub mod naive;
pub mod packed;
pub mod rows;
pub mod tile;
