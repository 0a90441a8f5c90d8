//! Verifies results of products against a reference of higher precision.
//!
//! The reference is accumulated in double-double for both precisions, with s_i = Σ|a_ij||x_j|. Row i passes if
//! |y_i − ref_i| ≤ c·(n_i + 2)·(u·(|α|·s_i + |β·y0_i|) + η·max(1, |α|)). Here n_i is the number of its entries, u the
//! unit roundoff and η the smallest normal number of the method's precision, and c = [`BOUND_FACTOR`]. Every order of
//! summation of n_i products, scaled by α and added to β·y0, stays within the bound for c = 1 to first order in u.
//! The term with η allows for products that underflow or are flushed to zero.
//!
//! Rounding errors mostly cancel each other, so sums in the method's precision stay far below that bound in long rows,
//! where values or products of lower precision would pass, too. A second, likely bound has √(n_i + 2) in place of
//! c·(n_i + 2), and in place of s_i the largest partial sum in the order of the columns, or √Σ(a_ij x_j)² if that is
//! larger. With errors that are random, [`LIKELY_FACTOR`] times this bound is seven standard deviations. What exceeds
//! it is not wrong, but less accurate than sums in that precision explain.

mod chain;

use bytemuck::cast_slice;
use rayon::prelude::*;

use crate::Csr;
use crate::order::Permutation;
use crate::scalar::{Precision, Scalar};

/// The constant c: 1 covers the rounding error to first order in u, 2 also the higher orders.
pub const BOUND_FACTOR: f64 = 2.0;

/// How many times the likely bound an error may be before it needs another explanation than random roundings.
pub const LIKELY_FACTOR: f64 = 4.0;

/// The number of rows, or of rows and entries, from which several threads are faster than one.
const PARALLEL_FROM: usize = 8 << 10;

/// A value of twice the precision of `f64`: the unevaluated sum `high + low`.
#[derive(Clone, Copy, Debug, Default)]
struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// Adds the exact product `a · b` (error-free transformations by Dekker and Knuth).
    fn add_product(self, a: f64, b: f64) -> Self {
        let product = a * b;
        let product_error = a.mul_add(b, -product);
        let sum = self.high + product;
        let part = sum - self.high;
        let sum_error = (self.high - (sum - part)) + (product - part);
        let low = self.low + (sum_error + product_error);
        let high = sum + low;
        Self { high, low: low - (high - sum) }
    }

    fn plus(self, other: Self) -> Self {
        self.add_product(other.high, 1.0).add_product(other.low, 1.0)
    }

    /// Returns `factor · self + addend_a · addend_b`.
    fn scaled_plus(self, factor: f64, addend_a: f64, addend_b: f64) -> Self {
        Self::default()
            .add_product(factor, self.high)
            .add_product(factor, self.low)
            .add_product(addend_a, addend_b)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ReferenceRow {
    exact: DoubleDouble,
    /// The error bound for c = 1.
    bound: f64,
    /// The likely bound as a share of the other one. With the number of entries it takes 8 bytes: runs of very sparse
    /// matrices need much of their memory for references.
    likely_share: f32,
    entries: u32,
}

/// The sums over the entries of a row or of a part of a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowSum {
    sum: DoubleDouble,
    magnitude: f64,
    /// The magnitude of the largest partial sum.
    partial: f64,
    /// The sum of the squares of the products.
    squares: f64,
    entries: f64,
}

/// The expected y and its error bounds.
#[derive(Default)]
pub struct Reference {
    rows: Vec<ReferenceRow>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The error of the worst row divided by its bound for c = 1; infinite if a row is NaN.
    pub error_ratio: f64,
    /// The largest error of a row divided by its likely bound.
    pub likely_ratio: f64,
    /// The worst row, its value in y and its value in the reference; `None` if there are no rows.
    pub worst: Option<(usize, f64, f64)>,
}

impl Reference {
    /// Computes the reference for y = αAx + βy0. `y0` is read only if β ≠ 0.
    pub fn new<T: Scalar>(csr: &Csr<T>, alpha: T, x: &[T], beta: T, y0: &[T]) -> Self {
        let row = |row| RowSum::of(csr, row, x).row(alpha, beta, old(beta, y0, row));
        let rows = match csr.rows + csr.nnz() {
            0..PARALLEL_FROM => (0..csr.rows).map(row).collect(),
            _ => (0..csr.rows).into_par_iter().with_min_len(1024).map(row).collect(),
        };
        Self { rows }
    }

    pub fn of_sums<T: Scalar>(sums: &[RowSum], alpha: T, beta: T, y0: &[T]) -> Self {
        let rows = sums.iter().enumerate();
        Self { rows: rows.map(|(row, sum)| sum.row(alpha, beta, old(beta, y0, row))).collect() }
    }

    pub fn permuted(&self, permutation: &Permutation) -> Self {
        Self { rows: permutation.apply(&self.rows) }
    }

    pub fn row(&self, row: usize) -> ReferenceRow {
        self.rows[row]
    }

    /// Swaps rows of the reference with `rows`, which are given with their indices. A second call restores the
    /// reference.
    pub fn exchange(&mut self, rows: &mut [(usize, ReferenceRow)]) {
        rows.iter_mut().for_each(|(row, other)| std::mem::swap(&mut self.rows[*row], other));
    }

    /// Returns the first row whose sum, or a partial sum of it, may exceed the largest number of the precision after it
    /// has grown by `change`. The result then depends on the order of summation, so it cannot be verified.
    pub fn overflow<T: Scalar>(&self, change: f64) -> Option<usize> {
        let largest = (T::max_value().widen() - change) * T::UNIT_ROUNDOFF;
        let overflows = |row: &ReferenceRow| {
            let sum = row.bound / (f64::from(row.entries) + 2.0);
            sum.is_nan() || sum > largest
        };
        self.rows.par_iter().position_first(overflows)
    }

    /// Compares y, which has one value per row, with the reference.
    // Functions without type parameters are compiled here, optimised for speed; the program that calls this one after
    // every few products is optimised for size.
    pub fn judge<T: Scalar>(&self, y: &[T]) -> Verdict {
        match T::PRECISION {
            Precision::F64 => self.judge_f64(cast_slice(y)),
            Precision::F32 => self.judge_f32(cast_slice(y)),
        }
    }

    fn judge_f64(&self, y: &[f64]) -> Verdict {
        self.verdict(y)
    }

    fn judge_f32(&self, y: &[f32]) -> Verdict {
        self.verdict(y)
    }

    fn verdict<T: Scalar>(&self, y: &[T]) -> Verdict {
        assert_eq!(y.len(), self.rows.len());
        let ratios = |row: usize| {
            let [error, likely] = self.rows[row].ratios(y[row].widen());
            (error, row, likely)
        };
        let worse = |a: (f64, usize, f64), b: (f64, usize, f64)| {
            let is_first = a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)).is_ge();
            let (error, row) = if is_first { (a.0, a.1) } else { (b.0, b.1) };
            (error, row, a.2.max(b.2))
        };
        let worst = match y.len() {
            0..PARALLEL_FROM => (0..y.len()).map(ratios).reduce(worse),
            _ => (0..y.len()).into_par_iter().with_min_len(4096).map(ratios).reduce_with(worse),
        };
        Verdict {
            error_ratio: worst.map_or(0.0, |worst| worst.0),
            likely_ratio: worst.map_or(0.0, |worst| worst.2),
            worst: worst.map(|(_, row, _)| (row, y[row].widen(), self.rows[row].exact.high)),
        }
    }
}

/// Returns the old y of a row, or zero if β = 0.
fn old<T: Scalar>(beta: T, y0: &[T], row: usize) -> f64 {
    if beta == T::zero() { 0.0 } else { y0[row].widen() }
}

impl RowSum {
    /// Adds up row `row`, or the part of it that `csr` contains.
    pub fn of<T: Scalar>(csr: &Csr<T>, row: usize, x: &[T]) -> Self {
        let range = csr.row(row);
        let entry = |sum: Self, k: usize| sum.with_entry(csr.values[k], x[csr.column_indices[k] as usize]);
        range.fold(Self::default(), entry)
    }

    /// Adds up the columns of a matrix, each multiplied by the x of its row.
    pub fn of_columns<T: Scalar>(csr: &Csr<T>, x: &[T]) -> Vec<Self> {
        let mut sums = vec![Self::default(); csr.cols];
        for (row, &x) in x.iter().enumerate() {
            for k in csr.row(row) {
                let sum = &mut sums[csr.column_indices[k] as usize];
                *sum = sum.with_entry(csr.values[k], x);
            }
        }
        sums
    }

    fn with_entry<T: Scalar>(self, value: T, x: T) -> Self {
        self.with_product(value.widen(), x.widen())
    }

    fn with_product(self, value: f64, x: f64) -> Self {
        let sum = self.sum.add_product(value, x);
        Self {
            sum,
            magnitude: self.magnitude + (value * x).abs(),
            partial: self.partial.max(sum.high.abs()),
            squares: self.squares + (value * x).powi(2),
            entries: self.entries + 1.0,
        }
    }

    /// Returns these sums after a change of the element of x that the entry `value` is multiplied by: the sum then
    /// contains the difference, and the magnitude that of the new product.
    pub fn changed<T: Scalar>(self, value: T, [from, to]: [T; 2]) -> Self {
        let (value, from, to) = (value.widen(), from.widen(), to.widen());
        let sum = self.sum.add_product(value, to).add_product(-value, from);
        let change = (value * to).abs();
        let partial = self.partial + change + (value * from).abs();
        Self { sum, magnitude: self.magnitude + change, partial, ..self }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            sum: self.sum.plus(other.sum),
            magnitude: self.magnitude + other.magnitude,
            partial: self.partial.max(self.sum.high.abs() + other.partial),
            squares: self.squares + other.squares,
            entries: self.entries + other.entries,
        }
    }

    /// Converts the sums to plain numbers, for messages between processes.
    pub fn to_parts(self) -> [f64; 6] {
        let Self { sum, magnitude, partial, squares, entries } = self;
        [sum.high, sum.low, magnitude, partial, squares, entries]
    }

    pub fn from_parts([high, low, magnitude, partial, squares, entries]: [f64; 6]) -> Self {
        Self { sum: DoubleDouble { high, low }, magnitude, partial, squares, entries }
    }

    fn row<T: Scalar>(self, alpha: T, beta: T, old: f64) -> ReferenceRow {
        let (alpha, beta) = (alpha.widen(), beta.widen());
        // A method may scale the sum at the end, so that the sum itself must not overflow, however small α is. The
        // other half of the range is for changes of x.
        let scaled = match self.magnitude <= T::max_value().widen() / 2.0 {
            true => alpha.abs() * self.magnitude,
            false => f64::INFINITY,
        };
        let underflow = T::min_positive_value().widen() * alpha.abs().max(1.0);
        let roundings = self.entries + 2.0;
        let of = |size: f64| T::UNIT_ROUNDOFF * (size + (beta * old).abs());
        let usual = alpha.abs() * self.partial.max(self.squares.sqrt());
        let bounds = [roundings * (of(scaled) + underflow), roundings.sqrt() * of(usual) + roundings * underflow];
        ReferenceRow::new(self.sum.scaled_plus(alpha, beta, old), bounds, self.entries as u32)
    }
}

impl ReferenceRow {
    /// Creates a row of the exact sum, the bound and the likely bound, and the number of entries.
    fn new(exact: DoubleDouble, [bound, likely]: [f64; 2], entries: u32) -> Self {
        Self { exact, bound, likely_share: (likely / bound) as f32, entries }
    }

    /// Returns the bound and the likely bound.
    fn bounds(&self) -> [f64; 2] {
        [self.bound, self.bound * f64::from(self.likely_share)]
    }

    /// Returns the row after changes of x, whose effects [`RowSum::changed`] has added up. The bound covers both the
    /// old and the new elements, so it may be wider than that of a newly computed reference.
    pub fn changed<T: Scalar>(self, alpha: T, change: RowSum) -> Self {
        let change = RowSum { entries: self.entries.into(), ..change }.row(alpha, T::zero(), 0.0);
        let [[bound, likely], [more, likely_more]] = [self.bounds(), change.bounds()];
        Self::new(self.exact.plus(change.exact), [bound + more, likely + likely_more], self.entries)
    }

    /// Returns the error divided by the bound and by the likely bound.
    fn ratios(&self, y: f64) -> [f64; 2] {
        let error = ((y - self.exact.high) - self.exact.low).abs();
        self.bounds().map(|bound| if error.is_nan() { f64::INFINITY } else { error / bound })
    }
}

impl Verdict {
    pub fn passes(&self) -> bool {
        self.error_ratio <= BOUND_FACTOR
    }

    pub fn describe(&self) -> String {
        let Some((row, got, expected)) = self.worst else { return "no rows".into() };
        let what = format!("row {row} is {got:e}, expected {expected:e}");
        match got.is_nan() {
            true => format!("{what}: it was not written, or the old y, which holds NaN where beta is 0, was read"),
            false => format!("{what} (error {:.3e} times its bound)", self.error_ratio),
        }
    }
}

#[cfg(test)]
mod tests;
