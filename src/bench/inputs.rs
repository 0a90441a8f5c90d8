//! The inputs of products, and the reference that results are verified against.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use spmv_matrix::Csr;
use spmv_matrix::order::Permutation;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::stats::about_distinct;
use spmv_matrix::verify::{Reference, RowSum};
use spmv_results::settings::{CHAIN, Fill, Settings, Values};

pub struct Inputs<T> {
    pub alpha: T,
    pub beta: T,
    pub x: Vec<T>,
    /// The values that the reference assumes for y before the product. With β = 0 they are NaN and not read.
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

/// Returns α, β, x of `inputs` values and y0 of `outputs` values.
pub fn vectors<T: Scalar>(
    settings: &Settings,
    outputs: usize,
    inputs: usize,
) -> (T, T, Vec<T>, Vec<T>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    let x = match settings.x {
        Fill::Random => uniform(inputs, &mut random),
        Fill::Ones => vec![T::one(); inputs],
    };
    let (alpha, beta): (T, T) = settings.factors();
    let y0 =
        if beta == T::zero() { vec![T::nan(); outputs] } else { uniform(outputs, &mut random) };
    (alpha, beta, x, y0)
}

const VALUES_PER_GENERATOR: usize = 1 << 16;

/// Replaces the matrix's values as `settings` requests. The result does not depend on the number of threads.
pub fn replace_values(settings: &Settings, csr: &mut Csr<f64>) {
    fill_values(settings, csr);
    if settings.chain() > 1 {
        scale(csr);
    }
}

/// Divides the values of a square matrix by the power of two that is nearest to the growth of a vector in a product, so
/// that chains of products neither overflow nor vanish. This changes no digit of a value.
fn scale(csr: &mut Csr<f64>) {
    if csr.rows() != csr.cols() {
        return;
    }
    let mut x = uniform::<f64>(csr.rows(), &mut Xoshiro256PlusPlus::seed_from_u64(1));
    let mut growth = 1.0;
    for _ in 0..CHAIN {
        let row = |row| {
            csr.row(row).map(|k| csr.values()[k] * x[csr.column_indices()[k] as usize]).sum::<f64>()
        };
        let y: Vec<f64> = (0..csr.rows()).into_par_iter().map(row).collect();
        // The largest element of x is 1, after the first product.
        growth = y.iter().fold(0.0, |largest: f64, y| largest.max(y.abs()));
        x = y.iter().map(|y| y / growth).collect();
    }
    if growth.is_normal() {
        let factor = growth.log2().round().clamp(-1000.0, 1000.0).exp2().recip();
        csr.values_mut().par_iter_mut().for_each(|value| *value *= factor);
    }
}

fn fill_values(settings: &Settings, csr: &mut Csr<f64>) {
    match settings.values {
        Values::Stored => (),
        Values::Ones => csr.values_mut().fill(1.0),
        Values::Random => {
            csr.values_mut().par_chunks_mut(VALUES_PER_GENERATOR).enumerate().for_each(
                |(number, values)| {
                    // A different seed than that of x.
                    let seed = (!settings.seed).wrapping_add(number as u64);
                    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                    values.fill_with(|| random.random_range(-1.0..1.0));
                },
            )
        }
    }
}

impl<T: Scalar> Inputs<T> {
    pub fn new(settings: &Settings, csr: &Csr<T>) -> Self {
        let (outputs, inputs) = match settings.transpose {
            false => (csr.rows(), csr.cols()),
            true => (csr.cols(), csr.rows()),
        };
        let (alpha, beta, x, y0) = vectors(settings, outputs, inputs);
        let reference = Reference::default();
        let distinct_values = about_distinct(csr.values());
        let mut all = Self { alpha, beta, x, y0, reference, chain: None, distinct_values };
        all.reference = all.expected(csr, settings.transpose, &all.x);
        if settings.chain() > 1 && csr.rows() == csr.cols() {
            let last = (2..settings.chain())
                .fold(all.reference.next(csr, alpha), |it, _| it.next(csr, alpha));
            all.chain = Some(last);
        }
        all
    }

    /// Returns the reference of the product of a matrix with another x.
    pub fn expected(&self, csr: &Csr<T>, transpose: bool, x: &[T]) -> Reference {
        match transpose {
            false => Reference::new(csr, self.alpha, x, self.beta, &self.y0),
            true => {
                Reference::of_sums(&RowSum::of_columns(csr, x), self.alpha, self.beta, &self.y0)
            }
        }
    }

    pub fn permuted(self, permutation: &Permutation) -> Self {
        Self {
            x: permutation.apply(&self.x),
            y0: permutation.apply(&self.y0),
            reference: self.reference.permuted(permutation),
            chain: self.chain.map(|chain| chain.permuted(permutation)),
            ..self
        }
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
        let (_, _, x, _) = vectors::<f64>(&settings, 0, VALUES_PER_GENERATOR);
        assert!(x.iter().zip(&random).all(|(x, value)| x != value), "not the numbers of x");
    }
}
