//! This project's methods for GPUs. Each file prepares the launches of the kernels in the file of its name in `cuda/`.
//! All support α and β, which most sources do not, and a format that would store mostly padding refuses the matrix.

pub mod auto;
pub mod bccoo;
pub mod bcsr;
pub(crate) mod convert;
mod convert_blocks;
mod convert_codes;
mod convert_dasp;
mod convert_packed;
pub mod coo;
pub mod csc;
pub mod csr5;
pub mod csr5_cached;
pub mod csr_adaptive;
pub mod csr_bulk;
pub mod csr_lrb;
pub mod csr_scalar;
pub mod csr_vector;
pub mod csrk;
pub mod dasp;
pub mod dia;
pub mod ell;
mod fill_packed;
pub mod hola;
pub mod hola_t;
pub mod hyb;
pub mod kokkos_style;
pub mod light;
pub mod merge;
mod merge_cub;
pub mod naive;
pub mod packed;
pub mod pcsr;
pub mod sell;
mod start;
mod start_rows;
pub mod tile;

use prelude::*;

/// What the methods of the GPU have in common.
pub(crate) mod prelude {
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

    pub(crate) use crate::device::kernel::program;

    pub use crate::device::buffer::Value;
    pub use crate::device::{Argument, Buffer, DeviceCsr, Dim3, Gpu, Kernel, Module, Program};
    pub use crate::method::{
        Code, Failed, Method, Operations, Parameter, Preparation, Prepared, PreparedOnGpu, Request,
        Setup, Unavailable, Unprepared,
    };
    pub use spmv_matrix::Csr;
    pub use spmv_matrix::memory::extent::Extent;
    pub use spmv_matrix::scalar::Scalar;
}

/// Returns a product that launches one kernel, whose arguments are the number of rows, the CSR arrays, x, y, α and β.
fn by_rows<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    kernel: Kernel,
    grid: usize,
    block: usize,
) -> PreparedOnGpu<'a, T> {
    Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        kernel.launch(grid, block, 0, &[&csr.rows(), csr, x, y, &alpha, &beta])
    })
}

/// The number of nonzeros that a thread loads before it uses the first of them: `AHEAD` in `cuda/common.cuh`.
const AHEAD: usize = 4;

/// Returns the threads per row in CSR-Vector: enough to load a row of mean length at once, rounded up to a power of
/// two, between 2 and 32 (a warp). cusp has a thread for each nonzero, so that fewer loads are in flight and more
/// threads add their sums.
fn lanes_for<T>(csr: &Csr<T>) -> usize {
    let mean = csr.nnz().div_ceil(csr.rows().max(1));
    mean.div_ceil(AHEAD).next_power_of_two().clamp(2, 32)
}

/// Returns how many nonzeros each of `lanes` threads loads at a time: one if more would mostly be beyond a mean row.
fn depth_for<T>(csr: &Csr<T>, lanes: usize) -> usize {
    if csr.nnz() >= 2 * lanes * csr.rows() { AHEAD } else { 1 }
}

/// Checks that the GPU has a feature of compute capability `since` or newer.
fn require(gpu: &Gpu, since: (u32, u32), feature: &str) -> Result<(), Unavailable> {
    let (major, minor) = gpu.facts().compute_capability;
    if (major, minor) >= since {
        return Ok(());
    }
    let (first, second) = since;
    Err(Unavailable(format!(
        "needs {feature}, of compute capability {first}.{second} or newer; this GPU has {major}.{minor}"
    )))
}

#[cfg(test)]
#[test]
fn older_gpus_are_refused() {
    let gpu = Gpu::new(crate::device::model::Model::tiny(1));
    assert_eq!([(8, 0), (9, 0)].map(|since| require(&gpu, since, "x")), [Ok(()), Ok(())]);
    let Unavailable(reason) = require(&gpu, (10, 1), "more").unwrap_err();
    assert_eq!(reason, "needs more, of compute capability 10.1 or newer; this GPU has 9.0");
}
