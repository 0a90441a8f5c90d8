//! Chains of products, of which each multiplies the result of the one before, as in solvers. Here is what follows from
//! them for the matrix, the reference and the methods; [`Calls`](super::calls::Calls) calls the products.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::verify::Reference;
use spmv_methods::method::{Choice, Unavailable};
use spmv_results::settings::{CHAIN, Settings};

/// Returns the number of elements of the second y that chains need; 0 without chains.
pub fn second_y(settings: &Settings, outputs: usize) -> usize {
    if settings.chain() > 1 { outputs } else { 0 }
}

/// Returns an error if products of this matrix should form chains, but cannot.
pub fn check_matrix<T>(settings: &Settings, csr: &Csr<T>) -> Result<(), Unavailable> {
    let (rows, cols) = (csr.rows(), csr.cols());
    if settings.chain() == 1 || rows == cols {
        return Ok(());
    }
    Err(Unavailable(format!(
        "x can be y of the product before only for a square matrix, but this one is {rows} x {cols}"
    )))
}

/// Returns an error if products of this method should form chains, but cannot.
pub fn check_method(settings: &Settings, choice: &Choice, is_modelled: bool) -> Result<(), Unavailable> {
    let what = if choice.is_graph() {
        "a CUDA graph"
    } else if is_modelled {
        "the model"
    } else {
        return Ok(());
    };
    if settings.chain() == 1 {
        return Ok(());
    }
    Err(Unavailable(format!("{what} has no products that multiply each other's results")))
}

/// Returns the expected y after a chain, whose first product has this reference; `None` without chains.
pub fn reference<T: Scalar>(settings: &Settings, csr: &Csr<T>, alpha: T, first: &Reference) -> Option<Reference> {
    if settings.chain() == 1 || csr.rows() != csr.cols() {
        return None;
    }
    let second = first.next(csr, alpha);
    Some((2..settings.chain()).fold(second, |reference, _| reference.next(csr, alpha)))
}

/// Divides the values of a square matrix by the power of two that is nearest to the growth of a vector in a product, so
/// that chains of products neither overflow nor vanish. This changes no digit of a value.
pub fn scale(csr: &mut Csr<f64>) {
    if csr.rows() != csr.cols() {
        return;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut x: Vec<f64> = (0..csr.rows()).map(|_| random.random_range(-1.0..1.0)).collect();
    let mut growth = 1.0;
    for _ in 0..CHAIN {
        let row = |row| csr.row(row).map(|k| csr.values()[k] * x[csr.column_indices()[k] as usize]).sum::<f64>();
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
