//! Tests the GPU model: correct kernels compute the right results under any schedule of threads, and incorrect ones end
//! with an error that describes the fault.

mod bounds;
mod builtins;
mod common;
mod driver;
mod faults;
mod semantics;
