//! The model of a GPU: what correct kernels compute on it under every order of threads, and what wrong ones
//! end with.

mod bounds;
mod builtins;
mod common;
mod driver;
mod faults;
mod large;
mod semantics;
