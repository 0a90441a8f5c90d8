//! A machine that executes GPU kernels in the form of PTX on the CPU, with exact results.
//!
//! [`Program::parse`] reads the PTX that NVRTC generates from CUDA C++. [`Machine::launch`] executes one of its
//! kernels, warp by warp. The results are those of IEEE 754 arithmetic with fused multiply-add, as PTX requires.
//! Every access is checked for its bounds and alignment. With a seed, the machine also detects reads of
//! uninitialised bytes and data races, and runs the warps in a random order. A [`model::Recorder`] counts what each
//! instruction does, and records what the model of the execution time needs.
//!
//! A module uses only modules above it, which a test checks:
//!
//! | module | contents |
//! |---|---|
//! | [`fault`] | the errors of kernels |
//! | `random` | random numbers for the orders that CUDA does not define |
//! | [`memory`] | global memory |
//! | `ptx` | the syntax: parses the text into statements |
//! | `lanes` | the registers of a warp, for 32 lanes at a time |
//! | `arithmetic` | the results of arithmetic and logical instructions |
//! | `convert` | the results of conversions |
//! | [`coalesce`] | sectors and bank conflicts of accesses |
//! | [`program`] | kernels with resolved registers, and the order in which diverged lanes run and reconverge |
//! | `race` | the detection of data races |
//! | [`model`] | the model of the execution time |
//! | `block` | a launch and its resident blocks |
//! | `warp` | the execution of a warp |
//! | `launch` | [`Machine`], and the execution of a launch |

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
