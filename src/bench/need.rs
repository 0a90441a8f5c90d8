//! Upper bounds of the memory that a run needs in addition to its methods, from the size of its matrix. In bytes.

use spmv_matrix::Csr;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::{Precision, Scalar};
use spmv_matrix::system::caches;
use spmv_matrix::verify::{ReferenceRow, RowSum};
use spmv_methods::team::sweeps::Evictor;
use spmv_results::metrics::compulsory_bytes;
use spmv_results::settings::{CacheState, Settings};

/// The memory for small allocations that do not depend on the matrix: notes, closures, lists per thread.
pub const SMALL: u64 = 1 << 20;
/// The memory for small allocations of one method, such as a value per thread.
pub const SMALL_OF_METHOD: u64 = 64 << 10;
/// The memory for small allocations of a run on a device, which allocates whole pages and loads kernels.
pub const SMALL_ON_DEVICE: u64 = 64 << 20;

/// The size of the arrays on which bandwidth is measured, over that of all caches, at most. Larger ones do not change
/// the rate.
const SWEEPS_OVER_CACHES: u64 = 8;
const REFERENCE: u64 = size_of::<ReferenceRow>() as u64;
const COLUMN_SUM: u64 = size_of::<RowSum>() as u64;
/// The size of an altered row of the reference with its index, in a tree.
const ALTERED: u64 = 2 * (REFERENCE + 8);

/// Returns the bytes that a product must move, see [`compulsory_bytes`].
pub fn footprint<T: Scalar>(csr: &Csr<T>) -> usize {
    compulsory_bytes(csr.rows(), csr.cols(), csr.nnz(), T::PRECISION) as usize
}

/// Returns the size of the arrays on which the bandwidth of a device is measured.
pub fn sweeps(extent: &Extent) -> u64 {
    extent.csr() + extent.vectors()
}

/// Returns the size of the arrays on which the bandwidth of the host is measured: that of a matrix and its vectors, if
/// caches can change the rate.
pub fn host_sweeps(footprint: u64) -> u64 {
    footprint.min(SWEEPS_OVER_CACHES * caches::total_bytes(caches::all()))
}

/// Returns the size of a run's own arrays: vectors, reference, and what measures bandwidth and empties the caches.
pub fn run(extent: &Extent, settings: &Settings) -> u64 {
    // Four copies of x and a mark per element, y, its values before the product if that reads them, and two references.
    // An alteration may copy all rows of one.
    let old = if settings.beta == 0.0 { 0 } else { extent.outputs() * extent.value };
    let references = extent.outputs() * (2 * REFERENCE + ALTERED);
    let vectors = extent.vectors() + extent.inputs() * (3 * extent.value + 1) + old + references;
    let reference = if settings.transpose { extent.outputs() * COLUMN_SUM } else { 0 };
    let chain = if settings.chain() > 1 { extent.outputs() * (extent.value + 2 * REFERENCE) } else { 0 };
    let cold = settings.cache == CacheState::Cold;
    let evictor = if cold { Evictor::most_bytes() } else { 0 };
    vectors + chain + reference.max(host_sweeps(sweeps(extent)) + evictor) + SMALL
}

/// Returns the size of a matrix in f64 and of a run in this precision and order, with order and statistics.
pub fn all(extent: &Extent, settings: &Settings, precision: Precision, order: Order) -> u64 {
    let matrices = if order == Order::Natural { 1 } else { 2 };
    let narrow = Extent { transpose: settings.transpose, ..extent.in_precision(precision) };
    let copies = if precision == Precision::F64 { 0 } else { matrices * narrow.csr() };
    // Vectors and reference are permuted into new arrays.
    let permuted = (matrices - 1) * (extent.rows * (8 + REFERENCE) + narrow.vectors());
    let run = copies + run(&narrow, settings) + permuted;
    let ordering = (matrices - 1) * extent.ordering();
    matrices * extent.csr() + run.max(ordering).max(extent.transposed(0))
}

/// Returns the memory of a run on a device, from the upload to the last product; `l2` is the size of its L2 cache.
pub fn run_on_device(extent: &Extent, l2: u64) -> u64 {
    let evictor = 2 * l2;
    // A chain of products has a second y.
    let outputs = 2 * extent.outputs() * extent.value;
    extent.csr() + extent.inputs() * extent.value + outputs + sweeps(extent) + evictor
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_results::settings::Protocol;

    #[test]
    fn a_run_needs_what_it_holds() {
        // 10 rows, 20 columns, 100 entries in f64: 1200 bytes of entries and 44 bytes of offsets; vectors of 80 and 160
        // bytes.
        let extent = Extent::announced(10, 20, 100, 1);
        assert_eq!((extent.csr(), extent.vectors()), (1244, 240));
        // Four copies of x and a mark per element, one of y, two references and an altered one per element of y; sweeps
        // over 1484 bytes.
        let settings = Settings::new(Protocol::MergeSpmv);
        let run = 240 + 20 * 25 + 10 * (2 * 32 + 80) + 1484;
        assert_eq!(super::run(&extent, &settings), run + SMALL);
        let all = |precision| super::all(&extent, &settings, precision, Order::Natural);
        assert_eq!(all(Precision::F64), 1244 + run + SMALL);
        // The f32 copy (844 bytes) and half the vectors; the other terms stay.
        let narrow = 844 + (120 + 20 * 13 + 10 * (2 * 32 + 80) + 844 + 120);
        assert_eq!(all(Precision::F32), 1244 + narrow + SMALL);
        // With β = 1, the values of y before the product.
        assert_eq!(super::run(&extent, &Settings { beta: 1.0, ..settings }), run + 80 + SMALL);
    }

    #[test]
    fn impossible_sizes_do_not_overflow() {
        let hostile = Extent::announced(usize::MAX, usize::MAX, u64::MAX, 1 << 10);
        let settings = Settings::new(Protocol::MergeSpmv);
        for precision in [Precision::F64, Precision::F32] {
            assert!(all(&hostile, &settings, precision, Order::Rcm) > 1 << 36);
        }
        for method in spmv_methods::METHODS {
            assert!((method.memory)(&hostile) < 1 << 48, "{}", method.name);
        }
    }
}
