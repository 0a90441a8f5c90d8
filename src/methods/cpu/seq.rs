//! Sequential CSR: merge-spmv-sc16, Algorithm 1. One thread, one accumulator of the value type, one
//! store per row, in the order of the file. No memory beyond CSR. Departure: α and β.

use super::rows::Operands;
use crate::matrix::Csr;
use crate::method::{Code, Method, Prepared, Request, Unavailable};
use crate::scalar::Scalar;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "seq",
    source: "merge-spmv-sc16, Algorithm 1",
    summary: "one thread, row by row, scalar; the order of the reference",
    parameters: &[],
    code: Code::Cpu { parallel: false, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar>(
    csr: &'a Csr<T>,
    _: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    Ok(Prepared::new(csr, 0, move |alpha, x, beta, y| {
        let operands = Operands { alpha, x, beta };
        for (row, y) in y.iter_mut().enumerate() {
            let mut sum = T::zero();
            for k in csr.row(row) {
                sum += csr.values[k] * x[csr.column_indices[k] as usize];
            }
            operands.store(sum, y);
        }
        Ok(())
    }))
}
