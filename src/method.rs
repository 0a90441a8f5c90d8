//! What a method is: an entry of [`METHODS`](crate::methods::METHODS) that turns a CSR matrix into
//! a product y = αAx + βy.

use crate::matrix::Csr;
use crate::scalar::{Precision, Scalar};
use crate::team::Team;

/// Where a method runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The host's cores.
    Cpu,
}

impl Device {
    /// As in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
        }
    }
}

/// One way of computing y = αAx + βy, in both precisions.
pub struct Method {
    /// Unique; also the stem of the file that holds it, with `-` for `_`.
    pub name: &'static str,
    /// Where it runs.
    pub device: Device,
    /// Paper and section, or the library's documentation.
    pub source: &'static str,
    /// One line for `spmv-bench methods`: what it does and how it departs from its source.
    pub summary: &'static str,
    /// Whether the product uses every thread of the team.
    pub parallel: bool,
    /// Makes the product for a matrix of `f64`.
    pub prepare_f64: Prepare<f64>,
    /// The same for `f32`.
    pub prepare_f32: Prepare<f32>,
}

/// All work that is done once per matrix beyond having it in CSR: its time is `setup_ms`.
pub type Prepare<T> = for<'a> fn(&'a Csr<T>, &Request<'a>) -> Result<Prepared<'a, T>, Unavailable>;

/// What a method may know of the run before it sees a vector.
pub struct Request<'a> {
    /// The threads that a parallel method runs on; the calling thread is the team's leader.
    pub team: &'a Team,
    /// The α and β that every product will be called with, for libraries that choose by them.
    pub alpha: f64,
    /// See `alpha`.
    pub beta: f64,
    /// How many products the run plans: what an inspector is told to expect.
    pub expected_products: usize,
}

/// A method made ready for one matrix.
pub struct Prepared<'a, T> {
    product: Box<Product<'a, T>>,
    rows: usize,
    cols: usize,
    /// Bytes kept beyond the CSR arrays, x and y; `None` when a library does not tell.
    pub extra_bytes: Option<u64>,
    /// The version of the library that computes, when it is not this program.
    pub library_version: Option<String>,
    /// Wakes the library's own threads; `None` when the product runs on the team.
    pub wake: Option<fn()>,
}

/// α, x, β, y ↦ y ← αAx + βy.
type Product<'a, T> = dyn FnMut(T, &[T], T, &mut [T]) -> Result<(), Failed> + 'a;

impl<'a, T> Prepared<'a, T> {
    /// A product of our own, which keeps `extra_bytes` beyond CSR. Its arguments are α, x, β, y;
    /// with β = 0 it must not read y.
    pub fn new(
        csr: &'a Csr<T>,
        extra_bytes: usize,
        product: impl FnMut(T, &[T], T, &mut [T]) -> Result<(), Failed> + 'a,
    ) -> Self {
        Self {
            product: Box::new(product),
            rows: csr.rows,
            cols: csr.cols,
            extra_bytes: Some(extra_bytes as u64),
            library_version: None,
            wake: None,
        }
    }

    /// A product that library `version` computes.
    pub fn by_library(
        csr: &'a Csr<T>,
        version: &str,
        extra_bytes: Option<u64>,
        product: impl FnMut(T, &[T], T, &mut [T]) -> Result<(), Failed> + 'a,
    ) -> Self {
        Self { extra_bytes, library_version: Some(version.into()), ..Self::new(csr, 0, product) }
    }

    /// The same with a way to wake the library's threads, so that a sample that is to begin with
    /// cold caches need not begin with sleeping threads as well.
    pub fn woken_by(self, wake: fn()) -> Self {
        Self { wake: Some(wake), ..self }
    }

    /// y ← αAx + βy; y is not read when β = 0.
    ///
    /// # Panics
    /// When x has not one value per column or y not one per row: the products rely on it.
    pub fn multiply(&mut self, alpha: T, x: &[T], beta: T, y: &mut [T]) -> Result<(), Failed> {
        assert_eq!((x.len(), y.len()), (self.cols, self.rows), "lengths of x and y");
        (self.product)(alpha, x, beta, y)
    }
}

/// Why a method cannot take this matrix or machine: becomes a `skipped` row with this reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Why a product that was prepared went wrong: becomes a `failed` row with this reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

impl Method {
    /// The prepare function of a precision given as a type. This is the one place where the two
    /// fields are told apart.
    pub fn prepare<T: Scalar>(&self) -> Prepare<T> {
        let chosen: &dyn std::any::Any = match T::PRECISION {
            Precision::F64 => &self.prepare_f64,
            Precision::F32 => &self.prepare_f32,
        };
        *chosen.downcast_ref().expect("PRECISION names the type itself")
    }
}
