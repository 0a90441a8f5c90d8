//! Vectors of threads that own whole rows: how many threads, and the launch.

use super::prelude::*;

/// Returns a product that launches one kernel, whose arguments are the number of rows, the CSR arrays, x, y, α and β.
pub fn by_rows<'a, T: Value>(
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
pub fn lanes_for<T>(csr: &Csr<T>) -> usize {
    let mean = csr.nnz().div_ceil(csr.rows().max(1));
    mean.div_ceil(AHEAD).next_power_of_two().clamp(2, 32)
}

/// Returns how many nonzeros each of `lanes` threads loads at a time: one if more would mostly be beyond a mean row.
pub fn depth_for<T>(csr: &Csr<T>, lanes: usize) -> usize {
    if csr.nnz() >= 2 * lanes * csr.rows() { AHEAD } else { 1 }
}

#[cfg(test)]
#[test]
fn constants_are_those_of_the_header_that_all_kernels_include() {
    let header = include_str!("../../../../cuda/common.cuh");
    for (name, value) in [("WARP", WARP), ("AHEAD", AHEAD)] {
        let definition = format!("constexpr unsigned {name} = {value};");
        assert!(header.contains(&definition), "{definition}");
    }
}
