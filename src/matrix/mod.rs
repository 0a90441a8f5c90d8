//! Matrices in memory (CSR), their sources (files, generators and the cache), statistics and orderings.
//! This module does not depend on methods, devices or timing.

pub mod archive;
pub mod bounds;
pub mod cached;
pub mod csr;
pub mod generate;
pub mod loaded;
pub mod market;
pub mod order;
pub mod remarks;
pub mod size;
pub mod source;
pub mod stats;
mod transpose;

pub use csr::Csr;
