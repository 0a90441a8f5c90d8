//! Our own methods on the GPU. Each file prepares the launches of the kernels in the file of
//! `cuda/` that has its name.

pub mod auto;
pub mod bccoo;
pub mod bcsr;
pub mod coo;
pub mod csc;
pub mod csr5;
pub mod csr_adaptive;
pub mod csr_scalar;
pub mod csr_vector;
pub mod csrk;
pub mod dia;
pub mod ell;
pub mod hola;
pub mod hola_t;
pub mod hyb;
pub mod kokkos_style;
pub mod light;
pub mod merge;
pub mod naive;
pub mod pcsr;
pub mod sell;
mod start;
pub mod tile;

use crate::device::buffer::Value;
use crate::device::{Argument, DeviceCsr, Kernel};
use crate::matrix::Csr;
use crate::method::{Prepared, PreparedOnGpu};

/// The product that is one launch of a kernel over the rows, which takes the matrix, x, y, α and β.
fn by_rows<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    kernel: Kernel,
    grid: usize,
    block: usize,
) -> PreparedOnGpu<'a, T> {
    let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
    Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let rows = csr.rows();
        let arguments: [&dyn Argument; 8] =
            [&rows, row_offsets, column_indices, values, x, y, &alpha, &beta];
        kernel.launch(grid, block, 0, &arguments)
    })
}

/// Lanes that share a row of average length in cusp's CSR-Vector: the power of two at or above it,
/// from 2 to a whole warp.
fn lanes_for<T>(csr: &Csr<T>) -> usize {
    let mean = csr.nnz().div_ceil(csr.rows().max(1));
    mean.next_power_of_two().clamp(2, 32)
}
