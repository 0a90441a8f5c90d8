//! The product of rows side by side ([`Strips`]) in registers: a lane per row.
//!
//! A strip is as many rows as the widest register has lanes, so that the register holds a sum per row.
//! Fill repeats the row's last column; sums that it spoils ([`mend`]) are computed again.
//!
//! Unchecked accesses rely on the invariants of [`Strips::check`], by their names, and on x having a value per
//! column of the matrix, which `Prepared::multiply` checks.

use std::ops::Range;

use super::rows::{Operands, bisect};
use crate::matrix::Csr;
use crate::method::{Prepared, Request};
use crate::methods::debug_check;
use crate::methods::fill::mend;
use crate::methods::strips::{Layout, Strip, Strips, entries};
use crate::scalar::Scalar;
use crate::simd::{Kernel, Lanes, MOST_LANES, Vector, prefetch};
use crate::team::DisjointMut;

/// A place's prefetch is this many places ahead: columns that are far apart are more streams than the
/// hardware's prefetcher follows.
const PREFETCH_DISTANCE: usize = 128;

impl<T: Scalar> Strips<T> {
    /// For each of `threads` its strips: as many registers' worth of places, and of stores to y.
    pub fn shares(&self, threads: usize) -> Vec<Range<usize>> {
        let before = |strip: usize| match &self.layout {
            Layout::Sliced(offsets) => offsets[strip] as u64 + strip as u64,
            Layout::Whole { .. } => strip as u64,
        };
        let all = before(self.len());
        let cut = |rank| bisect(self.len(), |s| before(s) < all * rank as u64 / threads as u64);
        (0..threads).map(|rank| cut(rank)..cut(rank + 1)).collect()
    }
}

impl<T: Scalar + Lanes> Strips<T> {
    /// The method that multiplies the strips and nothing else.
    pub fn prepared<'a>(self, csr: &'a Csr<T>, request: &Request<'a>) -> Prepared<'a, T> {
        let (team, isa) = (request.team, request.isa);
        debug_check(|| self.check(csr.cols));
        let shares = self.shares(team.len());
        let note = self.note(csr.nnz());
        Prepared::new(csr, self.bytes(), move |alpha, x, beta, y| {
            let operands = Operands { alpha, x, beta };
            let y = &DisjointMut::new(y);
            team.run(|rank| {
                let share = shares[rank].clone();
                isa.run_wide(StripRows { csr, strips: &self, share, operands, y });
            });
            Ok(())
        })
        .noting(note)
    }
}

/// The product of some strips: y ← αAx + βy in their rows.
pub struct StripRows<'a, T> {
    /// What the strips were made from.
    pub csr: &'a Csr<T>,
    /// All strips.
    pub strips: &'a Strips<T>,
    /// Those to multiply.
    pub share: Range<usize>,
    /// α, x, β.
    pub operands: Operands<'a, T>,
    /// All of y, of which nobody else writes these strips' rows.
    pub y: &'a DisjointMut<'a, T>,
}

impl<T: Scalar> Kernel<T> for StripRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        assert_eq!(V::LANES, self.strips.lanes);
        let mut sums = [T::zero(); MOST_LANES];
        for index in self.share.clone() {
            let strip = self.strips.strip(index);
            // SAFETY: the strip is one of the strips, in lanes of V, which by LANES are at most `MOST_LANES`.
            let finite = unsafe {
                let sum: V = self.sum(strip);
                sum.store(sums.as_mut_ptr());
                sum.finite()
            };
            if !finite {
                let rows = self.strips.lanes_of(index);
                let ranges = rows.map(|row| entries(self.csr, row, strip.width));
                mend(self.csr, ranges, self.operands.x, &mut sums);
            }
            self.store(index, &sums);
        }
    }
}

impl<T: Scalar> StripRows<'_, T> {
    /// Σ a·x of each row of a strip.
    ///
    /// # Safety
    /// The strip is one of the strips, in lanes of V.
    #[inline(always)]
    unsafe fn sum<V: Vector<T>>(&self, strip: Strip) -> V {
        let (columns, values) = (&self.strips.column_indices, &self.strips.values);
        let (columns, values) = (columns.as_ptr(), values.as_ptr());
        let x = self.operands.x.as_ptr();
        // SAFETY: by PLACES each column of a strip is a register of places; by COLUMNS x has their columns.
        unsafe {
            let mut sums = V::zero();
            for column in 0..strip.width {
                let place = strip.start + column * strip.stride;
                prefetch(values.wrapping_add(place + PREFETCH_DISTANCE));
                prefetch(columns.wrapping_add(place + PREFETCH_DISTANCE));
                let factors = V::gather(x, columns.add(place));
                sums = V::load(values.add(place)).mul_add(factors, sums);
            }
            sums
        }
    }

    #[inline(always)]
    fn store(&self, index: usize, sums: &[T]) {
        let first = index * self.strips.lanes;
        let lanes = first..(first + self.strips.lanes).min(self.strips.rows);
        match &self.strips.order {
            Some(order) => {
                for (&row, &sum) in order[lanes].iter().zip(sums) {
                    // SAFETY: by ORDER it is a row that no other lane has, and strips are not shared.
                    self.operands.store(sum, unsafe { self.y.at(row as usize) });
                }
            }
            None => {
                // SAFETY: rows are in the order of their lanes, and strips are not shared.
                let y = unsafe { self.y.range(lanes) };
                y.iter_mut().zip(sums).for_each(|(y, &sum)| self.operands.store(sum, y));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_strips_and_weigh_the_same() {
        let wide_first = vec![0, 30, 31, 32, 33, 34, 35, 35, 35];
        let csr = Csr::<f64>::from_triplets(16, 16, &[]);
        let empty = Strips::whole(&csr, 2, (16, 0), None).unwrap();
        assert_eq!(empty.shares(3), [0..2, 2..5, 5..8]);
        let strips = Strips { layout: Layout::Sliced(wide_first), ..empty };
        assert_eq!(strips.shares(2), [0..1, 1..8]);
        assert_eq!(strips.shares(4), [0..1, 1..1, 1..2, 2..8]);
    }
}
