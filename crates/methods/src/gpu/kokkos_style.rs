//! CSR as KokkosKernels multiplies it on GPUs (sparse/impl/KokkosSparse_spmv_impl.hpp).
//!
//! A vector of 1 to 32 threads owns a row. A team of 256 threads owns as many rows as it has vectors. The product with
//! A runs the kernel of CSR-Vector; the vector length doubles from 1 while six nonzeros per thread are fewer than the
//! mean row length. The product with Aᵀ scales y first; then each lane adds its products to y by atomic operations, in
//! the kernel of `gpu-naive-t`; the vector length doubles also while both numbers are equal. Beyond ten million
//! nonzeros KokkosKernels requests a dynamic schedule, otherwise a static one. Kokkos ignores this for teams on CUDA
//! (a team is always a block), so this method has no such parameter.
//!
//! Setup only computes the mean row length. No memory in addition to CSR. Departures from the source: a vector of a
//! whole warp starts at an aligned nonzero; in the transposed product a team also has 256 threads, whereas Kokkos
//! queries the driver.

use super::prelude::*;
use super::{csr_vector, naive};

pub const METHOD: Method = Method {
    name: "gpu-kokkos-style",
    source: "KokkosKernels, KokkosSparse::spmv on GPUs",
    summary: "1 to 32 threads per row, by the mean row length; transposed by atomic additions",
    parameters: &[Parameter {
        name: "vector",
        values: &["1", "2", "4", "8", "16", "32"],
        meaning: "threads per row; default by the mean row length",
    }],
    operations: Operations::Both,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let (rows, nnz) = (csr.host.rows(), csr.host.nnz());
    let by_mean = || vector_length(rows, nnz, request.transpose);
    let vector = request.number("vector").unwrap_or_else(by_mean);
    match request.transpose {
        // A team is a block of 256 threads, as in the naive kernels.
        false => csr_vector::with_lanes(csr, vector, naive::BLOCK, false),
        true => Ok(naive::transposed(csr, vector)?.transposing(true)),
    }
}

/// Returns the threads per row: doubled from 1 while six times as many are below the mean row length, or in the
/// transposed product not above it.
fn vector_length(rows: usize, nnz: usize, transpose: bool) -> usize {
    let bound = nnz / rows.max(1) + usize::from(transpose);
    let mut vector = 1;
    while vector < 32 && 6 * vector < bound {
        vector *= 2;
    }
    vector
}

#[cfg(test)]
#[test]
fn vectors_follow_the_mean_row_length() {
    let plain = |nnz| vector_length(10, nnz, false);
    assert_eq!([0, 69, 70, 129, 130, 249, 250].map(plain), [1, 1, 2, 2, 4, 4, 8]);
    assert_eq!([490, 970, 1_000_000].map(plain), [16, 32, 32]);
    let transposed = |nnz| vector_length(10, nnz, true);
    assert_eq!([59, 60, 119, 120, 959, 960].map(transposed), [1, 2, 2, 4, 16, 32]);
    assert_eq!(vector_length(0, 0, false), 1);
}
