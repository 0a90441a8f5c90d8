//! A machine that executes PTX: the kernels of a GPU, exactly, on a CPU.
//!
//! [`Program::parse`] reads what NVRTC makes of CUDA C++; [`Machine::launch`] executes a kernel of it, warp
//! by warp. Results are those of an IEEE machine with fused multiply-add, as PTX demands. With a seed the
//! machine checks every access: its bounds and alignment, whether the bytes were written, and whether
//! anything orders it with those of other threads ([`race`]); and it draws the order in which warps run.
//! An [`Observer`] sees every instruction and every access, for those who count and model.
//!
//! | module | what is in it |
//! |---|---|
//! | [`ptx`] | the syntax: text to statements |
//! | [`program`] | kernels with resolved registers, and the order in which diverged lanes meet again |
//! | [`lanes`], [`arithmetic`], [`compare`], [`convert`] | what instructions compute, for 32 lanes at a time |
//! | [`memory`], [`race`] | global memory, and what orders accesses to it |
//! | [`warp`], [`block`], [`launch`] | the execution |
//! | [`fault`], [`observer`] | what the outside learns of it |

pub mod arithmetic;
pub mod block;
pub mod coalesce;
pub mod compare;
pub mod convert;
pub mod fault;
pub mod lanes;
pub mod launch;
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
