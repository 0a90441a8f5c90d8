//! What becomes of the sums in registers: they are stored, or computed again if they are not finite.

use crate::cpu::prelude::*;
use crate::formats::fill::exact_sum;
use crate::simd::MAX_LANES;

/// Does what [`store_lanes`] does. It is not inlined, because it would be half of the code of each variant of the
/// kernel.
///
/// # Safety
/// As for [`store_lanes`].
#[inline(never)]
pub unsafe fn store_lanes_of_block<T: Scalar, V: Vector<T>>(
    operands: &Operands<T>,
    rows: &[u16],
    r: usize,
    sums: &[T; MAX_LANES],
    y: &mut [T],
) {
    // SAFETY: guaranteed by the caller.
    unsafe { store_lanes::<T, V>(operands, rows, r, sums, y) }
}

/// Stores the sums of row `r` of the blocks of a slice, which begin with `rows`.
///
/// # Safety
/// All rows of all blocks are within y.
#[inline(always)]
pub unsafe fn store_lanes<T: Scalar, V: Vector<T>>(
    operands: &Operands<T>,
    rows: &[u16],
    r: usize,
    sums: &[T; MAX_LANES],
    y: &mut [T],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if rows.len() == V::LANES {
            // The compiler unrolls this loop because it knows the number of lanes.
            for lane in 0..V::LANES {
                operands.store(sums[lane], y.get_unchecked_mut(usize::from(rows[lane]) + r));
            }
        } else {
            for (&row, &sum) in rows.iter().zip(sums) {
                operands.store(sum, y.get_unchecked_mut(usize::from(row) + r));
            }
        }
    }
}

/// The rows of a slice of a band, relative to its first row.
pub const LANES: [u16; MAX_LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns a register with the sums of exactly the nonzeros of these rows, relative to the row `first`.
#[inline(always)]
pub fn exact_sums<T: Scalar, V: Vector<T>>(csr: &Csr<T>, x: &[T], first: usize, rows: &[u16]) -> V {
    let sums = sums_of_nonzeros(csr, x, first, rows);
    // SAFETY: no register has more than `MAX_LANES` values.
    unsafe { V::load(&sums, 0) }
}

/// Where slots without a nonzero contain zeros, the kernel multiplies them, too, and the product of zero and an element
/// of x that is not finite is NaN. This is rare, so it is not compiled for each variant of the kernel.
#[cold]
#[inline(never)]
fn sums_of_nonzeros<T: Scalar>(csr: &Csr<T>, x: &[T], first: usize, rows: &[u16]) -> [T; MAX_LANES] {
    let mut sums = [T::zero(); MAX_LANES];
    for (sum, &row) in sums.iter_mut().zip(rows) {
        *sum = exact_sum(csr, csr.row(first + usize::from(row)), x);
    }
    sums
}

/// Returns whether all lanes of all registers are finite.
#[inline(always)]
pub fn all_finite<T, V: Vector<T>>(registers: &[V]) -> bool {
    // SAFETY: no memory is read.
    registers.iter().all(|register| unsafe { register.finite() })
}
