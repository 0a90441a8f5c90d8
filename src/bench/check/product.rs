//! Products of a method of a plug-in, verified in every respect.

use serde::{Deserialize, Serialize};

use super::small::vector;
use crate::bench::guarded::Guarded;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::verify::Reference;
use spmv_methods::device::{Failed, Unavailable, Unprepared};
use spmv_methods::method::Request;
use spmv_methods::plugin::{Entry, Running, Threads};
use spmv_methods::team::Team;

/// What has passed a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    pub products: usize,
    /// The number of matrices, or of combinations of settings, that the method did not take.
    pub refused: usize,
    /// The reason for the first of these.
    pub refusal: Option<String>,
}

#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub team: &'a Team,
    pub transpose: bool,
    pub factors: (f64, f64),
    pub given: &'a [(&'static str, &'static str)],
}

impl<'a> Asked<'a> {
    /// Returns y ← Ax on these threads, without parameters.
    pub fn plain(team: &'a Team) -> Self {
        Self { team, transpose: false, factors: (1.0, 0.0), given: &[] }
    }
}

pub struct Case<'c, T> {
    entry: &'static Entry,
    csr: &'c Csr<T>,
    /// The matrix that y is computed with: A, or Aᵀ.
    operator: Csr<T>,
    asked: Asked<'c>,
    /// A copy of the matrix, which must not change.
    before: Csr<T>,
}

impl<'c, T: Scalar> Case<'c, T> {
    pub fn new(entry: &'static Entry, csr: &'c Csr<T>, asked: Asked<'c>) -> Self {
        let operator = if asked.transpose { csr.transposed() } else { csr.clone() };
        Self { entry, csr, operator, asked, before: csr.clone() }
    }

    /// Prepares the method; `None` if it does not take the matrix, which is counted.
    pub fn prepare(&self, passed: &mut Passed) -> Result<Option<Running<'c>>, String> {
        let Asked { team, transpose, factors: (alpha, beta), given } = self.asked;
        let expected_products = 10;
        let request = Request { transpose, alpha, beta, expected_products, given, ..Request::new(team) };
        let threads = Threads::now(team);
        let prepared = self.entry.prepare(self.csr, &request);
        threads.check().map_err(|Failed(reason)| reason)?;
        match prepared {
            Ok(running) => Ok(Some(running)),
            Err(Unprepared::Unavailable(Unavailable(reason))) => {
                passed.refused += 1;
                passed.refusal.get_or_insert(reason);
                Ok(None)
            }
            Err(Unprepared::Failed(Failed(reason))) => Err(reason),
        }
    }

    /// Multiplies by a vector that `phase` determines, `shift` elements from an aligned address. Returns y.
    pub fn multiply(&self, running: &Running, phase: f64, shift: usize) -> Result<Vec<T>, String> {
        self.multiply_by(running, &vector(self.operator.cols(), phase), shift)
    }

    /// Multiplies by `x`, and checks everything but the values of y.
    pub fn multiply_by(&self, running: &Running, x: &[T], shift: usize) -> Result<Vec<T>, String> {
        let (alpha, beta) = self.factors();
        let kept = Guarded::shifted(x, shift);
        let mut y = Guarded::shifted(&self.y0(), shift);
        let threads = Threads::now(self.asked.team);
        let done = running.multiply(alpha, &kept, beta, &mut y);
        threads.check().and(done).map_err(|Failed(reason)| reason)?;
        let bytes = bytemuck::cast_slice::<T, u8>;
        let is_same = bytes(self.before.values()) == bytes(self.csr.values())
            && self.before.column_indices() == self.csr.column_indices()
            && self.before.row_offsets() == self.csr.row_offsets();
        if !y.is_intact() {
            return Err("it has changed the memory before or after y".into());
        }
        if !kept.is_intact() || bytes(&kept) != bytes(x) {
            return Err("it has changed x".into());
        }
        if !is_same {
            return Err("it has changed the matrix".into());
        }
        Ok(y.to_vec())
    }

    /// Multiplies and verifies y. Returns the error as a share of the error bound.
    pub fn verify(&self, running: &Running, phase: f64, shift: usize) -> Result<f64, String> {
        let y = self.multiply(running, phase, shift)?;
        let (alpha, beta) = self.factors();
        let x: Vec<T> = vector(self.operator.cols(), phase);
        let verdict = Reference::new(&self.operator, alpha, &x, beta, &self.y0()).judge(&y);
        if verdict.passes() { Ok(verdict.error_ratio) } else { Err(verdict.describe()) }
    }

    /// Prepares, multiplies twice by different vectors in different places, verifies both, and destroys.
    pub fn run(&self, passed: &mut Passed) -> Result<(), String> {
        let Some(running) = self.prepare(passed)? else { return Ok(()) };
        for (phase, shift) in [(0.3, 0), (1.7, 1)] {
            self.verify(&running, phase, shift)?;
            passed.products += 1;
        }
        running.end()
    }

    /// Returns whether each element of y should be finite for this x.
    pub fn finite<'f>(&'f self, x: &'f [T]) -> impl Iterator<Item = bool> + 'f {
        let columns = |row| self.operator.column_indices()[self.operator.row(row)].iter();
        (0..self.operator.rows()).map(move |row| columns(row).all(|&column| x[column as usize].is_finite()))
    }

    pub fn inputs(&self) -> usize {
        self.operator.cols()
    }

    fn factors(&self) -> (T, T) {
        (T::narrow(self.asked.factors.0), T::narrow(self.asked.factors.1))
    }

    /// Returns y before the product: NaN if the product must not read it.
    fn y0(&self) -> Vec<T> {
        let rows = self.operator.rows();
        if self.asked.factors.1 == 0.0 { vec![T::nan(); rows] } else { vector(rows, 0.9) }
    }
}
