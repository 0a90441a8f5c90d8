//! DIA: Bell & Garland (2009), §4.1.
//!
//! Each diagonal that contains a nonzero is stored completely, with one value per row, with its offset and
//! without column indices. A thread owns an equal number of contiguous rows. It processes them in blocks
//! whose sums stay in the nearest cache while one diagonal after the other is added to them. Transposed,
//! the diagonals are those of Aᵀ, whose offsets have the opposite sign.
//!
//! Memory: the diagonals and their offsets; while the diagonals of Aᵀ are built, also Aᵀ.

use super::placement::{place, span};
use super::prelude::*;
use super::rows::part;
use crate::formats::diagonals::{self, Diagonals};

pub const METHOD: Method = Method {
    name: "dia",
    source: "Bell & Garland 2009, DIA",
    summary: "whole diagonals without column indices, multiplied in blocks of rows",
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory: diagonals::memory,
    may_refuse: diagonals::may_refuse,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

const BLOCK: usize = 1024;

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, isa, transpose) = (request.team, request.isa, request.transpose);
    let diagonals = Diagonals::new(csr, transpose)?;
    let rows = diagonals.rows;
    let (threads, bytes) = (team.len(), diagonals.bytes());
    let placed = place(team, |rank| {
        let rows = part(rows, rank, threads);
        let of_rows = |diagonal: &[T]| span(&diagonal[rows.clone()]);
        diagonals.values.chunks(diagonals.rows.max(1)).map(of_rows).collect()
    });
    let product = move |operands: Operands<T>, y: &mut [T]| {
        let y = DisjointMut::new(y);
        team.run(|rank| {
            let rows = part(rows, rank, threads);
            // SAFETY: the parts of different ranks do not overlap.
            let y = unsafe { y.range(rows.clone()) };
            isa.run_wide(Rows { csr, transpose, diagonals: &diagonals, rows, operands, y });
        });
    };
    Ok(multiplying(csr, bytes, product).transposing(transpose).with_notes(placed))
}

impl<T: Scalar> Diagonals<T> {
    fn bytes(&self) -> usize {
        size_of_val(&self.offsets[..]) + size_of_val(&self.values[..])
    }

    /// Returns those of `rows` in which the diagonal is inside the matrix.
    fn rows_on(&self, offset: isize, rows: &Range<usize>) -> Range<usize> {
        let first = (-offset).max(0) as usize;
        let end = (self.cols as isize - offset).max(0) as usize;
        rows.start.max(first)..rows.end.min(end)
    }
}

struct Rows<'a, T> {
    csr: &'a Csr<T>,
    transpose: bool,
    diagonals: &'a Diagonals<T>,
    rows: Range<usize>,
    operands: Operands<'a, T>,
    y: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(mut self) {
        let mut sums = [T::zero(); BLOCK];
        let y = std::mem::take(&mut self.y);
        for (y, first) in y.chunks_mut(BLOCK).zip(self.rows.clone().step_by(BLOCK)) {
            let sums = &mut sums[..y.len()];
            self.add_diagonals::<V>(first, sums);
            if !sums.iter().fold(true, |finite, sum| finite & sum.is_finite()) {
                self.recompute_non_finite(first, sums);
            }
            y.iter_mut().zip(sums).for_each(|(y, &mut sum)| self.operands.store(sum, y));
        }
    }
}

impl<T: Scalar> Rows<'_, T> {
    /// Computes Σ a·x of the rows from `first` on, diagonal by diagonal.
    #[inline(always)]
    fn add_diagonals<V: Vector<T>>(&self, first: usize, sums: &mut [T]) {
        let Diagonals { rows, offsets, values, .. } = self.diagonals;
        let block = first..first + sums.len();
        sums.fill(T::zero());
        for (diagonal, &offset) in offsets.iter().enumerate() {
            let on = self.diagonals.rows_on(offset, &block);
            if on.is_empty() {
                continue;
            }
            let values = &values[diagonal * rows..][on.clone()];
            let x = &self.operands.x[on.start.wrapping_add_signed(offset)..][..on.len()];
            let sums = &mut sums[on.start - first..on.end - first];
            for ((sum, &value), &x) in sums.iter_mut().zip(values).zip(x) {
                *sum = V::fused(value, x, *sum);
            }
        }
    }

    /// Recomputes the sums that are not finite, without fill: see
    /// [`fill::recompute_non_finite`](crate::formats::fill::recompute_non_finite).
    #[cold]
    fn recompute_non_finite(&self, first: usize, sums: &mut [T]) {
        for (row, sum) in (first..).zip(sums).filter(|(_, sum)| !sum.is_finite()) {
            let Diagonals { rows, offsets, values, .. } = self.diagonals;
            let columns = offsets.iter().map(|&offset| row.wrapping_add_signed(offset));
            let entries = columns.enumerate().filter(|&(_, column)| self.is_entry(row, column));
            let products = entries.map(|(d, column)| values[d * rows + row] * self.operands.x[column]);
            *sum = products.fold(T::zero(), |sum, product| sum + product);
        }
    }

    fn is_entry(&self, row: usize, column: usize) -> bool {
        let (row, column) = if self.transpose { (column, row) } else { (row, column) };
        row < self.csr.rows()
            && column < self.csr.cols()
            && self.csr.column_indices()[self.csr.row(row)].binary_search(&(column as u32)).is_ok()
    }
}
