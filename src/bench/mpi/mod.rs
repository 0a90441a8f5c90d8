//! One product on many machines (Cargo feature `mpi`): the merge path is divided among MPI ranks (processes), as
//! merge-spmv-sc16 divides it among threads.
//!
//! A matrix may have any number of nonzeros, since offsets into it are 64-bit (`partition`). A rank stores its share
//! as a CSR matrix with 32-bit indices (`share`), which it reads from the source itself (`rows`, `load`). Each product
//! gathers x (`gather`), multiplies along the rank's piece of the path, and sends the partial sum of a row that ends
//! on a later rank to that rank (`product`).

pub mod partition;
pub mod rows;
pub mod share;

#[cfg(feature = "mpi")]
mod backend;
#[cfg(feature = "mpi")]
mod gather;
#[cfg(feature = "mpi")]
mod load;
#[cfg(feature = "mpi")]
mod product;
#[cfg(feature = "mpi")]
mod ranks;
#[cfg(test)]
mod tests;

#[cfg(feature = "mpi")]
pub use {
    backend::measure_on_ranks,
    load::{Distributed, load},
    product::Sent,
    ranks::{Ranks, launched},
};
