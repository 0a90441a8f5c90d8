//! `spmv-bench`: the reference benchmark for sparse matrix-vector multiplication.
//!
//! The modules, and which other modules each of them uses (without tests, and without [`scalar`], which most modules
//! use):
//!
//! | module | contents | uses |
//! |---|---|---|
//! | [`matrix`] | CSR, Matrix Market files, cached matrices, generators, orderings, row statistics | cache, near, team |
//! | [`scalar`] | the two precisions | – |
//! | [`cache`] | files that only save time | – |
//! | [`profile`] | the machine's profile, which is measured once | – |
//! | [`simd`] | vector instructions chosen at run time | – |
//! | [`team`] | pinned threads with a cheap fork and join | – |
//! | [`system`] | facts about the machine | – |
//! | [`near`] | suggestions for mistyped words | – |
//! | [`terminal`] | escapes the control characters of text from files before it is printed | – |
//! | [`device`] | the GPU: memory, kernels, time; backed by CUDA or by a model that executes PTX on the CPU | bench (peak bandwidth), cache, matrix, method, methods (vendor libraries), near |
//! | [`memory`] | how much memory is available and how much is needed | matrix, system |
//! | [`method`] | the definition of a method | device, matrix, memory, profile, simd, team |
//! | [`methods`] | `METHODS`, the list of all methods; one file per algorithm | device, matrix, memory, method, profile, simd, system, team |
//! | `mpi` | one product on many processes, behind the feature `mpi`: partition, product, measurement | bench, device, matrix, method, methods, record, simd, verify |
//! | [`verify`] | reference product, error bound, verdict | matrix |
//! | [`mod@bench`] | plans and executes the measurements; a result for every method | device, matrix, memory, method, profile, simd, system, team, verify |
//! | [`record`] | the row, its CSV, JSON and text, the facts of a run | bench (results), cache, device, matrix, method, methods, system, terminal |
//! | [`report`] | recorded rows as tables and charts, and the comparison of two files | bench, cache, matrix, memory, method, methods, near, record |
//! | [`papers`] | the experiments of the papers: what is measured, shown and claimed | bench, device, matrix, method, methods, near, record, report |
//! | [`datasets`] | the matrix collection: facts of its matrices, named sets, filters | near |
//! | [`fetch`] | downloads matrices of the collection | cache, datasets, matrix |
//! | [`cli`] | one file per verb | all others but verify |
//!
//! The CUDA kernels are in `cuda/`, one file per GPU method.
//!
//! A method does not read the clock, write files or produce CSV. It uses another method only where one is built from
//! the other. `record` does not run methods.

pub mod bench;
pub mod cache;
pub mod cli;
pub mod datasets;
pub mod device;
pub mod fetch;
pub mod matrix;
pub mod memory;
pub mod method;
pub mod methods;
#[cfg(any(feature = "mpi", test))]
pub mod mpi;
pub mod near;
pub mod papers;
pub mod profile;
pub mod record;
pub mod report;
pub mod scalar;
pub mod simd;
pub mod system;
pub mod team;
pub mod terminal;
pub mod verify;
