//! The interface through which methods use a GPU: memory, kernels by name, and time. A [`Driver`](driver::Driver)
//! implements it: the CUDA driver, or a model that executes the kernels' PTX on the CPU.
//!
//! Work is enqueued in one stream and runs in order. Only copies from and to the host, [`Gpu::time`] and
//! [`synchronize`](driver::Driver::synchronize) wait for it.

pub mod buffer;
pub mod cuda;
pub mod cusparse;
pub mod driver;
mod errors;
pub mod gauge;
mod gpu;
pub mod kernel;
pub mod launch;
pub mod model;
pub mod probe;
pub mod program;
pub mod sources;

pub use buffer::{Buffer, DeviceCsr};
pub use errors::{Failed, Unavailable, Unprepared};
pub use gpu::Gpu;
pub use kernel::{Argument, Graph, Kernel, Module};
pub use launch::Dim3;
pub use program::Program;
pub use spmv_matrix::device::{Device, Stage, counts, facts};
