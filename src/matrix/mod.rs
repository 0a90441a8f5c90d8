//! The matrix in memory and where it comes from. Knows nothing of methods, devices or time.

pub mod archive;
pub mod bounds;
pub mod cached;
pub mod csr;
pub mod generate;
pub mod market;
pub mod order;
pub mod source;
pub mod stats;
mod transpose;

pub use csr::Csr;
