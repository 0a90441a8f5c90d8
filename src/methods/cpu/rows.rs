//! The inner loops that the CSR methods share: the dot product of a piece of a row with x, and the product
//! of whole rows.
//!
//! They index without bounds checks. They rely on the invariants that [`Csr::is_valid`] checks, and on the
//! lengths that [`Prepared::multiply`](crate::method::Prepared::multiply) checks.

use std::ops::Range;

use crate::matrix::Csr;
use crate::scalar::Scalar;
use crate::simd::{Kernel, Vector, prefetch};
use crate::system;
use crate::team::{DisjointMut, Team};

/// The operands α, x and β of one product.
#[derive(Clone, Copy)]
pub struct Operands<'a, T> {
    /// The factor of A·x.
    pub alpha: T,
    /// The input vector, `cols` values.
    pub x: &'a [T],
    /// The factor of the old y, which is read only if β ≠ 0.
    pub beta: T,
}

impl<T: Scalar> Operands<'_, T> {
    /// Stores α·`sum` + β·`y` in `y`.
    #[inline(always)]
    pub fn store(&self, sum: T, y: &mut T) {
        *y = if self.beta == T::zero() {
            self.alpha * sum
        } else {
            self.alpha * sum + self.beta * *y
        };
    }
}

/// The column indices and values of some entries.
#[derive(Clone, Copy)]
pub struct Entries<'a, T> {
    /// The column index of each entry; all are less than the length of x.
    pub column_indices: &'a [u32],
    /// The value of each entry.
    pub values: &'a [T],
}

impl<'a, T> Entries<'a, T> {
    /// Returns all entries of a matrix.
    #[inline(always)]
    pub fn of(csr: &'a Csr<T>) -> Self {
        Self { column_indices: &csr.column_indices, values: &csr.values }
    }
}

/// Computes y ← βy. With β = 0 it sets y to zero without reading it.
pub fn scale<T: Scalar>(beta: T, y: &mut [T]) {
    if beta == T::zero() {
        y.fill(T::zero());
    } else if beta != T::one() {
        y.iter_mut().for_each(|y| *y *= beta);
    }
}

/// Computes y ← βy on all threads of the team, each on an equal part of y.
pub fn scale_on<T: Scalar>(team: &Team, beta: T, y: &mut [T]) {
    if beta != T::one() {
        let (len, threads, y) = (y.len(), team.len(), DisjointMut::new(y));
        // SAFETY: parts of different ranks do not overlap.
        team.run(|rank| scale(beta, unsafe { y.range(part(len, rank, threads)) }));
    }
}

/// Returns for each thread contiguous rows with about an equal share of the nonzeros. Each range begins at
/// a multiple of `step`.
pub fn balanced<T>(csr: &Csr<T>, threads: usize, step: usize) -> Vec<Range<usize>> {
    let cut = |rank: usize| {
        let nonzero = csr.nnz() as u64 * rank as u64 / threads as u64;
        let row =
            csr.row_offsets[..csr.rows].partition_point(|&offset| u64::from(offset) < nonzero);
        if rank == threads { csr.rows } else { row.next_multiple_of(step).min(csr.rows) }
    };
    (0..threads).map(|rank| cut(rank)..cut(rank + 1)).collect()
}

/// Returns the part of `0..len` that belongs to thread `rank`. All parts have about the same length.
pub fn part(len: usize, rank: usize, threads: usize) -> Range<usize> {
    let cut = |rank: usize| (len as u64 * rank as u64 / threads as u64) as usize;
    cut(rank)..cut(rank + 1)
}

/// Returns for each thread contiguous tasks with about an equal share of the total size. A task belongs to
/// the thread whose share contains the middle of the task.
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

/// Rows with at least this many nonzeros on average count as long: they occupy more than a cache line.
const LONG_ROW: usize = 8;
/// The prefetch distance in nonzeros.
const PREFETCH_DISTANCE: usize = 256;
/// The size of a cache line in bytes.
const CACHE_LINE: usize = 64;

/// The nonzeros that are prefetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prefetch {
    /// Nothing is prefetched.
    Nothing,
    /// One cache line per row and array.
    Line,
    /// As many cache lines as the row occupies.
    Row,
}

/// Returns Σ a·x over the entries `range`, which are in one row.
///
/// The remaining entries, fewer than a register, are also loaded as a whole register, which may include entries of
/// the next rows. Only the lanes of this row are added. A loop over them would cost a mispredicted branch in most
/// rows.
///
/// # Safety
/// There are as many values as column indices, `range` is within them, and all column indices are within `x`.
#[inline(always)]
pub unsafe fn dot<T: Scalar, V: Vector<T>>(entries: Entries<T>, range: Range<usize>, x: &[T]) -> T {
    let (values, columns) = (entries.values.as_ptr(), entries.column_indices.as_ptr());
    let nnz = entries.values.len();
    let x = x.as_ptr();
    let Range { start: mut k, end } = range;
    // SAFETY: k + LANES ≤ nnz at every vector load, k < end ≤ nnz at every scalar load, and every column
    // index is less than the number of columns.
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

/// Returns the first index in `0..len` for which `before` is false, or `len`. `before` must be true up to
/// some index and false from there on.
pub fn bisect(len: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Returns the kind of prefetching that is fastest for a matrix.
///
/// Prefetching helps only if the matrix is too large for the caches, so that each product streams it from memory. If
/// rows are short, one line per row saves a quarter to a third of the time on stencils of 5 and 7 points. If rows
/// are long and the matrix is so large that hardly any of it is cached, prefetching whole rows saves a tenth on the
/// stencil of 27 points. For matrices in cache, prefetching costs as much as it saves or more.
pub fn prefetch_for<T>(csr: &Csr<T>) -> Prefetch {
    let bytes = (csr.nnz() * (size_of::<T>() + size_of::<u32>())) as u64;
    match system::last_level_cache_bytes() {
        Some(cache) if csr.nnz() < LONG_ROW * csr.rows && bytes > cache => Prefetch::Line,
        Some(cache) if csr.nnz() >= LONG_ROW * csr.rows && bytes > 2 * cache => Prefetch::Row,
        _ => Prefetch::Nothing,
    }
}

/// Prefetches the cache lines of a row (if `ROW`) or only one line, [`PREFETCH_DISTANCE`] nonzeros ahead of the row.
#[inline(always)]
fn prefetch_ahead<E, const ROW: bool>(array: &[E], row: Range<usize>) {
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

/// The kernel for whole rows: y_i = α·Σ a·x + β·y_i for each row of `rows`. The first row is computed from
/// nonzero `start` on, which is after its offset if another thread owns the row's beginning.
pub struct WholeRows<'a, T> {
    /// The matrix that the rows belong to.
    pub csr: &'a Csr<T>,
    /// The rows to compute.
    pub rows: Range<usize>,
    /// The first nonzero to use.
    pub start: usize,
    /// The operands α, x and β.
    pub operands: Operands<'a, T>,
    /// The elements of y of `rows`.
    pub y: &'a mut [T],
    /// The kind of prefetching, as returned by [`prefetch_for`].
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
                prefetch_ahead::<_, ROW>(values, start..end as usize);
                prefetch_ahead::<_, ROW>(column_indices, start..end as usize);
            }
            // SAFETY: in a valid matrix the offsets ascend to nnz; `Prepared::multiply` checked the length of x.
            let sum = unsafe { dot::<T, V>(entries, start..end as usize, self.operands.x) };
            self.operands.store(sum, y);
            start = end as usize;
        }
    }
}

/// The kernel for a piece of one row: Σ a·x.
pub struct Piece<'a, T> {
    /// The matrix that the rows belong to.
    pub csr: &'a Csr<T>,
    /// The nonzeros of the piece.
    pub range: Range<usize>,
    /// The complete vector x.
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
    use crate::simd::{Isa, Lanes};
    use crate::verify::Reference;

    /// Tests rows of every length up to twice that of a register. The last rows are at the end of the arrays.
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
    fn a_row_can_be_computed_from_its_middle() {
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
