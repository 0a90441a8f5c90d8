//! Changes x at a few random places between samples, and updates the reference to match.
//!
//! A library that caches its result for an x that it has seen before, or that computes only if its y has been
//! overwritten, would otherwise be timed while it does nothing. Therefore x changes between samples, at moments
//! that no method can predict. Only a few elements change: writing them takes a negligible time, the other
//! contents of the caches stay there, and only a few rows of the reference must be recomputed.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::inputs::Inputs;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::verify::{ReferenceRow, RowSum};

/// The maximum number of elements of x that change.
const ELEMENTS: usize = 16;

/// An upper bound of Σ|new − old| over the changed elements of x: all values are in [-1, 1].
pub const MOST_CHANGE: f64 = 2.0 * ELEMENTS as f64;

/// Alternative values for a few elements of x, with the rows of the reference that depend on them.
#[derive(Default)]
pub struct Alteration<T> {
    elements: Vec<(usize, T)>,
    rows: Vec<(usize, ReferenceRow)>,
    pub is_applied: bool,
}

/// Elements of x by their indices, each with its old and its new value.
pub type Elements<T> = BTreeMap<usize, [T; 2]>;

/// Returns the row of an entry.
pub fn row_of<T>(csr: &Csr<T>, entry: usize) -> usize {
    csr.row_offsets().partition_point(|&begin| begin as usize <= entry) - 1
}

/// Chooses random elements of `x` that some of the `nnz` entries of the matrix is multiplied by, and new values for
/// them in [-1, 1). `index_of` returns the element that an entry is multiplied by.
pub fn choose<T: Scalar>(
    nnz: usize,
    index_of: impl Fn(usize) -> usize,
    x: &[T],
    random: &mut Xoshiro256PlusPlus,
) -> Elements<T> {
    let mut element = || {
        let index = index_of(random.random_range(0..nnz));
        (index, [x[index], T::narrow(random.random_range(-1.0..1.0))])
    };
    (0..ELEMENTS.min(nnz)).map(|_| element()).collect()
}

impl<T: Scalar> Alteration<T> {
    /// Chooses elements and new values for them. The plain product needs one pass over the column indices.
    pub fn new(csr: &Csr<T>, inputs: &Inputs<T>, random: &mut Xoshiro256PlusPlus) -> Self {
        if inputs.transpose {
            let elements = choose(csr.nnz(), |entry| row_of(csr, entry), &inputs.x, random);
            let changes = changes_of_columns(csr, &elements);
            return Self::of(inputs, &elements, changes.into_par_iter());
        }
        let column_of = |entry: usize| csr.column_indices()[entry] as usize;
        let elements = choose(csr.nnz(), column_of, &inputs.x, random);
        Self::of(inputs, &elements, changes_of_rows(csr, &elements))
    }

    /// Creates the alteration of `elements`, which has the effects `changes` on the rows of the result.
    pub fn of(
        inputs: &Inputs<T>,
        elements: &Elements<T>,
        changes: impl ParallelIterator<Item = (usize, RowSum)>,
    ) -> Self {
        let row = |(row, change)| (row, inputs.reference.row(row).changed(inputs.alpha, change));
        let elements = elements.iter().map(|(&index, &[_, new])| (index, new)).collect();
        Self { elements, rows: changes.map(row).collect(), is_applied: false }
    }

    /// Swaps the chosen elements of x and the rows of the reference with their alternatives. The next call restores
    /// them. Returns the indices of the elements of x that changed.
    pub fn toggle(&mut self, inputs: &mut Inputs<T>) -> Vec<usize> {
        for (index, other) in &mut self.elements {
            std::mem::swap(&mut inputs.x[*index], other);
        }
        inputs.reference.exchange(&mut self.rows);
        self.is_applied = !self.is_applied;
        self.elements.iter().map(|&(index, _)| index).collect()
    }
}

/// Returns the rows of A that have entries in the columns `elements`, with the effect of the change on each.
pub fn changes_of_rows<T: Scalar>(
    csr: &Csr<T>,
    elements: &Elements<T>,
) -> impl ParallelIterator<Item = (usize, RowSum)> {
    let mut is_changed = vec![false; csr.cols()];
    elements.keys().for_each(|&col| is_changed[col] = true);
    let row = move |row: usize| {
        let entries = csr.row(row).map(|entry| (csr.column_indices()[entry] as usize, entry));
        let mut changed = entries.filter(|&(col, _)| is_changed[col]).peekable();
        changed.peek()?;
        let change = |sum: RowSum, (col, entry)| sum.changed(csr.values()[entry], elements[&col]);
        Some((row, changed.fold(RowSum::default(), change)))
    };
    (0..csr.rows()).into_par_iter().with_min_len(1024).filter_map(row)
}

/// Returns the rows of Aᵀ that have entries in the columns `elements`, with the effect of the change on each.
fn changes_of_columns<T: Scalar>(csr: &Csr<T>, elements: &Elements<T>) -> BTreeMap<usize, RowSum> {
    let mut columns = BTreeMap::<_, RowSum>::new();
    for (&row, &values) in elements {
        for entry in csr.row(row) {
            let change = columns.entry(csr.column_indices()[entry] as usize).or_default();
            *change = change.changed(csr.values()[entry], values);
        }
    }
    columns
}
