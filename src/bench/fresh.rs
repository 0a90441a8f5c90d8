//! Gives a method an x that it has never seen.
//!
//! A library that remembers its results, or that adds only what a few changed elements of x contribute, would be timed
//! while it computes little. Nothing that it remembers helps with an x of which every element is new.

use super::inputs::Inputs;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::verify::Reference;

/// A new x with the reference of its product.
pub struct Fresh<T> {
    x: Vec<T>,
    reference: Reference,
    /// The number of this x among all new ones of the measurement, from 1.
    pub number: usize,
    pub is_applied: bool,
}

impl<T: Scalar> Fresh<T> {
    pub fn new(x: Vec<T>, reference: Reference, number: usize) -> Self {
        Self { x, reference, number, is_applied: false }
    }

    /// Swaps x and the reference with those of `inputs`. The next call restores them.
    pub fn exchange(&mut self, inputs: &mut Inputs<T>) {
        std::mem::swap(&mut self.x, &mut inputs.x);
        std::mem::swap(&mut self.reference, &mut inputs.reference);
        self.is_applied = !self.is_applied;
    }
}
