//! What products are computed from, and what they must yield.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::plan::{Fill, Settings};
use crate::matrix::Csr;
use crate::matrix::order::Permutation;
use crate::scalar::Scalar;
use crate::verify::Reference;

/// What products are given, and what they must yield.
pub struct Inputs<T> {
    /// Factor of the product.
    pub alpha: T,
    /// Factor of the old y.
    pub beta: T,
    /// The vector that is multiplied.
    pub x: Vec<T>,
    /// What y holds before a verified product: with β = 0, NaN, so that a row that is never written
    /// shows.
    pub y0: Vec<T>,
    /// What a product from `y0` must leave.
    pub reference: Reference,
}

/// x of `inputs` values and y0 of `outputs`, with α and β.
pub fn vectors<T: Scalar>(
    settings: &Settings,
    outputs: usize,
    inputs: usize,
) -> (T, T, Vec<T>, Vec<T>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    let mut uniform = |len: usize| -> Vec<T> {
        (0..len).map(|_| T::narrow(random.random_range(-1.0..1.0))).collect()
    };
    let x = match settings.x {
        Fill::Random => uniform(inputs),
        Fill::Ones => vec![T::one(); inputs],
    };
    let (alpha, beta) = (T::narrow(settings.alpha), T::narrow(settings.beta));
    let y0 = if beta == T::zero() { vec![T::nan(); outputs] } else { uniform(outputs) };
    (alpha, beta, x, y0)
}

impl<T: Scalar> Inputs<T> {
    /// For one matrix.
    pub fn new(settings: &Settings, csr: &Csr<T>) -> Self {
        let (outputs, inputs) = match settings.transpose {
            false => (csr.rows, csr.cols),
            true => (csr.cols, csr.rows),
        };
        let (alpha, beta, x, y0) = vectors(settings, outputs, inputs);
        let reference = match settings.transpose {
            false => Reference::new(csr, alpha, &x, beta, &y0),
            true => Reference::new(&csr.transposed(), alpha, &x, beta, &y0),
        };
        Self { alpha, beta, x, y0, reference }
    }

    /// The same vectors and the same results for the matrix in another order.
    pub fn permuted(self, permutation: &Permutation) -> Self {
        Self {
            x: permutation.apply(&self.x),
            y0: permutation.apply(&self.y0),
            reference: self.reference.permuted(permutation),
            ..self
        }
    }
}
