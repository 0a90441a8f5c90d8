//! The reference of products that multiply the results of products before them.

use rayon::prelude::*;

use super::{Reference, ReferenceRow, RowSum};
use crate::Csr;
use crate::scalar::Scalar;

impl Reference {
    /// Returns the reference for y = αAx where x is a result that this reference accepts. The errors that x may have
    /// are multiplied by the magnitudes of the entries and added to the bounds.
    pub fn next<T: Scalar>(&self, csr: &Csr<T>, alpha: T) -> Self {
        let row = |row: usize| self.next_row(csr, alpha, row);
        Self { rows: (0..csr.rows).into_par_iter().with_min_len(1024).map(row).collect() }
    }

    fn next_row<T: Scalar>(&self, csr: &Csr<T>, alpha: T, row: usize) -> ReferenceRow {
        let (mut sum, mut bound, mut likely) = (RowSum::default(), 0.0, 0.0);
        for k in csr.row(row) {
            let (value, x) = (csr.values[k].widen(), &self.rows[csr.column_indices[k] as usize]);
            sum = sum.with_product(value, x.exact.high);
            sum.sum = sum.sum.add_product(value, x.exact.low);
            let of_x = x.bounds();
            bound += value.abs() * of_x[0];
            likely += value.abs() * of_x[1];
        }
        let own = sum.row(alpha, T::zero(), 0.0);
        let factor = alpha.widen().abs();
        let [of_own, likely_of_own] = own.bounds();
        ReferenceRow::new(own.exact, [of_own + factor * bound, likely_of_own + factor * likely], own.entries)
    }
}
