//! NVIDIA's GPUs through the CUDA driver. Building the program needs no part of CUDA: the driver, the compiler and
//! cuSPARSE are opened at run time, and a missing one results in a message instead of a panic.

mod context;
pub mod cusparse;
mod driver;
pub mod editions;
mod facts;
mod kernels;
mod libraries;
mod messages;
pub mod nvrtc;
pub mod precompiled;
pub mod usage;

pub use context::NAME as DRIVER;
pub use driver::open;
