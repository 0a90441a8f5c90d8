//! Methods for sparse matrix-vector multiplication, y ← αAx + βy, on CPU and GPU: those of the papers, of vendors'
//! libraries ([`vendor`]) and of the user ([`added`]).
//!
//! [`METHODS`] lists them. A method is prepared for a matrix and then multiplies as often as needed:
//!
//! ```
//! use spmv_matrix::{Csr, verify::Reference};
//! use spmv_methods::{method::Request, team::Team};
//!
//! let csr = Csr::from_triplets(2, 2, &[(0, 0, 3.0), (1, 0, 4.0)]);
//! let team = Team::floating(2);
//! let merge = spmv_methods::named("merge").ok_or("there is no such method")?;
//! let mut prepared = merge.prepare_on_host(&csr, &Request::new(&team))?;
//!
//! let x = vec![1.0; csr.cols()];
//! let mut y = vec![0.0; csr.rows()];
//! prepared.multiply(1.0, &x, 0.0, &mut y)?; // y ← 1·Ax + 0·y
//! assert_eq!(y, [3.0, 4.0]);
//!
//! let verdict = Reference::new(&csr, 1.0, &x, 0.0, &[]).judge(&y);
//! assert!(verdict.passes(), "{}", verdict.describe());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A method reads no clock and no files, apart from what its [`Request`](method::Request) gives it. A module uses only
//! modules above it, which a test checks:
//!
//! | module | contents |
//! |---|---|
//! | [`library`] | finds and opens shared libraries, and undoes what they change in the floating-point state |
//! | [`simd`] | vector instructions chosen at run time: one kernel source for all precisions and instruction sets |
//! | [`team`] | pinned threads with a cheap fork and join |
//! | [`device`] | the GPU: memory, kernels, time; a `Driver` implements it: CUDA, or a model that executes PTX |
//! | [`method`] | what a method is |
//! | [`kernel_file`] | methods that are a `.cu` file |
//! | [`plugin`] | methods of plug-ins: shared objects with the interface of `plugins/spmv_method.h` |
//! | `formats` | conversions of CSR that methods of both devices use |
//! | [`cpu`] | methods of the CPU, one file each |
//! | [`gpu`] | methods of the GPU, one file each; their kernels are in `cuda/` |
//! | [`vendor`] | methods of MKL and cuSPARSE |
//! | `list` | [`METHODS`] |
//! | [`added`] | methods of the user, and one that only some builds have |

pub mod added;
pub mod cpu;
pub mod device;
mod formats;
pub mod gpu;
pub mod kernel_file;
pub mod library;
mod list;
pub mod method;
pub mod plugin;
pub mod simd;
pub mod team;
pub mod vendor;

pub use list::METHODS;

use crate::method::Method;

/// Returns all methods: those of this program, and then those that were added.
pub fn all() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().chain(added::own()).chain(added::methods())
}

pub fn named(name: &str) -> Option<&'static Method> {
    all().find(|method| method.name == name)
}
