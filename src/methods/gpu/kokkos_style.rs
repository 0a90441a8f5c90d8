//! CSR as KokkosKernels multiplies it on GPUs (sparse/impl/KokkosSparse_spmv_impl.hpp).
//!
//! A vector of 1 to 32 threads owns a row, a team of 256 threads as many rows as it has vectors. By A the
//! kernel is CSR-Vector's; the vector doubles from 1 while six nonzeros per thread are fewer than a row
//! has on average. By Aᵀ y is scaled first; then each lane adds its products to the y of their columns by
//! atomic operations, in the naive product's kernel, and the vector doubles also while they are as many.
//! Beyond ten million nonzeros KokkosKernels asks for a dynamic schedule, else for a static one; Kokkos'
//! teams on CUDA take no notice of it, a block is a team either way, and so there is no choice here.
//!
//! No setup but the mean row length, nothing beyond CSR. Departures: a whole warp begins a row at an
//! aligned nonzero; transposed, a team has 256 threads as well, where Kokkos asks the driver.

use super::{csr_vector, naive};
use crate::device::DeviceCsr;
use crate::device::buffer::Value;
use crate::method::{
    Code, Method, Operations, Parameter, PreparedOnGpu, Request, Setup, Unprepared,
};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-kokkos-style",
    source: "KokkosKernels, KokkosSparse::spmv on GPUs",
    summary: "a vector of 1 to 32 threads per row, by the mean; transposed by atomic additions",
    parameters: &[Parameter {
        name: "vector",
        values: &["1", "2", "4", "8", "16", "32"],
        meaning: "threads per row; by the mean row length unless given",
    }],
    operations: Operations::Both,
    setup: Setup::Nothing,
    memory: |_| 0,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let (rows, nnz) = (csr.host.rows(), csr.host.nnz());
    let by_mean = || vector_length(rows, nnz, request.transpose);
    let vector = request.number("vector").unwrap_or_else(by_mean);
    match request.transpose {
        // A team is a block of the naive products.
        false => csr_vector::with_lanes(csr, vector, naive::BLOCK),
        true => Ok(naive::transposed(csr, vector)?.transposing(true)),
    }
}

/// Threads per row: doubled while the mean row length is more than six times as large, or transposed
/// also while it is just as large.
fn vector_length(rows: usize, nnz: usize, transpose: bool) -> usize {
    let bound = nnz / rows.max(1) + usize::from(transpose);
    let mut vector = 1;
    while vector < 32 && 6 * vector < bound {
        vector *= 2;
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::vector_length;

    #[test]
    fn vectors_follow_the_mean_row_length() {
        let plain = |nnz| vector_length(10, nnz, false);
        assert_eq!([0, 69, 70, 129, 130, 249, 250].map(plain), [1, 1, 2, 2, 4, 4, 8]);
        assert_eq!([490, 970, 1_000_000].map(plain), [16, 32, 32]);
        let transposed = |nnz| vector_length(10, nnz, true);
        assert_eq!([59, 60, 119, 120, 959, 960].map(transposed), [1, 2, 2, 4, 16, 32]);
        assert_eq!(vector_length(0, 0, false), 1);
    }
}
