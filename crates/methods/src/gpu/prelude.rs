//! What the methods of the GPU have in common.

/// The code of a method of which several differ in the further arguments of `prepare`.
macro_rules! code {
    ($prepare:ident, $($argument:expr),*) => {
        Code::Gpu {
            f64: |csr, request| $prepare(csr, request, $($argument),*),
            f32: |csr, request| $prepare(csr, request, $($argument),*),
        }
    };
}
pub(crate) use code;

pub(crate) use crate::device::program::program;

pub use crate::device::buffer::Value;
pub use crate::device::launch::WARP;
pub use crate::device::{Argument, Buffer, DeviceCsr, Dim3, Gpu, Kernel, Module, Program};
pub use crate::method::{
    Code, Failed, Method, Operations, Parameter, Preparation, Prepared, PreparedOnGpu, Request, Setup, Unavailable,
    Unprepared,
};
pub use spmv_matrix::Csr;
pub use spmv_matrix::memory::extent::Extent;
pub use spmv_matrix::scalar::Scalar;
