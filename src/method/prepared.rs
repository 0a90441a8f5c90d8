//! A method made ready for one matrix.

use super::Failed;
use crate::device::buffer::Plain;
use crate::device::{Buffer, DeviceCsr, Gpu};
use crate::matrix::Csr;

/// A method made ready for one matrix, with vectors of type `V`.
pub struct Prepared<'a, T, V: ?Sized = [T]> {
    product: Box<Product<'a, T, V>>,
    rows: usize,
    cols: usize,
    /// Bytes kept beyond the CSR arrays, x and y; `None` when a library does not tell.
    pub extra_bytes: Option<u64>,
    /// Bytes of the CSR arrays that a product reads, where its [`Setup`] does not tell.
    pub csr_bytes: Option<u64>,
    /// The version of the library that computes, when it is not this program.
    pub library_version: Option<String>,
    /// What a reader of the result should know: what was chosen, or could not be done.
    pub note: Option<String>,
    /// Wakes the library's own threads; `None` when the product runs on the team.
    pub wake: Option<fn()>,
}

/// The same with vectors in device memory.
pub type PreparedOnGpu<'a, T> = Prepared<'a, T, Buffer<T>>;

/// α, x, β, y ↦ y ← αAx + βy.
type Product<'a, T, V> = dyn FnMut(T, &V, T, &mut V) -> Result<(), Failed> + 'a;

impl<'a, T> Prepared<'a, T> {
    /// A product of our own, which keeps `extra_bytes` beyond CSR. Its arguments are α, x, β, y;
    /// with β = 0 it must not read y.
    pub fn new(
        csr: &'a Csr<T>,
        extra_bytes: usize,
        product: impl FnMut(T, &[T], T, &mut [T]) -> Result<(), Failed> + 'a,
    ) -> Self {
        Self::made(csr, Box::new(product), Some(extra_bytes as u64))
    }
}

impl<'a, T: Plain> PreparedOnGpu<'a, T> {
    /// A product of our own that enqueues its work. What it keeps in device memory is counted by
    /// whoever asked for it.
    pub fn on_gpu(
        csr: &DeviceCsr<'a, T>,
        product: impl FnMut(T, &Buffer<T>, T, &mut Buffer<T>) -> Result<(), Failed> + 'a,
    ) -> Self {
        Self::made(&csr.host, Box::new(product), None)
    }
}

impl<T: Plain + PartialEq> PreparedOnGpu<'_, T> {
    /// The same product captured as a CUDA graph, for calls with these vectors and factors only.
    ///
    /// # Errors
    /// When the driver cannot capture it.
    ///
    /// # Panics
    /// When the product is called with other vectors or factors.
    pub fn captured(
        self,
        gpu: &Gpu,
        (alpha, beta): (T, T),
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<Self, Failed> {
        let mut product = self.product;
        let graph = gpu.capture(|| product(alpha, x, beta, y))?;
        let captured = (x.address(), y.address());
        let replay = move |a: T, x: &Buffer<T>, b: T, y: &mut Buffer<T>| {
            let is_same = (a, b) == (alpha, beta) && (x.address(), y.address()) == captured;
            assert!(is_same, "a graph has the vectors and factors of its capture");
            // What the product owns is what the graph works on.
            let _ = &product;
            graph.launch()
        };
        Ok(Self { product: Box::new(replay), ..self })
    }
}

impl<'a, T, V: Values + ?Sized> Prepared<'a, T, V> {
    fn made(csr: &Csr<T>, product: Box<Product<'a, T, V>>, extra_bytes: Option<u64>) -> Self {
        let (rows, cols) = (csr.rows, csr.cols);
        let (csr_bytes, library_version, note, wake) = (None, None, None, None);
        Self { product, rows, cols, extra_bytes, csr_bytes, library_version, note, wake }
    }

    /// The same, if `transpose`, for a product by Aᵀ: x has a value per row, y one per column.
    pub fn transposing(self, transpose: bool) -> Self {
        let (rows, cols) = (self.rows, self.cols);
        if transpose { Self { rows: cols, cols: rows, ..self } } else { self }
    }

    /// The same with a word to the reader of its result.
    pub fn noting(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// The same for a product that reads so many bytes of the CSR arrays, beside what it keeps.
    pub fn reading_csr(self, bytes: u64) -> Self {
        Self { csr_bytes: Some(bytes), ..self }
    }

    /// The same computed by library `version`, whose memory is `extra_bytes`.
    pub fn by_library(self, version: &str, extra_bytes: Option<u64>) -> Self {
        Self { extra_bytes, library_version: Some(version.into()), ..self }
    }

    /// The same with a way to wake the library's threads, so that a sample that is to begin with
    /// cold caches need not begin with sleeping threads as well.
    pub fn woken_by(self, wake: fn()) -> Self {
        Self { wake: Some(wake), ..self }
    }

    /// y ← αAx + βy, or with Aᵀ for A as the request said; y is not read when β = 0. On a GPU this only enqueues the work.
    ///
    /// # Panics
    /// When x has not one value per column or y not one per row: the products rely on it.
    pub fn multiply(&mut self, alpha: T, x: &V, beta: T, y: &mut V) -> Result<(), Failed> {
        assert_eq!((x.count(), y.count()), (self.cols, self.rows), "lengths of x and y");
        (self.product)(alpha, x, beta, y)
    }
}

/// What a vector of a product is.
pub trait Values {
    /// How many values it has.
    fn count(&self) -> usize;
}

impl<T> Values for [T] {
    fn count(&self) -> usize {
        self.len()
    }
}

impl<T: Plain> Values for Buffer<T> {
    fn count(&self) -> usize {
        self.len()
    }
}
