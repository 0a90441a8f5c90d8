//! Sums of exactly the nonzeros, for registers that are not finite.
//!
//! Where slots without a nonzero contain zeros, the kernel multiplies them, too, and the product of zero and an element of
//! x that is not finite is NaN. Then the sums are computed here again, one nonzero after the other: this is rare, so it is
//! not compiled for each variant of the kernel.

use super::kernel::Position;
use super::window::{Diagonal, MAX_HEIGHT, Slice, Window};
use crate::simd::{MAX_LANES, Mask};
use spmv_matrix::scalar::Scalar;

/// The sums of a few registers, by register and lane.
pub type Sums<T> = [[T; MAX_LANES]; MAX_HEIGHT];

/// Returns the sums of a slice of blocks of `height` rows, which begins at position `at`: a register per row of the blocks.
#[cold]
#[inline(never)]
pub fn slice_sums<T: Scalar>(
    window: &Window<T>,
    mut at: Position,
    x: &[T],
    slice: &Slice,
    height: usize,
) -> Sums<T> {
    let mut sums = [[T::zero(); MAX_LANES]; MAX_HEIGHT];
    let partial = &window.lanes[at.lanes..at.lanes + slice.partial as usize];
    let full = std::iter::repeat_n(window.width, slice.full as usize);
    for lanes in full.chain(partial.iter().map(|&lanes| lanes.into())) {
        for sums in &mut sums[..height] {
            for lane in lanes_of(window.masks[at.mask]) {
                let x = x[window.columns.get(at.column + lane)];
                sums[lane] += window.factors.get(at.factor + lane) * x;
            }
            at.mask += 1;
            at.factor += lanes;
        }
        at.column += lanes;
    }
    sums
}

/// Returns the sums of `slices` slices of a band, which begin with row `row` and with factor `factor`: a register per
/// slice.
#[cold]
#[inline(never)]
pub fn band_sums<T: Scalar>(
    window: &Window<T>,
    mut factor: usize,
    x: &[T],
    row: usize,
    diagonals: &[Diagonal],
    slices: usize,
) -> Sums<T> {
    let mut sums = [[T::zero(); MAX_LANES]; MAX_HEIGHT];
    for diagonal in diagonals {
        for (slice, sums) in sums[..slices].iter_mut().enumerate() {
            let first = window.first_row + row + slice * window.width;
            for lane in lanes_of(diagonal.mask) {
                let column = (first + lane).wrapping_add_signed(diagonal.offset as isize);
                sums[lane] += window.factors.get(factor + lane) * x[column];
            }
            factor += window.width;
        }
    }
    sums
}

/// Returns the lanes whose bit is set.
fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    (0..MAX_LANES).filter(move |lane| mask >> lane & 1 == 1)
}
