//! The inputs of products, and the reference that results are verified against.

use std::borrow::Cow;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::calls::Calls;
use super::chains;
use spmv_matrix::Csr;
use spmv_matrix::order::Permutation;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::stats::about_distinct;
use spmv_matrix::verify::{Reference, RowSum};
use spmv_results::settings::{Fill, Settings, Values};

pub struct Inputs<T> {
    pub alpha: T,
    pub beta: T,
    /// Whether the product is that of the transpose.
    pub transpose: bool,
    pub x: Vec<T>,
    /// The values that the reference assumes for y before the product. Empty with β = 0.
    pub y0: Vec<T>,
    /// The expected y after a product that started from `y0`, with its error bounds.
    pub reference: Reference,
    /// The expected y after a chain of products, if they form chains; with the usual x only.
    pub chain: Option<Reference>,
    /// About how many different values the matrix has.
    pub distinct_values: f64,
}

/// Returns random elements of a vector of this length, in [-1, 1).
pub fn uniform<T: Scalar>(len: usize, random: &mut Xoshiro256PlusPlus) -> Vec<T> {
    (0..len).map(|_| T::narrow(random.random_range(-1.0..1.0))).collect()
}

const VALUES_PER_GENERATOR: usize = 1 << 16;

/// Replaces the matrix's values as `settings` requests. The result does not depend on the number of threads.
pub fn replace_values(settings: &Settings, csr: &mut Csr<f64>) {
    fill_values(settings, csr);
    if settings.chain() > 1 {
        chains::scale(csr);
    }
}

/// Returns a matrix with the values that `settings` requests, a copy only if they are others.
pub fn with_values<'c>(settings: &Settings, csr: &'c Csr<f64>) -> Cow<'c, Csr<f64>> {
    let mut csr = Cow::Borrowed(csr);
    if settings.values != Values::Stored || settings.chain() > 1 {
        replace_values(settings, csr.to_mut());
    }
    csr
}

fn fill_values(settings: &Settings, csr: &mut Csr<f64>) {
    match settings.values {
        Values::Stored => (),
        Values::Ones => csr.values_mut().fill(1.0),
        Values::Random => {
            csr.values_mut().par_chunks_mut(VALUES_PER_GENERATOR).enumerate().for_each(|(number, values)| {
                // A different seed than that of x.
                let seed = (!settings.seed).wrapping_add(number as u64);
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                values.fill_with(|| random.random_range(-1.0..1.0));
            })
        }
    }
}

impl<T: Scalar> Inputs<T> {
    pub fn new(settings: &Settings, csr: &Csr<T>) -> Self {
        let (outputs, inputs) = if settings.transpose { (csr.cols(), csr.rows()) } else { (csr.rows(), csr.cols()) };
        let mut all = Self::without_reference(settings, outputs, inputs);
        all.reference = all.expected(csr, &all.x);
        all.chain = chains::reference(settings, csr, all.alpha, &all.reference);
        all.distinct_values = about_distinct(csr.values());
        all
    }

    /// Returns the factors, x of `inputs` values and y0 of `outputs` values.
    pub fn without_reference(settings: &Settings, outputs: usize, inputs: usize) -> Self {
        let (alpha, beta): (T, T) = settings.factors();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        let x = match settings.x {
            Fill::Random => uniform(inputs, &mut random),
            Fill::Ones => vec![T::one(); inputs],
        };
        let y0 = if beta == T::zero() { Vec::new() } else { uniform(outputs, &mut random) };
        Self {
            alpha,
            beta,
            transpose: settings.transpose,
            x,
            y0,
            reference: Reference::default(),
            chain: None,
            distinct_values: 0.0,
        }
    }

    /// Returns the reference of the product of a matrix with another x.
    fn expected(&self, csr: &Csr<T>, x: &[T]) -> Reference {
        if self.transpose {
            Reference::of_sums(&RowSum::of_columns(csr, x), self.alpha, self.beta, &self.y0)
        } else {
            Reference::new(csr, self.alpha, x, self.beta, &self.y0)
        }
    }

    /// Returns a new x with the reference of its product.
    pub fn renewed(&self, csr: &Csr<T>, random: &mut Xoshiro256PlusPlus) -> (Vec<T>, Reference) {
        let x = uniform(self.x.len(), random);
        let reference = self.expected(csr, &x);
        (x, reference)
    }

    /// Returns the reference of the y that these calls leave.
    pub fn expected_after(&self, calls: Calls) -> &Reference {
        self.chain.as_ref().filter(|_| calls.are_chained()).unwrap_or(&self.reference)
    }

    pub fn permuted(self, permutation: &Permutation) -> Self {
        Self {
            x: permutation.apply(&self.x),
            y0: if self.y0.is_empty() { self.y0 } else { permutation.apply(&self.y0) },
            reference: self.reference.permuted(permutation),
            chain: self.chain.map(|chain| chain.permuted(permutation)),
            ..self
        }
    }
}

/// An x of which every element is new to a method, with the reference of its product. A library that remembers its
/// results, or that adds only what a few changed elements of x contribute, would be timed while it computes little.
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

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_matrix::stats::distinct_values;
    use spmv_results::settings::Protocol;

    fn with(values: Values, threads: usize) -> Vec<f64> {
        let triplets: Vec<_> = (0..2 * VALUES_PER_GENERATOR).map(|row| (row, 0, 3.0)).collect();
        let mut csr = Csr::from_triplets(2 * VALUES_PER_GENERATOR, 1, &triplets);
        let settings = Settings { values, ..Settings::new(Protocol::MergeSpmv) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| replace_values(&settings, &mut csr));
        csr.into_arrays().2
    }

    #[test]
    fn values_are_scaled_by_a_power_of_two_for_chains_of_products() {
        for (entries, factor) in [
            (&[(0, 0, 3e5), (1, 1, -1.0)][..], 2f64.powi(-18)),
            (&[(0, 1, 3e-300), (1, 0, 3e-300)], 2f64.powi(995)),
            (&[(0, 1, 7.0)], 1.0),
            (&[], 1.0),
        ] {
            let csr = Csr::<f64>::from_triplets(2, 2, entries);
            let mut scaled = csr.clone();
            replace_values(&Settings::new(Protocol::Power), &mut scaled);
            let expected: Vec<f64> = csr.values().iter().map(|value| value * factor).collect();
            assert_eq!(scaled.values(), expected);
        }
    }

    #[test]
    fn values_are_replaced_as_requested_with_any_number_of_threads() {
        assert!(with(Values::Stored, 1).iter().all(|&value| value == 3.0));
        assert!(with(Values::Ones, 1).iter().all(|&value| value == 1.0));
        let random = with(Values::Random, 1);
        assert_eq!(random, with(Values::Random, 3));
        assert!(random.iter().all(|value| (-1.0..1.0).contains(value)));
        assert_eq!(distinct_values(&random), None, "no part is drawn twice");
        let settings = Settings::new(Protocol::MergeSpmv);
        let own = Inputs::<f64>::without_reference(&settings, 0, VALUES_PER_GENERATOR);
        assert!(own.x.iter().zip(&random).all(|(x, value)| x != value), "not the numbers of x");
    }
}
