//! Our own methods on the GPU. Each file prepares the launches of the kernels in the file of
//! `cuda/` that has its name.

pub mod csr_adaptive;
pub mod csr_scalar;
pub mod csr_vector;
pub mod light;
pub mod merge;
pub mod pcsr;

use crate::matrix::Csr;

/// Lanes that share a row of average length in cusp's CSR-Vector: the power of two at or above it,
/// from 2 to a whole warp.
fn lanes_for<T>(csr: &Csr<T>) -> usize {
    let mean = csr.nnz().div_ceil(csr.rows().max(1));
    mean.next_power_of_two().clamp(2, 32)
}
