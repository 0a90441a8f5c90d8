//! `spmv-bench`: the reference benchmark for sparse matrix-vector multiplication.
//!
//! The rooms, and which way they look:
//!
//! | room | what it holds | looks at |
//! |---|---|---|
//! | [`matrix`] | CSR, Matrix Market, kept matrices, generators, orderings, row statistics | team, cache |
//! | [`scalar`] | the two precisions | – |
//! | [`cache`] | files that only save time | – |
//! | [`profile`] | what is measured of a machine once | scalar |
//! | [`simd`] | vector instructions chosen at run time | scalar |
//! | [`team`] | pinned threads with a cheap fork and join | – |
//! | [`system`] | facts of the machine | – |
//! | [`near`] | what a mistyped word may have meant | – |
//! | [`terminal`] | text of others without what a terminal obeys | – |
//! | [`device`] | the GPU: memory, kernels, time; CUDA behind it, or a model that executes PTX on the CPU | matrix |
//! | [`memory`] | how much there is, how much is needed | matrix, system |
//! | [`method`] | what a method is | matrix, memory, team, simd, device, profile |
//! | [`methods`] | `METHODS`, the one list; one file per algorithm | method |
//! | `mpi` | one product over many processes, with the feature of that name: partition, product, measurement | matrix, methods, verify, bench |
//! | [`verify`] | reference, bound, verdict | matrix |
//! | [`mod@bench`] | plan → execute → a value for every method | methods, verify |
//! | [`record`] | the row, its CSV, JSON and text, the run's facts | results of bench |
//! | [`report`] | rows that were recorded, as tables and charts, and two files of them compared | record, cache |
//! | [`papers`] | the documents' experiments: what is measured, shown and claimed | methods, report, record |
//! | [`datasets`] | the collection's matrices: their facts, named sets, filters | – |
//! | [`fetch`] | brings matrices of the collection | datasets, matrix, cache |
//! | [`cli`] | one file per verb | all |
//!
//! The kernels are in `cuda/`, a file per GPU method.
//!
//! Methods never see clocks, files or CSV, and each other only where one is made of another; `record` never
//! runs anything.

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
