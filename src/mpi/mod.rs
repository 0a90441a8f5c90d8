//! One product on many machines, with the cargo feature `mpi`: the merge path cut over the processes that
//! MPI calls ranks, as merge-spmv-sc16 cuts it over threads.
//!
//! A matrix may have any number of nonzeros, since offsets into it are 64-bit (`partition`); a rank
//! keeps its share as a CSR matrix with 32-bit indices (`share`), which it takes from the source itself
//! (`rows`, `load`). Each product gathers x (`gather`), multiplies along the rank's piece of the path, and
//! hands what it has of a row that it does not close to the rank that does (`product`).

pub mod columns;
pub mod partition;
pub mod rows;
pub mod share;

#[cfg(feature = "mpi")]
mod check;
#[cfg(feature = "mpi")]
mod gather;
#[cfg(feature = "mpi")]
mod load;
#[cfg(feature = "mpi")]
mod measure;
#[cfg(feature = "mpi")]
mod parts;
#[cfg(feature = "mpi")]
mod product;
#[cfg(feature = "mpi")]
mod ranks;
#[cfg(test)]
mod tests;

#[cfg(feature = "mpi")]
pub use {
    load::{Distributed, load},
    measure::{Bench, Trial},
    product::Sent,
    ranks::{Ranks, launched},
};
