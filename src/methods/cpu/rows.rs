//! The inner loops that the CSR methods share: the dot product of a piece of a row, and the product
//! of whole rows.
//!
//! They rely on the promises of [`Csr::is_valid`] and on the lengths that
//! [`Prepared::multiply`](crate::method::Prepared::multiply) checks, and index without checks.

use std::ops::Range;

use crate::matrix::Csr;
use crate::scalar::Scalar;
use crate::simd::{Kernel, Vector, prefetch};
use crate::system;
use crate::team::{DisjointMut, Team};

/// α, x and β of one product.
#[derive(Clone, Copy)]
pub struct Operands<'a, T> {
    /// Factor of the product.
    pub alpha: T,
    /// The input vector, `cols` values.
    pub x: &'a [T],
    /// Factor of the old y, which is read only when β ≠ 0.
    pub beta: T,
}

impl<T: Scalar> Operands<'_, T> {
    /// α·`sum` + β·`y`.
    #[inline(always)]
    pub fn store(&self, sum: T, y: &mut T) {
        *y = if self.beta == T::zero() {
            self.alpha * sum
        } else {
            self.alpha * sum + self.beta * *y
        };
    }
}

/// Columns and values, entry by entry.
#[derive(Clone, Copy)]
pub struct Entries<'a, T> {
    /// All below the length of x.
    pub column_indices: &'a [u32],
    /// As many.
    pub values: &'a [T],
}

impl<'a, T> Entries<'a, T> {
    /// Those of a matrix.
    #[inline(always)]
    pub fn of(csr: &'a Csr<T>) -> Self {
        Self { column_indices: &csr.column_indices, values: &csr.values }
    }
}

/// y ← βy; with β = 0, zero whatever y was.
pub fn scale<T: Scalar>(beta: T, y: &mut [T]) {
    if beta == T::zero() {
        y.fill(T::zero());
    } else if beta != T::one() {
        y.iter_mut().for_each(|y| *y *= beta);
    }
}

/// The same, each thread its part.
pub fn scale_on<T: Scalar>(team: &Team, beta: T, y: &mut [T]) {
    if beta != T::one() {
        let (len, threads, y) = (y.len(), team.len(), DisjointMut::new(y));
        // SAFETY: parts of different ranks do not overlap.
        team.run(|rank| scale(beta, unsafe { y.range(part(len, rank, threads)) }));
    }
}

/// For each of `threads` contiguous rows with about an equal share of the nonzeros, each beginning at a
/// multiple of `step`.
pub fn balanced<T>(csr: &Csr<T>, threads: usize, step: usize) -> Vec<Range<usize>> {
    let cut = |rank: usize| {
        let nonzero = csr.nnz() as u64 * rank as u64 / threads as u64;
        let row =
            csr.row_offsets[..csr.rows].partition_point(|&offset| u64::from(offset) < nonzero);
        if rank == threads { csr.rows } else { row.next_multiple_of(step).min(csr.rows) }
    };
    (0..threads).map(|rank| cut(rank)..cut(rank + 1)).collect()
}

/// A thread's part of `0..len`, as large as the others'.
pub fn part(len: usize, rank: usize, threads: usize) -> Range<usize> {
    let cut = |rank: usize| (len as u64 * rank as u64 / threads as u64) as usize;
    cut(rank)..cut(rank + 1)
}

/// Contiguous tasks for each of `threads`, of about an equal share of their sizes: a task goes where its
/// middle lies.
pub fn shares(sizes: &[usize], threads: usize) -> Vec<Range<usize>> {
    let total: usize = sizes.iter().sum();
    let twice_middles = sizes.iter().scan(0, |start, size| {
        *start += 2 * size;
        Some(*start - size)
    });
    let twice_middles: Vec<_> = twice_middles.collect();
    let cut = |rank: usize| match rank {
        _ if rank == threads => sizes.len(),
        _ => twice_middles.partition_point(|&middle| middle * threads < 2 * total * rank),
    };
    (0..threads).map(|rank| cut(rank)..cut(rank + 1)).collect()
}

/// Rows of this many nonzeros on average take more than a cache line.
const LONG_ROW: usize = 8;
/// How far ahead nonzeros are asked for.
const PREFETCH_DISTANCE: usize = 256;
/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Which nonzeros to ask for ahead of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prefetch {
    /// None.
    Nothing,
    /// A cache line per row and array.
    Line,
    /// As many as the row takes.
    Row,
}

/// Σ a·x over the entries `range`, which lie in one row.
///
/// The last piece of less than a register is loaded as a whole register too, into the next rows, and
/// added in as many lanes as count: a loop over it would cost a mispredicted branch in most rows.
///
/// # Safety
/// There are as many values as columns, `range` lies among them, and all columns lie in `x`.
#[inline(always)]
pub unsafe fn dot<T: Scalar, V: Vector<T>>(entries: Entries<T>, range: Range<usize>, x: &[T]) -> T {
    let (values, columns) = (entries.values.as_ptr(), entries.column_indices.as_ptr());
    let nnz = entries.values.len();
    let x = x.as_ptr();
    let Range { start: mut k, end } = range;
    // SAFETY: k + LANES ≤ nnz at every vector load, k < end ≤ nnz at every scalar one, and every
    // column is below cols.
    unsafe {
        let mut sums = V::zero();
        while k + V::LANES <= end {
            sums = V::load(values.add(k)).mul_add(V::gather(x, columns.add(k)), sums);
            k += V::LANES;
        }
        if k == end {
            return sums.sum();
        }
        if k + V::LANES <= nnz {
            let (values, factors) = (V::load(values.add(k)), V::gather(x, columns.add(k)));
            return values.mul_add_first(end - k, factors, sums).sum();
        }
        let mut sum = sums.sum();
        while k < end {
            sum += *values.add(k) * *x.add(*columns.add(k) as usize);
            k += 1;
        }
        sum
    }
}

/// The first of `0..len` for which `before` is false; once false, it stays so.
pub fn bisect(len: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// What pays: for a matrix too large for the caches, so that each product streams it from memory, a
/// line per row where rows are short, which saves a quarter to a third of the time on stencils of 5 and
/// 7 points; whole rows where they are long, and the matrix so large that hardly any of it is in cache:
/// a tenth on the stencil of 27 points. In cache it costs as much and more.
pub fn prefetch_for<T>(csr: &Csr<T>) -> Prefetch {
    let bytes = (csr.nnz() * (size_of::<T>() + size_of::<u32>())) as u64;
    match system::last_level_cache_bytes() {
        Some(cache) if csr.nnz() < LONG_ROW * csr.rows && bytes > cache => Prefetch::Line,
        Some(cache) if csr.nnz() >= LONG_ROW * csr.rows && bytes > 2 * cache => Prefetch::Row,
        _ => Prefetch::Nothing,
    }
}

/// Asks for the cache lines that a row takes, or for one, [`PREFETCH_DISTANCE`] ahead of it.
#[inline(always)]
fn ask_ahead<E, const ROW: bool>(array: &[E], row: Range<usize>) {
    prefetch(array.as_ptr().wrapping_add(row.start + PREFETCH_DISTANCE));
    if ROW {
        let line = CACHE_LINE / size_of::<E>();
        let mut at = row.start + line;
        while at < row.end {
            prefetch(array.as_ptr().wrapping_add(at + PREFETCH_DISTANCE));
            at += line;
        }
    }
}

/// Whole rows: y_i = α·Σ a·x + β·y_i for each row of `rows`, the first of which begins at nonzero
/// `start` (later than its offset when an earlier thread took its head).
pub struct WholeRows<'a, T> {
    /// The matrix.
    pub csr: &'a Csr<T>,
    /// The rows to finish.
    pub rows: Range<usize>,
    /// The first nonzero to use.
    pub start: usize,
    /// α, x, β.
    pub operands: Operands<'a, T>,
    /// y of `rows`.
    pub y: &'a mut [T],
    /// See [`prefetch_for`].
    pub prefetch: Prefetch,
}

impl<T: Scalar> Kernel<T> for WholeRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        match self.prefetch {
            Prefetch::Nothing => self.rows::<V, false, false>(),
            Prefetch::Line => self.rows::<V, true, false>(),
            Prefetch::Row => self.rows::<V, true, true>(),
        }
    }
}

impl<T: Scalar> WholeRows<'_, T> {
    #[inline(always)]
    fn rows<V: Vector<T>, const AHEAD: bool, const ROW: bool>(self) {
        let Csr { row_offsets, values, column_indices, .. } = self.csr;
        let entries = Entries::of(self.csr);
        let ends = &row_offsets[self.rows.start + 1..=self.rows.end];
        let mut start = self.start;
        for (&end, y) in ends.iter().zip(self.y) {
            if AHEAD {
                ask_ahead::<_, ROW>(values, start..end as usize);
                ask_ahead::<_, ROW>(column_indices, start..end as usize);
            }
            // SAFETY: offsets ascend to nnz in a valid matrix; `Prepared::multiply` checked x.
            let sum = unsafe { dot::<T, V>(entries, start..end as usize, self.operands.x) };
            self.operands.store(sum, y);
            start = end as usize;
        }
    }
}

/// A piece of one row.
pub struct Piece<'a, T> {
    /// The matrix.
    pub csr: &'a Csr<T>,
    /// The nonzeros.
    pub range: Range<usize>,
    /// The input vector.
    pub x: &'a [T],
}

impl<T: Scalar> Kernel<T> for Piece<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run<V: Vector<T>>(self) -> T {
        // SAFETY: the range comes from the merge path, which ends at nnz; x as above.
        unsafe { dot::<T, V>(Entries::of(self.csr), self.range, self.x) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Lanes};
    use crate::verify::Reference;

    /// Rows of every length up to twice a register's, the last ones at the end of the arrays.
    fn check<T: Scalar + Lanes>(isa: Isa) {
        let triplets: Vec<_> = (0..40)
            .flat_map(|row| {
                (0..row % 19).map(move |k| (row, k * 2 + row % 2, 0.1 + (row * k) as f64))
            })
            .collect();
        let csr = Csr::<T>::from_triplets(40, 37, &triplets);
        let x: Vec<T> = (0..37).map(|k| T::narrow((k as f64).sin())).collect();
        let y0: Vec<T> = (0..40).map(|k| T::narrow(k as f64)).collect();
        for (alpha, beta) in [(1.0, 0.0), (-0.5, 2.0)] {
            let operands = Operands { alpha: T::narrow(alpha), x: &x, beta: T::narrow(beta) };
            let reference = Reference::new(&csr, operands.alpha, &x, operands.beta, &y0);
            for prefetch in [Prefetch::Nothing, Prefetch::Line, Prefetch::Row] {
                let mut y = y0.clone();
                isa.run(WholeRows {
                    csr: &csr,
                    rows: 0..40,
                    start: 0,
                    operands,
                    y: &mut y,
                    prefetch,
                });
                assert!(reference.judge(&y).passes(), "{isa:?} {}", reference.judge(&y).describe());
            }
        }
    }

    #[test]
    fn shares_are_cut_between_tasks() {
        assert_eq!(shares(&[5, 1, 1, 1, 4, 0], 3), [0..1, 1..4, 4..6]);
        assert_eq!(shares(&[], 2), [0..0, 0..0]);
    }

    #[test]
    fn all_instruction_sets_give_the_product() {
        for isa in Isa::available() {
            check::<f64>(isa);
            check::<f32>(isa);
        }
    }

    #[test]
    fn a_row_can_be_finished_from_its_middle() {
        let triplets: Vec<_> = (0..23).map(|col| (0, col, 1.0)).collect();
        let csr = Csr::<f64>::from_triplets(1, 23, &triplets);
        let operands = Operands { alpha: 1.0, x: &[1.0; 23], beta: 0.0 };
        for isa in Isa::available() {
            for start in 0..=23 {
                let mut y = [f64::NAN];
                let rows = WholeRows {
                    csr: &csr,
                    rows: 0..1,
                    start,
                    operands,
                    y: &mut y,
                    prefetch: Prefetch::Nothing,
                };
                isa.run(rows);
                let head = isa.run(Piece { csr: &csr, range: 0..start, x: operands.x });
                assert_eq!((y[0], head), ((23 - start) as f64, start as f64), "{isa:?}");
            }
        }
    }
}
