//! A machine that executes GPU kernels in the form of PTX on the CPU, with exact results.
//!
//! [`Program::parse`] reads the PTX that NVRTC generates from CUDA C++. [`Machine::launch`] executes one of its
//! kernels, warp by warp. The results are those of IEEE 754 arithmetic with fused multiply-add, as PTX requires.
//! Every access is checked for its bounds and alignment. With a seed, the machine also detects reads of
//! uninitialised bytes and data races, and runs the warps in a random order. A [`model::Recorder`] counts what each
//! instruction does, and records what the model of the execution time needs.
//!
//! | module | contents |
//! |---|---|
//! | `ptx` | the syntax: parses the text into statements |
//! | [`program`] | kernels with resolved registers, and the order in which diverged lanes run and reconverge |
//! | `lanes`, `arithmetic`, `convert` | the results of instructions, for 32 lanes at a time |
//! | [`memory`], `race` | global memory, and the detection of data races |
//! | `warp`, `block`, `launch` | the execution |
//! | [`coalesce`], [`model`] | sectors and bank conflicts of accesses, and the model of the execution time |
//! | [`fault`] | the errors of kernels |

mod arithmetic;
mod block;
pub mod coalesce;
mod convert;
pub mod fault;
mod lanes;
mod launch;
pub mod memory;
pub mod model;
pub mod program;
mod ptx;
mod race;
mod random;
mod warp;

pub use block::Launch;
pub use fault::Fault;
pub use launch::Machine;
pub use memory::Memory;
pub use program::{Kernel, Program};
