//! Methods that run on the CPU, one file each.

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
pub mod merge;
pub mod merge_numa;
#[cfg(feature = "mpi")]
pub mod mpi_merge;
pub mod oski_style;
pub mod packed;
mod placement;
mod register_blocks;
pub mod row_kernels;
pub mod rows;
pub mod sell;
pub mod seq;
pub mod sprs;
mod strips;
