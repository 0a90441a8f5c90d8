//! The inner loops that the CSR methods share: the dot product of a piece of a row with x, and the product of whole
//! rows, four at a time.
//!
//! They index without bounds checks. They rely on the invariants that [`Csr::is_valid`] checks, and on the
//! lengths that [`Prepared::multiply`](crate::method::Prepared::multiply) checks.

use super::prelude::*;
use crate::simd::{GROUP, Mask, prefetch};
use spmv_matrix::system;

#[derive(Clone, Copy)]
pub struct Entries<'a, T> {
    /// The column index of each entry; all are less than the length of x.
    pub column_indices: &'a [u32],
    pub values: &'a [T],
}

impl<'a, T> Entries<'a, T> {
    #[inline(always)]
    pub fn of(csr: &'a Csr<T>) -> Self {
        Self { column_indices: csr.column_indices(), values: csr.values() }
    }

    /// Loads a register of values, beginning with entry `k`, and the elements of x by which they are multiplied.
    ///
    /// # Safety
    /// There is a register of entries from `k` on, and all their columns are within `x`.
    #[inline(always)]
    pub unsafe fn load<V: Vector<T>>(&self, k: usize, x: &[T]) -> (V, V) {
        // SAFETY: guaranteed by the caller.
        unsafe { (V::load(self.values, k), V::gather(x, self.column_indices, k)) }
    }
}

/// Returns Σ a·x over the entries `range`, which are in one row.
///
/// # Safety
/// There are as many values as column indices, `range` is within them, and all column indices are within `x`.
#[inline(always)]
pub unsafe fn dot<T: Scalar, V: Vector<T>>(entries: Entries<T>, range: Range<usize>, x: &[T]) -> T {
    // A remainder is loaded as a whole register. At the end of the arrays it is left for a loop.
    let fits = range.end + V::LANES <= entries.values.len();
    let rest = if fits { range.end } else { range.end - range.len() % V::LANES };
    // SAFETY: the caller guarantees that the range is within the entries and the columns within x.
    unsafe {
        let mut sum = lane_sums::<T, V, false>(entries, range.start..rest, x).sum();
        for k in rest..range.end {
            let column = *entries.column_indices.get_unchecked(k) as usize;
            sum += *entries.values.get_unchecked(k) * *x.get_unchecked(column);
        }
        sum
    }
}

/// Returns Σ a·x over the entries `range`, which are in one row, as one partial sum per lane.
///
/// The remaining entries, fewer than a register, are also loaded as a whole register, which may include entries of
/// the next rows. Only the lanes of this row are added. A loop over them would cost a mispredicted branch in most
/// rows.
///
/// # Safety
/// As for [`dot`]. If the length of the range is no multiple of a register, a register can be loaded at its end.
#[inline(always)]
unsafe fn lane_sums<T: Scalar, V: Vector<T>, const AHEAD: bool>(
    entries: Entries<T>,
    range: Range<usize>,
    x: &[T],
) -> V {
    let Range { start: mut k, end } = range;
    // SAFETY: whole registers are within the range; the caller guarantees the load of the remainder.
    unsafe {
        let mut sums = V::zero();
        while k + V::LANES <= end {
            if AHEAD {
                let ahead = k + DISTANCE_IN_LONG_ROWS;
                prefetch::<2>(entries.values.as_ptr().wrapping_add(ahead));
                prefetch::<2>(entries.column_indices.as_ptr().wrapping_add(ahead));
            }
            let (values, factors) = entries.load(k, x);
            sums = V::mul_add(values, factors, sums);
            k += V::LANES;
        }
        if k < end {
            let (values, factors) = entries.load::<V>(k, x);
            sums = values.mul_add_first(end - k, factors, sums);
        }
        sums
    }
}

/// The largest number of entries of a row that has a bit for each of them in a [`Mask`].
const MASKED_ROW: usize = Mask::BITS as usize;
/// A thread with fewer rows than this repeats the same branches in each product so soon that the processor predicts
/// them from its history. (On Zen 4, 20,000 rows of 6 to 12 entries are predicted, and 40,000 are not.)
const PREDICTED_ROWS: usize = 32768;

/// Returns the sums Σ a·x of successive rows that begin at entry `start` and end before the entries `ends`.
///
/// The product of a short row takes less time than the sum over its lanes and a mispredicted branch at its end. Here
/// the lanes of all rows of the group are added together, and as many registers are loaded for each row as for the
/// longest of them: one, two or, if the branches are not `predicted` otherwise and the rows are of similar length, up
/// to four.
///
/// # Safety
/// As for [`dot`], and [`MASKED_ROW`] entries can be loaded at the end of the last row.
#[inline(always)]
unsafe fn group_sums<T: Scalar, V: Vector<T>, const AHEAD: bool>(
    entries: Entries<T>,
    start: usize,
    ends: [usize; GROUP],
    x: &[T],
    predicted: bool,
) -> [T; GROUP] {
    let starts = [start, ends[0], ends[1], ends[2]];
    let lengths = [ends[0] - start, ends[1] - ends[0], ends[2] - ends[1], ends[3] - ends[2]];
    let longest = lengths[0].max(lengths[1]).max(lengths[2].max(lengths[3]));
    let similar = GROUP * longest <= 2 * (ends[3] - start);
    // SAFETY: at most `MASKED_ROW` entries are loaded from the start of each row, or those of the row and a remainder.
    unsafe {
        let mut sums = [V::zero(); GROUP];
        if longest <= 2 && ends[3] - start <= V::LANES {
            // A register has all entries: they are gathered once, and not with as many others for each row. Sums of two
            // are the same in any lanes.
            let (values, factors) = entries.load::<V>(start, x);
            let products = values.mul_add(factors, V::zero());
            for row in 0..GROUP {
                let before = V::first_lanes(starts[row] - start);
                sums[row] = products.keep(V::first_lanes(ends[row] - start) & !before);
            }
        } else if longest <= V::LANES {
            for row in 0..GROUP {
                sums[row] = first_register(entries, starts[row], V::first_lanes(lengths[row]), x);
            }
        } else if longest <= 2 * V::LANES {
            for row in 0..GROUP {
                let mask = V::first_lanes(lengths[row]);
                let first = first_register(entries, starts[row], mask, x);
                let (values, factors) = entries.load::<V>(starts[row] + V::LANES, x);
                sums[row] = values.mul_add_where(mask >> V::LANES, factors, first);
            }
        } else if !predicted && similar && longest <= MASKED_ROW {
            let mut masks = [0; GROUP];
            for row in 0..GROUP {
                masks[row] = V::first_lanes(lengths[row]);
                sums[row] = first_register(entries, starts[row], masks[row], x);
            }
            for done in (V::LANES..longest).step_by(V::LANES) {
                for row in 0..GROUP {
                    let (values, factors) = entries.load::<V>(starts[row] + done, x);
                    sums[row] = values.mul_add_where(masks[row] >> done, factors, sums[row]);
                }
            }
        } else {
            for row in 0..GROUP {
                sums[row] = lane_sums::<T, V, AHEAD>(entries, starts[row]..ends[row], x);
            }
        }
        V::sum_each(sums)
    }
}

/// Returns the products a·x of the first entries of a row that are in `mask`.
///
/// # Safety
/// As for [`dot`], and a register can be loaded from `start` on.
#[inline(always)]
unsafe fn first_register<T: Scalar, V: Vector<T>>(entries: Entries<T>, start: usize, mask: Mask, x: &[T]) -> V {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (values, factors) = entries.load::<V>(start, x);
        values.mul_add(factors, V::zero()).keep(mask)
    }
}

/// Rows with at least this many nonzeros on average count as long: they occupy more than a cache line.
const LONG_ROW: usize = 8;
/// The prefetch distance in nonzeros.
const PREFETCH_DISTANCE: usize = 256;
/// The prefetch distance in rows of which one register is prefetched after the other, into the second-level cache. In
/// the first one, x needs the few places for lines that are on their way: with it, products take up to a quarter longer
/// where x is in memory.
const DISTANCE_IN_LONG_ROWS: usize = 512;
const CACHE_LINE: usize = 64;

/// Returns whether prefetching makes products of a matrix faster.
///
/// Prefetching helps only if the matrix is too large for the caches, so that each product streams it from memory. It
/// then saves a quarter to a third of the time on stencils of 5 and 7 points, and a third to a half on long rows. In a
/// cache, it costs as much as it saves or more: on long rows 10 to 20 %, also where a matrix is a little larger than
/// the cache.
pub fn prefetching_pays<T>(csr: &Csr<T>) -> bool {
    let bytes = (csr.nnz() * (size_of::<T>() + size_of::<u32>())) as u64;
    let short = csr.nnz() < LONG_ROW * csr.rows();
    system::last_level_cache_bytes().is_some_and(|cache| bytes > if short { cache } else { cache + cache / 4 })
}

/// Prefetches the cache lines [`PREFETCH_DISTANCE`] elements ahead of a range.
#[inline(always)]
fn prefetch_ahead<E>(array: &[E], range: Range<usize>) {
    for at in range.step_by(CACHE_LINE / size_of::<E>()) {
        prefetch::<1>(array.as_ptr().wrapping_add(at + PREFETCH_DISTANCE));
    }
}

/// The kernel for whole rows: y_i = α·Σ a·x + β·y_i for each row of `rows`. The first row is computed from
/// nonzero `start` on, which is after its offset if another thread owns the row's beginning.
pub struct WholeRows<'a, T> {
    pub csr: &'a Csr<T>,
    pub rows: Range<usize>,
    /// The first nonzero to use.
    pub start: usize,
    pub operands: Operands<'a, T>,
    pub y: &'a mut [T],
    pub prefetch: bool,
}

impl<T: Scalar> Kernel<T> for WholeRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        if self.prefetch { self.rows::<V, true>() } else { self.rows::<V, false>() }
    }
}

impl<T: Scalar> WholeRows<'_, T> {
    #[inline(always)]
    fn rows<V: Vector<T>, const AHEAD: bool>(self) {
        let Self { csr, operands, mut start, .. } = self;
        let entries = Entries::of(csr);
        let ends = &csr.row_offsets()[self.rows.start + 1..=self.rows.end];
        let predicted = ends.len() < PREDICTED_ROWS;
        let mut done = 0;
        let (group_ends, _) = ends.as_chunks::<GROUP>();
        for (ends, y) in group_ends.iter().zip(self.y.as_chunks_mut::<GROUP>().0) {
            let ends = ends.map(|end| end as usize);
            let end = ends[GROUP - 1];
            if end + MASKED_ROW > csr.nnz() {
                break;
            }
            if AHEAD && end - start <= GROUP * MASKED_ROW {
                prefetch_ahead(csr.values(), start..end);
                prefetch_ahead(csr.column_indices(), start..end);
            }
            // SAFETY: in a valid matrix the offsets ascend to nnz; `Prepared::multiply` checked the length of x. There
            // are `MASKED_ROW` entries after the last row, as checked above.
            let mut sums = unsafe { group_sums::<T, V, AHEAD>(entries, start, ends, operands.x, predicted) };
            operands.store_all(&mut sums, y);
            start = end;
            done += GROUP;
        }
        for (&end, y) in ends[done..].iter().zip(&mut self.y[done..]) {
            // SAFETY: as above; `dot` loads nothing beyond the arrays.
            let sum = unsafe { dot::<T, V>(entries, start..end as usize, operands.x) };
            operands.store(sum, y);
            start = end as usize;
        }
    }
}

/// The kernel for a piece of one row: Σ a·x.
pub struct Piece<'a, T> {
    pub csr: &'a Csr<T>,
    pub range: Range<usize>,
    pub x: &'a [T],
}

impl<T: Scalar> Kernel<T> for Piece<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run<V: Vector<T>>(self) -> T {
        // SAFETY: all callers pass a range within the nonzeros; `Prepared::multiply` checked the length of x.
        unsafe { dot::<T, V>(Entries::of(self.csr), self.range, self.x) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Dispatch, Isa, Lanes};
    use spmv_matrix::verify::Reference;

    /// Tests groups of similar, of very different and of nearly empty rows, more rows than the processor predicts, and
    /// rows at the end of the arrays. A row must have the same sum in every bit as alone, so that results do not depend
    /// on the number of threads.
    fn check<T: Scalar + Lanes>() {
        let lengths = |row: usize| match row % 64 {
            0..24 => 9 + row * 7 % 8,
            24..48 => row * 5 % 23,
            48..56 => row % 2,
            _ => row * 7 % 3,
        };
        let rows = PREDICTED_ROWS + 3;
        let entry = |row: usize, k: usize| (row, 2 * k + row % 3, 0.1 + (row * k % 97) as f64);
        let triplets: Vec<_> = (0..rows).flat_map(|row| (0..lengths(row)).map(move |k| entry(row, k))).collect();
        let csr = Csr::<T>::from_triplets(rows, 50, &triplets);
        let x: Vec<_> = (0..50).map(|k| T::narrow((k as f64).sin())).collect();
        for (isa, beta) in Isa::available().into_iter().zip([0.0, 2.0].into_iter().cycle()) {
            let operands = Operands { alpha: T::narrow(0.3), x: &x, beta: T::narrow(beta) };
            let product = |rows: Range<usize>, y: &mut [T], prefetch| {
                let start = csr.row(rows.start).start;
                isa.run(WholeRows { csr: &csr, rows, start, operands, y, prefetch });
            };
            let mut together = vec![T::one(); rows];
            product(0..rows, &mut together, true);
            let y0 = vec![T::one(); rows];
            let reference = Reference::new(&csr, operands.alpha, &x, operands.beta, &y0);
            let verdict = reference.judge(&together);
            assert!(verdict.passes(), "{isa:?} {}", verdict.describe());
            for (row, &together) in together.iter().enumerate() {
                let mut alone = [T::one()];
                product(row..row + 1, &mut alone, false);
                let bits = [alone[0], together].map(|y| y.widen().to_bits());
                assert_eq!(bits[0], bits[1], "{isa:?} row {row}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn groups_of_rows_give_the_sums_of_single_rows() {
        check::<f64>();
        check::<f32>();
    }
}
