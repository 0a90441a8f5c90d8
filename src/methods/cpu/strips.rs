//! Rows side by side: what ELL, the ELL part of HYB and SELL-C-σ share.
//!
//! A strip is as many rows as the widest register has lanes, stored column by column, so that the
//! register holds a sum per row and no lane waits for another. A row that is shorter than its strip is
//! filled up with zeros in its last column. Sums that the fill spoils ([`mend`]) are computed again.

use std::ops::Range;

use rayon::prelude::*;

use super::rows::{Operands, bisect};
use crate::matrix::Csr;
use crate::method::{Prepared, Request};
use crate::methods::fill::mend;
use crate::scalar::Scalar;
use crate::simd::{Kernel, Lanes, MOST_LANES, Vector, prefetch};
use crate::team::DisjointMut;

/// A place's prefetch is this many places ahead: columns that are far apart are more streams than the
/// hardware's prefetcher follows.
const PREFETCH_DISTANCE: usize = 128;

/// How the strips lie in memory.
pub enum Layout {
    /// One after the other, each as wide as its longest row: columns before each strip, and in all.
    Sliced(Vec<u32>),
    /// All of the same width, the columns of the whole matrix `pitch` places apart.
    Whole {
        /// Places between a row's entries.
        pitch: usize,
        /// Entries per row.
        width: usize,
    },
}

/// Where a strip lies: `width` columns of a register each, `stride` apart.
#[derive(Clone, Copy)]
struct Strip {
    start: usize,
    stride: usize,
    width: usize,
}

/// Rows stored in strips.
pub struct Strips<T> {
    lanes: usize,
    rows: usize,
    layout: Layout,
    /// The row of each lane, where it is not the lane's own number.
    order: Option<Vec<u32>>,
    column_indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Scalar> Strips<T> {
    /// The matrix, or of each row as many entries as the layout has room for.
    pub fn new(csr: &Csr<T>, lanes: usize, layout: Layout, order: Option<Vec<u32>>) -> Self {
        let places = match &layout {
            Layout::Sliced(offsets) => offsets[offsets.len() - 1] as usize * lanes,
            Layout::Whole { pitch, width } => pitch * width,
        };
        let (mut column_indices, mut values) = (vec![0; places], vec![T::zero(); places]);
        let strips = Self {
            lanes,
            rows: csr.rows,
            layout,
            order,
            column_indices: Vec::new(),
            values: Vec::new(),
        };
        let arrays = (DisjointMut::new(&mut column_indices), DisjointMut::new(&mut values));
        (0..strips.len()).into_par_iter().with_min_len(64).for_each(|index| {
            for (lane, row) in strips.lanes_of(index).enumerate() {
                // SAFETY: a place belongs to one lane of one strip.
                unsafe { strips.fill(csr, index, lane, row, &arrays) };
            }
        });
        Self { column_indices, values, ..strips }
    }

    /// Copies what has room of a row and repeats its last column with zeros.
    ///
    /// # Safety
    /// No other thread fills this lane.
    unsafe fn fill(
        &self,
        csr: &Csr<T>,
        index: usize,
        lane: usize,
        row: usize,
        (column_indices, values): &(DisjointMut<u32>, DisjointMut<T>),
    ) {
        let Strip { start, stride, width } = self.strip(index);
        let entries = entries(csr, row, width);
        let mut last = 0;
        for place in 0..width {
            let to = start + place * stride + lane;
            // SAFETY: inside the arrays, which have room for every strip; and the caller's promise.
            unsafe {
                if place < entries.len() {
                    last = csr.column_indices[entries.start + place];
                    *values.at(to) = csr.values[entries.start + place];
                }
                *column_indices.at(to) = last;
            }
        }
    }

    /// The number of strips.
    pub fn len(&self) -> usize {
        self.rows.div_ceil(self.lanes)
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> usize {
        let offsets = if let Layout::Sliced(offsets) = &self.layout { &offsets[..] } else { &[] };
        let order = self.order.as_deref().unwrap_or_default();
        size_of_val(offsets)
            + size_of_val(order)
            + size_of_val(&self.column_indices[..])
            + size_of_val(&self.values[..])
    }

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

    fn strip(&self, index: usize) -> Strip {
        match &self.layout {
            Layout::Sliced(offsets) => {
                let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
                Strip { start: start * self.lanes, stride: self.lanes, width: end - start }
            }
            &Layout::Whole { pitch, width } => {
                Strip { start: index * self.lanes, stride: pitch, width }
            }
        }
    }

    /// The rows of a strip.
    fn lanes_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let first = index * self.lanes;
        let lanes = first..(first + self.lanes).min(self.rows);
        lanes.map(|lane| self.order.as_ref().map_or(lane, |order| order[lane] as usize))
    }
}

impl<T: Scalar + Lanes> Strips<T> {
    /// The method that multiplies the strips and nothing else.
    pub fn prepared<'a>(self, csr: &'a Csr<T>, request: &Request<'a>) -> Prepared<'a, T> {
        let (team, isa) = (request.team, request.isa);
        let shares = self.shares(team.len());
        let nonzeros_per_place = csr.nnz() as f64 / self.values.len().max(1) as f64;
        Prepared::new(csr, self.bytes(), move |alpha, x, beta, y| {
            let operands = Operands { alpha, x, beta };
            let y = &DisjointMut::new(y);
            team.run(|rank| {
                let share = shares[rank].clone();
                isa.run_wide(StripRows { csr, strips: &self, share, operands, y });
            });
            Ok(())
        })
        .noting(format!("{nonzeros_per_place:.2} nonzeros per place"))
    }
}

/// The first `width` entries of a row.
fn entries<T>(csr: &Csr<T>, row: usize, width: usize) -> Range<usize> {
    let Range { start, end } = csr.row(row);
    start..end.min(start + width)
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
        debug_assert_eq!(V::LANES, self.strips.lanes);
        let mut sums = [T::zero(); MOST_LANES];
        for index in self.share.clone() {
            let strip = self.strips.strip(index);
            // SAFETY: the strip exists, and its lanes are at most `MOST_LANES`.
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
    /// The strip is one of the strips.
    #[inline(always)]
    unsafe fn sum<V: Vector<T>>(&self, strip: Strip) -> V {
        let (columns, values) = (&self.strips.column_indices, &self.strips.values);
        let (columns, values) = (columns.as_ptr(), values.as_ptr());
        let x = self.operands.x.as_ptr();
        // SAFETY: each column of a strip is a register's places, all filled; every column index is
        // one of the matrix's, or 0 where a row has none but another has.
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
        // SAFETY: a row has one lane, and strips are not shared.
        match &self.strips.order {
            Some(order) => {
                for (&row, &sum) in order[lanes].iter().zip(sums) {
                    self.operands.store(sum, unsafe { self.y.at(row as usize) });
                }
            }
            None => {
                let y = unsafe { self.y.range(lanes) };
                y.iter_mut().zip(sums).for_each(|(y, &sum)| self.operands.store(sum, y));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 3, 0, 1, 2 and 1 entries.
    fn ragged() -> Csr<f64> {
        let entries = [(0, 0), (0, 2), (0, 4), (2, 3), (3, 1), (3, 4), (4, 4)];
        let triplets: Vec<_> =
            entries.iter().enumerate().map(|(k, &(row, col))| (row, col, k as f64 + 1.0)).collect();
        Csr::from_triplets(5, 5, &triplets)
    }

    #[test]
    fn fill_repeats_the_rows_last_column() {
        let sliced = Strips::new(&ragged(), 2, Layout::Sliced(vec![0, 3, 5, 6]), None);
        assert_eq!(sliced.column_indices, [0, 0, 2, 0, 4, 0, 3, 1, 3, 4, 4, 0]);
        assert_eq!(sliced.values, [1., 0., 2., 0., 3., 0., 4., 5., 0., 6., 7., 0.]);
        let order = Some(vec![0, 3, 2, 4, 1]);
        let sorted = Strips::new(&ragged(), 2, Layout::Sliced(vec![0, 3, 4, 4]), order);
        assert_eq!(sorted.column_indices, [0, 1, 2, 4, 4, 4, 3, 4]);
        assert_eq!(sorted.bytes(), 8 * 8 + 8 * 4 + 4 * 4 + 5 * 4);
        let whole = Strips::new(&ragged(), 2, Layout::Whole { pitch: 6, width: 2 }, None);
        assert_eq!(whole.values, [1., 0., 4., 5., 7., 0., 2., 0., 0., 6., 0., 0.]);
    }

    #[test]
    fn shares_are_all_strips_and_weigh_the_same() {
        let wide_first = vec![0, 30, 31, 32, 33, 34, 35, 35, 35];
        let csr = Csr::<f64>::from_triplets(16, 16, &[]);
        let empty = Strips::new(&csr, 2, Layout::Whole { pitch: 16, width: 0 }, None);
        assert_eq!(empty.shares(3), [0..2, 2..5, 5..8]);
        let strips = Strips { layout: Layout::Sliced(wide_first), ..empty };
        assert_eq!(strips.shares(2), [0..1, 1..8]);
        assert_eq!(strips.shares(4), [0..1, 1..1, 1..2, 2..8]);
    }
}
