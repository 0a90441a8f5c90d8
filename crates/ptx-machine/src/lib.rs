//! A machine that executes GPU kernels in the form of PTX on the CPU, with exact results.
//!
//! [`Program::parse`] reads the PTX that NVRTC generates from CUDA C++. [`Machine::launch`] executes one of its
//! kernels, warp by warp. The results are those of IEEE 754 arithmetic with fused multiply-add, as PTX requires.
//! Every access is checked for its bounds and alignment. With a seed, the machine also detects reads of
//! uninitialised bytes and data races ([`race`]), and runs the warps in a random order. An [`Observer`] is notified
//! of the executed instructions and the memory accesses, to count them or to model their time.
//!
//! | module | contents |
//! |---|---|
//! | [`ptx`] | the syntax: parses the text into statements |
//! | [`program`] | kernels with resolved registers, and the order in which diverged lanes run and reconverge |
//! | [`lanes`], [`arithmetic`], [`compare`], [`convert`] | the results of instructions, for 32 lanes at a time |
//! | [`memory`], [`race`] | global memory, and the detection of data races |
//! | [`warp`], [`block`], [`mbarrier`], [`launch`] | the execution |
//! | [`coalesce`], [`model`] | sectors and bank conflicts of accesses, and the model of the execution time |
//! | [`fault`], [`observer`] | the errors of kernels, and the interface of observers |

#![warn(missing_docs)]

pub mod arithmetic;
pub mod block;
pub mod coalesce;
pub mod compare;
pub mod convert;
pub mod fault;
pub mod lanes;
pub mod launch;
pub mod mbarrier;
pub mod memory;
pub mod model;
pub mod observer;
pub mod program;
pub mod ptx;
pub mod race;
mod random;
mod vectors;
pub mod warp;

pub use fault::Fault;
pub use launch::{Launch, Machine};
pub use memory::Memory;
pub use observer::Observer;
pub use program::{Kernel, Program};
pub use warp::Start;
