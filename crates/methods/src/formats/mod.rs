//! Conversions of CSR that methods of both devices use.

pub mod coordinates;
pub mod csr_k;
pub mod diagonals;
pub mod fill;
pub mod fill_estimate;
pub mod register_blocks;
pub mod strips;
