//! The tests that compute: products of all methods on all devices, most of them on modelled GPUs, whose kernels are
//! compiled and executed on the CPU.

mod battery;
mod driver;
mod fake_cusparse;
mod forward;
mod gpu;
mod matrices;
mod model;
mod nvrtc;
mod support;
