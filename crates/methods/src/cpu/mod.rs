//! This project's methods for the CPU. All support α and β, which most of their sources do not, and a format that would
//! store mostly fill refuses the matrix.

mod atomic;
pub mod auto;
#[cfg(test)]
mod balance;
pub mod bcsr;
pub mod coo;
pub mod csb;
pub mod csc;
pub mod csr2;
pub mod csr3;
pub mod csr5;
mod csr_k;
pub mod csr_rows;
pub mod dia;
pub mod ell;
pub mod hyb;
pub mod kokkos_style;
#[cfg(test)]
mod many_cores;
pub mod merge;
pub mod merge_numa;
pub mod mpi_merge;
pub mod oski_style;
pub mod packed;
mod placement;
pub(crate) mod prelude;
mod register_blocks;
pub mod row_kernels;
pub mod rows;
pub mod sell;
pub mod seq;
pub mod sprs;
mod strips;
