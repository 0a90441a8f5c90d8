//! Changes x at a few random places between samples, and updates the reference to match.
//!
//! A library that caches its result for an x that it has seen before, or that computes only if its y has been
//! overwritten, would otherwise be timed while it does nothing. Therefore x changes between samples, at moments
//! that no method can predict. Only a few elements change: writing them takes a negligible time, the other
//! contents of the caches stay there, and only a few rows of the reference must be recomputed.

use std::collections::BTreeMap;

use bytemuck::pod_read_unaligned;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::inputs::Inputs;
use crate::matrix::Csr;
use crate::scalar::Scalar;
use crate::verify::ReferenceRow;

/// The maximum number of elements of x that change, and of elements of y that [`spoil_few`] overwrites.
const ELEMENTS: usize = 16;

/// An upper bound of Σ|new − old| over the changed elements of x: all values are in [-1, 1].
pub const MOST_CHANGE: f64 = 2.0 * ELEMENTS as f64;

/// Alternative values for a few elements of x, with the rows of the reference that depend on them.
#[derive(Default)]
pub struct Alteration<T> {
    elements: Vec<(usize, T)>,
    rows: Vec<(usize, ReferenceRow)>,
    /// Whether x contains the alternative values now.
    pub is_applied: bool,
}

impl<T: Scalar> Alteration<T> {
    /// Chooses random elements of x that some entry of the matrix is multiplied by, and new values for them in
    /// [-1, 1). The plain product needs one pass over the column indices.
    pub fn new(
        csr: &Csr<T>,
        transpose: bool,
        inputs: &Inputs<T>,
        random: &mut Xoshiro256PlusPlus,
    ) -> Self {
        if csr.nnz() == 0 {
            return Self { elements: Vec::new(), rows: Vec::new(), is_applied: false };
        }
        let mut element = || {
            let entry = random.random_range(0..csr.nnz());
            let index = match transpose {
                false => csr.column_indices[entry] as usize,
                true => csr.row_offsets.partition_point(|&begin| begin as usize <= entry) - 1,
            };
            (index, T::narrow(random.random_range(-1.0..1.0)))
        };
        let elements: BTreeMap<usize, T> = (0..ELEMENTS).map(|_| element()).collect();
        let rows = match transpose {
            false => rows_of_columns(csr, inputs, &elements),
            true => columns_of_rows(csr, inputs, &elements),
        };
        Self { elements: elements.into_iter().collect(), rows, is_applied: false }
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

/// Computes the altered reference of each row of A that has entries in the columns `elements`.
fn rows_of_columns<T: Scalar>(
    csr: &Csr<T>,
    inputs: &Inputs<T>,
    elements: &BTreeMap<usize, T>,
) -> Vec<(usize, ReferenceRow)> {
    let mut is_changed = vec![false; csr.cols];
    elements.keys().for_each(|&col| is_changed[col] = true);
    let row = |row: usize| {
        let entries = csr.row(row).map(|entry| (csr.column_indices[entry] as usize, entry));
        let mut changed = entries.filter(|&(col, _)| is_changed[col]).peekable();
        changed.peek()?;
        let mut new = inputs.reference.row(row);
        for (col, entry) in changed {
            new.change(inputs.alpha, csr.values[entry], [inputs.x[col], elements[&col]]);
        }
        Some((row, new))
    };
    (0..csr.rows).into_par_iter().with_min_len(1024).filter_map(row).collect()
}

/// Computes the altered reference of each column of A, a row of Aᵀ, that has entries in the rows `elements`.
fn columns_of_rows<T: Scalar>(
    csr: &Csr<T>,
    inputs: &Inputs<T>,
    elements: &BTreeMap<usize, T>,
) -> Vec<(usize, ReferenceRow)> {
    let mut columns = BTreeMap::new();
    for (&row, &to) in elements {
        for entry in csr.row(row) {
            let col = csr.column_indices[entry] as usize;
            let new = columns.entry(col).or_insert_with(|| inputs.reference.row(col));
            new.change(inputs.alpha, csr.values[entry], [inputs.x[row], to]);
        }
    }
    columns.into_iter().collect()
}

/// Overwrites a few random elements, so that a product that does not write them is found wrong.
pub fn spoil_few<T: Scalar>(y: &mut [T], random: &mut Xoshiro256PlusPlus) {
    for _ in 0..ELEMENTS.min(y.len()) {
        let index = random.random_range(0..y.len());
        y[index] = spoilt(random);
    }
}

/// Overwrites all elements with pseudo-random bits that depend only on `seed`.
pub fn spoil<T: Scalar>(y: &mut [T], seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    y.iter_mut().for_each(|value| *value = spoilt(&mut random));
}

/// Returns whether all elements are bitwise equal to what [`spoil`] writes for `seed`.
pub fn is_spoilt<T: Scalar>(y: &[T], seed: u64) -> bool {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let bits = bytemuck::bytes_of::<T>;
    y.iter().all(|value| bits(value) == bits(&spoilt(&mut random)))
}

/// Returns NaN or arbitrary bits, each with probability 1/2. A single fixed value would let a library detect that its
/// result is about to be verified.
fn spoilt<T: Scalar>(random: &mut Xoshiro256PlusPlus) -> T {
    let bits: u64 = random.random();
    match bits % 2 {
        0 => T::nan(),
        _ => pod_read_unaligned(&bits.to_ne_bytes()[..size_of::<T>()]),
    }
}
