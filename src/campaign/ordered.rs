//! `--order`: reorders a matrix before any method runs.

use std::borrow::Cow;

use crate::bench::clock::Clock;
use crate::bench::execute::{Bench, Trial};
use crate::record::Reordering;
use spmv_matrix::Csr;
use spmv_matrix::order::{Order, Permutation, bandwidth};
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Unavailable;

/// A matrix in its natural order, and in the requested order if that is different.
pub struct Ordered<'m> {
    natural: &'m Csr<f64>,
    other: Option<(Csr<f64>, Permutation)>,
    /// The time of the reordering and its effect on the bandwidth of the matrix.
    pub cost: Option<Reordering>,
}

/// An [`Ordered`] matrix in one precision.
pub struct InPrecision<'m, T: Scalar> {
    natural: Cow<'m, Csr<T>>,
    other: Option<(Cow<'m, Csr<T>>, &'m Permutation)>,
}

impl<'m> Ordered<'m> {
    /// Reorders the matrix, or returns the reason why that is not possible.
    pub fn new(
        natural: &'m Csr<f64>,
        order: Order,
        clock: &dyn Clock,
    ) -> Result<Self, Unavailable> {
        if order == Order::Natural {
            return Ok(Self { natural, other: None, cost: None });
        }
        let (rows, cols) = (natural.rows(), natural.cols());
        if rows != cols {
            let order = order.name();
            return Err(Unavailable(format!(
                "the order {order} needs a square matrix, but this one is {rows} x {cols}"
            )));
        }
        let start = clock.now();
        let permutation = order.permutation(natural);
        let other = permutation.map(|permutation| (natural.permuted(&permutation), permutation));
        let order_ms = 1e3 * (clock.now() - start).as_secs_f64();
        let cost = other.as_ref().map(|(csr, _)| {
            let bandwidth = [bandwidth(natural), bandwidth(csr)];
            Reordering { order_ms, bandwidth }
        });
        Ok(Self { natural, other, cost })
    }

    /// Returns the memory of the matrix in both orders, in bytes.
    pub fn bytes(&self) -> u64 {
        let other =
            self.other.as_ref().map_or(0, |(csr, order)| csr.bytes() + 8 * order.len() as u64);
        self.natural.bytes() + other
    }

    /// Converts the matrix into a precision. Returns an error with the value if a value is too large for it.
    pub fn to_precision<T: Scalar>(&self) -> Result<InPrecision<'_, T>, Unavailable> {
        let other = match &self.other {
            Some((csr, permutation)) => Some((narrowed(csr)?, permutation)),
            None => None,
        };
        Ok(InPrecision { natural: narrowed(self.natural)?, other })
    }
}

impl<T: Scalar> InPrecision<'_, T> {
    /// Returns the memory in bytes that this needs in addition to the matrix in f64.
    pub fn bytes(&self) -> u64 {
        let others = self.other.iter().map(|(csr, _)| csr);
        let copies = others.chain([&self.natural]).map(|csr| match csr {
            Cow::Borrowed(_) => 0,
            Cow::Owned(csr) => csr.bytes(),
        });
        copies.sum()
    }

    /// Creates the trial in which methods are measured, or returns the reason why nothing can be verified.
    pub fn trial<'a>(&'a self, bench: &'a Bench<'a>) -> Result<Trial<'a, T>, Unavailable> {
        let trial = match &self.other {
            Some((csr, permutation)) => Trial::reordered(bench, &self.natural, csr, permutation),
            None => Trial::new(bench, &self.natural),
        };
        match trial.overflow() {
            None => Ok(trial),
            Some(row) => Err(Unavailable(format!(
                "nothing can be verified: row {row} of alpha A x + beta y, or a part of its sum, may exceed the \
                 largest {}; smaller --alpha and --beta may help",
                T::PRECISION.name()
            ))),
        }
    }
}

/// Converts a matrix into a precision. Returns an error with the value if a value is too large for it.
pub fn narrowed<T: Scalar>(csr: &Csr<f64>) -> Result<Cow<'_, Csr<T>>, Unavailable> {
    let precision = T::PRECISION.name();
    csr.to_precision()
        .map_err(|value| Unavailable(format!("the value {value:e} is too large for {precision}")))
}
