//! Sequential CSR: merge-spmv-sc16, Algorithm 1.
//!
//! One thread multiplies row by row, with one accumulator of the value type and one store per row, and adds
//! the nonzeros in the order of the file. Transposed: y is scaled by β, then the products of each row are
//! added to the y of their columns.
//!
//! Memory: none beyond CSR. Departure: the transposed product.

use super::prelude::*;
use super::rows::scale;

pub const METHOD: Method = Method {
    name: "seq",
    source: "merge-spmv-sc16, Algorithm 1",
    summary: "one thread, row by row, scalar; the same order of additions as the reference",
    operations: Operations::Both,
    ..Method::new(Code::Cpu { parallel: false, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    if request.transpose {
        return Ok(multiplying(csr, 0, move |Operands { alpha, x, beta }, y| {
            scale(beta, y);
            scatter(csr, alpha, x, y);
        })
        .transposing(true));
    }
    Ok(multiplying(csr, 0, move |operands, y| {
        for (row, y) in y.iter_mut().enumerate() {
            let mut sum = T::zero();
            for k in csr.row(row) {
                sum += csr.values()[k] * operands.x[csr.column_indices()[k] as usize];
            }
            operands.store(sum, y);
        }
    }))
}

/// Computes y += αAᵀx, row by row.
fn scatter<T: Scalar>(csr: &Csr<T>, alpha: T, x: &[T], y: &mut [T]) {
    for (row, &x) in x.iter().enumerate() {
        for k in csr.row(row) {
            y[csr.column_indices()[k] as usize] += csr.values()[k] * (alpha * x);
        }
    }
}
