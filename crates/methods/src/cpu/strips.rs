//! The product of rows stored in strips ([`Strips`]): one row per lane of a register.
//!
//! A strip has as many rows as the widest register has lanes, so one register contains the sums of all its
//! rows. Padding repeats the row's last column index. Sums that become infinite or NaN through padding are
//! recomputed ([`recompute_non_finite`]).
//!
//! Unchecked accesses rely on the invariants of [`Strips`], cited by name, and on x having a value per column of the
//! matrix, which `Prepared::multiply` checks.

use super::placement::{Span, place, span};
use super::prelude::*;
use super::rows::cut;
use crate::formats::fill::recompute_non_finite;
use crate::formats::strips::{Layout, Strip, Strips, entries, note};
use crate::simd::{MAX_LANES, prefetch};

/// The prefetch distance in places: columns that are far apart are more streams than the hardware prefetcher follows.
const PREFETCH_DISTANCE: usize = 128;

impl<T: Scalar> Strips<T> {
    /// Returns for each thread contiguous strips with an equal share of the work: register loads of places,
    /// plus one store to y per strip.
    pub fn shares(&self, threads: usize) -> Vec<Range<usize>> {
        let before = |strip: usize| match &self.layout {
            Layout::Sliced(offsets) => offsets[strip] as u64 + strip as u64,
            Layout::Whole { .. } => strip as u64,
        };
        let cut = |rank| cut(self.len(), before, rank, threads);
        (0..threads).map(|rank| cut(rank)..cut(rank + 1)).collect()
    }

    /// Returns the lanes of strips. Shares without strips may follow the last one, whose lanes are not all rows.
    pub fn lanes_of_share(&self, share: &Range<usize>) -> Range<usize> {
        let first_lane = |strip: usize| (strip * self.lanes).min(self.rows);
        first_lane(share.start)..first_lane(share.end)
    }

    pub fn spans(&self, share: Range<usize>) -> Vec<Span> {
        let lanes = self.lanes_of_share(&share);
        let mut spans: Vec<_> = self.order.iter().map(|order| span(&order[lanes.clone()])).collect();
        let mut add = |places: Range<usize>| {
            spans.extend([span(&self.values[places.clone()]), span(&self.column_indices[places])]);
        };
        match &self.layout {
            Layout::Sliced(offsets) => {
                let place = |strip: usize| offsets[strip] as usize * self.lanes;
                add(place(share.start)..place(share.end));
            }
            Layout::Whole { pitch, width } => {
                (0..*width).for_each(|k| add(k * pitch + lanes.start..k * pitch + lanes.end));
            }
        }
        spans
    }
}

impl<T: Scalar + Lanes> Strips<T> {
    pub fn prepared<'a>(self, csr: &'a Csr<T>, request: &Request<'a>) -> Prepared<'a, T> {
        let (team, isa) = (request.team, request.isa);
        let shares = self.shares(team.len());
        let note = note(csr.nnz(), self.values.len());
        let placed = place(team, |rank| self.spans(shares[rank].clone()));
        multiplying(csr, self.bytes(), move |operands, y| {
            let y = &DisjointMut::new(y);
            team.run(|rank| {
                let share = shares[rank].clone();
                isa.run_wide(StripRows { csr, strips: &self, share, operands, y });
            });
        })
        .with_note(note)
        .with_notes(placed)
    }
}

pub struct StripRows<'a, T> {
    pub csr: &'a Csr<T>,
    pub strips: &'a Strips<T>,
    pub share: Range<usize>,
    pub operands: Operands<'a, T>,
    /// All of y. No other thread writes the rows of these strips.
    pub y: &'a DisjointMut<'a, T>,
}

impl<T: Scalar> Kernel<T> for StripRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        assert_eq!(V::LANES, self.strips.lanes);
        let mut sums = [T::zero(); MAX_LANES];
        for index in self.share.clone() {
            let strip = self.strips.strip(index);
            // SAFETY: `strip` is one of the strips and has as many lanes as V.
            let finite = unsafe {
                let sum: V = self.sum(strip);
                sum.store(sums.as_mut_ptr());
                sum.finite()
            };
            if !finite {
                let rows = self.strips.lanes_of(index);
                let ranges = rows.map(|row| entries(self.csr, row, strip.width));
                recompute_non_finite(self.csr, ranges, self.operands.x, &mut sums);
            }
            self.store(index, &sums);
        }
    }
}

impl<T: Scalar> StripRows<'_, T> {
    /// Returns Σ a·x of each row of a strip.
    ///
    /// # Safety
    /// `strip` is one of the strips, and has as many lanes as V.
    #[inline(always)]
    unsafe fn sum<V: Vector<T>>(&self, strip: Strip) -> V {
        let (columns, values) = (&self.strips.column_indices[..], &self.strips.values[..]);
        // SAFETY: by PLACES each column of a strip is a register of places; by COLUMNS their columns are within x.
        unsafe {
            let mut sums = V::zero();
            for column in 0..strip.width {
                let place = strip.start + column * strip.stride;
                prefetch::<1>(values.as_ptr().wrapping_add(place + PREFETCH_DISTANCE));
                prefetch::<1>(columns.as_ptr().wrapping_add(place + PREFETCH_DISTANCE));
                let factors = V::gather(self.operands.x, columns, place);
                sums = V::load(values, place).mul_add(factors, sums);
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
                    // SAFETY: by ORDER no other lane has this row, and each strip belongs to one thread.
                    self.operands.store(sum, unsafe { self.y.at(row as usize) });
                }
            }
            None => {
                // SAFETY: row i is in lane i, and each strip belongs to one thread.
                let y = unsafe { self.y.range(lanes) };
                y.iter_mut().zip(sums).for_each(|(y, &sum)| self.operands.store(sum, y));
            }
        }
    }
}
