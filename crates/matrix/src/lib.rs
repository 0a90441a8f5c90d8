//! Sparse matrices in memory: a fast reader of matrix files, generators, orderings and statistics.
//!
//! A matrix is a [`Csr`], whose arrays are valid whatever was read: [`reader`] reads a file (Matrix Market on all
//! cores, and other formats; compressed or not, or in an archive), [`source`] also makes generated matrices.
//!
//! ```
//! use spmv_matrix::{reader, stats::RowStatistics};
//!
//! let file = tempfile::Builder::new().suffix(".mtx").tempfile()?;
//! std::fs::write(&file, "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n")?;
//!
//! let read = reader::read(file.path(), &reader::Options::default())?;
//! assert_eq!(read.csr.row_offsets(), [0, 2, 3]); // both triangles
//! assert_eq!(read.csr.values(), [4.0, -1.0, -1.0]);
//! assert_eq!(RowStatistics::of(&read.csr).max, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A module uses only modules above it, which a test checks:
//!
//! | module | contents |
//! |---|---|
//! | [`scalar`] | the two precisions |
//! | [`spoil`] | values that overwrite y before a product |
//! | [`limited`] | text files up to a limit |
//! | [`interned`] | texts with a static lifetime |
//! | [`method_name`] | the name of a method with its parameters |
//! | [`device`] | the CPU or a GPU, facts about it, counts of its kernels |
//! | [`near`] | suggestions for mistyped words |
//! | [`system`] | facts about the machine and its limits, pages |
//! | [`cache`] | files that only save time |
//! | [`disjoint`] | slices whose parts several threads write |
//! | [`csr`] | the matrix |
//! | [`transpose`] | its transpose |
//! | [`stats`] | statistics of its rows |
//! | [`order`] | permutations of its rows |
//! | [`verify`] | the reference of a product, its error bound, and the verdict on a result |
//! | [`memory`] | how much memory is available, how much matrices need, and the limits while they are read |
//! | [`archive`] | tar archives, and the matrix in them |
//! | [`reader`] | matrix files: what packs them, and their formats, of which each has a file |
//! | [`generate`] | generated matrices |
//! | [`remarks`] | what is unusual about a matrix |
//! | [`loaded`] | a matrix with the facts of its source |
//! | [`mod@source`] | files and generators by their names |
//! | [`cached`] | files that were parsed before |

pub mod archive;
pub mod cache;
pub mod cached;
pub mod csr;
pub mod device;
pub mod disjoint;
pub mod generate;
pub mod interned;
pub mod limited;
pub mod loaded;
pub mod memory;
pub mod method_name;
pub mod near;
pub mod order;
pub mod reader;
pub mod remarks;
pub mod scalar;
pub mod source;
pub mod spoil;
pub mod stats;
pub mod system;
pub mod transpose;
pub mod verify;

pub use csr::Csr;
