//! What the methods share: the operands of a product, and the division of rows among threads.

use std::ops::Range;

use crate::method::{Prepared, Unavailable};
use crate::team::Team;
pub use crate::team::part;
use spmv_matrix::Csr;
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::scalar::Scalar;

/// What the preparation of a method returns.
pub type Outcome<'a, T> = Result<Prepared<'a, T>, Unavailable>;

#[derive(Clone, Copy)]
pub struct Operands<'a, T> {
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
        *y = if self.beta == T::zero() { self.alpha * sum } else { self.alpha * sum + self.beta * *y };
    }

    /// Stores α·`sums` + β·`y` in `y`, of the same length, as [`store`](Self::store) does, but by vector instructions.
    #[inline(always)]
    pub fn store_all(&self, sums: &mut [T], y: &mut [T]) {
        for sum in &mut *sums {
            *sum = self.alpha * *sum;
        }
        if self.beta != T::zero() {
            for (sum, y) in sums.iter_mut().zip(&*y) {
                *sum += self.beta * *y;
            }
        }
        y.copy_from_slice(sums);
    }
}

/// Returns a product that does not fail and uses `extra_bytes` in addition to CSR. With β = 0 it must not read y.
pub fn multiplying<'a, T: Copy>(
    csr: &'a Csr<T>,
    extra_bytes: usize,
    mut product: impl FnMut(Operands<T>, &mut [T]) + 'a,
) -> Prepared<'a, T> {
    Prepared::new(csr, extra_bytes, move |alpha, x, beta, y| {
        product(Operands { alpha, x, beta }, y);
        Ok(())
    })
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

/// Methods that divide the nonzeros among the threads scale in each thread the y of the rows that begin among its
/// nonzeros, which may be nearly all rows. Returns whether a thread would so have more than one and a half times the
/// mean of the rows and nonzeros. Then all threads must scale y first. `begun` are the rows that begin in each share.
pub fn scales_first<T>(csr: &Csr<T>, begun: impl ExactSizeIterator<Item = Range<usize>>) -> bool {
    let threads = begun.len();
    let most = begun.map(|rows| rows.len()).max().unwrap_or(0);
    2 * (most * threads + csr.nnz()) > 3 * (csr.rows() + csr.nnz())
}

/// Computes y ← βy on all threads if `first`. Returns the factor by which y must still be scaled.
pub fn scale_if<T: Scalar>(first: bool, team: &Team, beta: T, y: &mut [T]) -> T {
    if !first {
        return beta;
    }
    scale_on(team, beta, y);
    T::one()
}

/// Returns contiguous rows for thread `rank`. The rows and nonzeros of every thread are together an equal share, up
/// to the length of a row, so that many empty rows are not the work of one thread. Each range begins at a multiple of
/// `step`.
pub fn balanced<T>(csr: &Csr<T>, rank: usize, threads: usize, step: usize) -> Range<usize> {
    let before = |row: usize| row as u64 + u64::from(csr.row_offsets()[row]);
    let cut = |rank| cut(csr.rows(), before, rank, threads).next_multiple_of(step).min(csr.rows());
    cut(rank)..cut(rank + 1)
}

/// Returns for each thread contiguous tasks. The largest share is as small as possible, and each share is about an
/// equal part of what the threads before it leave.
pub fn shares(sizes: &[usize], threads: usize) -> Vec<Range<usize>> {
    let ends = sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    let before: Vec<_> = std::iter::once(0).chain(ends).collect();
    let total = before[sizes.len()];
    let (mut low, mut most) = (sizes.iter().copied().max().unwrap_or(0), total);
    while low < most {
        let middle = low + (most - low) / 2;
        if earliest(&before, middle, threads)[0] == 0 { most = middle } else { low = middle + 1 }
    }
    let earliest = earliest(&before, most, threads);
    let mut start = 0;
    let share = |rank: usize| {
        let (done, threads) = (before[start], threads - rank);
        let latest = before.partition_point(|&end| end <= done + most) - 1;
        // A task belongs to the thread if its middle does.
        let is_first_half =
            |end: &usize| (before[end - 1] + before[*end]) * threads < 2 * (done * threads + total - done);
        let equal = (start + 1..=latest).take_while(is_first_half).last().unwrap_or(start);
        let end = equal.max(earliest[rank + 1]);
        std::mem::replace(&mut start, end)..end
    };
    (0..threads).map(share).collect()
}

/// Returns for each thread the first task from which it and the threads after it can do the rest, none of them more
/// than `most`; the last element is the end. If the first thread cannot begin with the first task, `most` is too small.
fn earliest(before: &[usize], most: usize, threads: usize) -> Vec<usize> {
    let mut starts = vec![before.len() - 1; threads + 1];
    for rank in (0..threads).rev() {
        let end = before[starts[rank + 1]];
        starts[rank] = before.partition_point(|&start| start + most < end);
    }
    starts
}

/// Returns the first of `len` tasks before which there is at least the share of the work of all threads before `rank`.
/// `before` returns the work before a task.
pub fn cut(len: usize, before: impl Fn(usize) -> u64, rank: usize, threads: usize) -> usize {
    let share = before(len) * rank as u64 / threads as u64;
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) < share { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_cut_between_tasks() {
        assert_eq!(shares(&[5, 1, 1, 1, 4, 0], 3), [0..1, 1..4, 4..6]);
        assert_eq!(shares(&[], 2), [0..0, 0..0]);
        assert_eq!(shares(&[0, 0], 2), [0..0, 0..2]);
        assert_eq!(shares(&[3, 3, 2, 2, 3, 3], 4), [0..1, 1..3, 3..5, 5..6]);
    }

    #[test]
    fn no_other_shares_have_a_smaller_largest_one() {
        for seed in 1..200usize {
            let sizes: Vec<_> = (1..8).map(|k| (seed * k * 7919) % 1009 % 10).collect();
            let sum = |tasks: Range<usize>| sizes[tasks].iter().sum::<usize>();
            let cuts = (0..=7).flat_map(|b| (0..=b).map(move |a| (a, b)));
            let smallest = cuts.map(|(a, b)| sum(0..a).max(sum(a..b)).max(sum(b..7))).min();
            assert_eq!(shares(&sizes, 3).into_iter().map(sum).max(), smallest, "{sizes:?}");
        }
    }
}
