//! A method that has been prepared for one matrix.

use bytemuck::Pod;

use crate::device::{Buffer, DeviceCsr, Failed, Gpu};
use spmv_matrix::Csr;

/// A method that has been prepared for one matrix, with vectors of type `V`.
pub struct Prepared<'a, T, V: ?Sized = [T]> {
    product: Box<Product<'a, T, V>>,
    rows: usize,
    cols: usize,
    /// The bytes that are used in addition to the CSR arrays, x and y; `None` if a library does not report them.
    pub extra_bytes: Option<u64>,
    /// The bytes by which the process grew while the method was prepared, if its library does not report them. Not all
    /// of them are read in a product.
    pub grown_bytes: Option<u64>,
    /// The bytes of the CSR arrays that a product reads, if they do not follow from its [`Setup`](super::Setup).
    pub csr_bytes: Option<u64>,
    /// The version of the library that computes the product; `None` for this project's own kernels.
    pub library_version: Option<String>,
    /// Notes that are shown with the result: what the method chose, or what it could not do.
    pub notes: Vec<String>,
    /// The method, with its parameters, that a method which chooses one of several has chosen.
    pub picked: Option<String>,
    /// A function that wakes the library's own threads, so that a sample with cold caches need not start with sleeping
    /// threads as well; `None` if the product runs on the team.
    pub wake: Option<fn()>,
    /// Whether code of a plug-in computes the product.
    pub is_foreign: bool,
}

/// A method that has been prepared for one matrix, with vectors in device memory.
pub type PreparedOnGpu<'a, T> = Prepared<'a, T, Buffer<T>>;

/// The function (n, α, x, β, y) ↦ y ← αAx + βy, n times.
type Product<'a, T, V> = dyn FnMut(usize, T, &V, T, &mut V) -> Result<(), Failed> + 'a;

/// Returns a product that repeats itself. The loop is compiled with the product, for speed: in the program that times
/// it, which is compiled for size, it would take longer than the product of a small matrix.
fn repeating<'a, T: Copy, V: ?Sized>(
    mut product: impl FnMut(T, &V, T, &mut V) -> Result<(), Failed> + 'a,
) -> Box<Product<'a, T, V>> {
    Box::new(move |times, alpha, x, beta, y| (0..times).try_for_each(|_| product(alpha, x, beta, y)))
}

impl<'a, T: Copy> Prepared<'a, T> {
    /// Creates a product that this project computes and that uses `extra_bytes` in addition to CSR. The
    /// arguments of `product` are α, x, β, y; with β = 0 it must not read y.
    pub fn new(
        csr: &'a Csr<T>,
        extra_bytes: usize,
        product: impl FnMut(T, &[T], T, &mut [T]) -> Result<(), Failed> + 'a,
    ) -> Self {
        Self::of_part([csr.rows(), csr.cols()], extra_bytes, product)
    }

    /// Creates one process's part of a product, for the `rows` values of y and the `cols` values of x that it stores.
    pub fn of_part(
        [rows, cols]: [usize; 2],
        extra_bytes: usize,
        product: impl FnMut(T, &[T], T, &mut [T]) -> Result<(), Failed> + 'a,
    ) -> Self {
        Self::made([rows, cols], repeating(product), Some(extra_bytes as u64))
    }
}

impl<'a, T: Pod> PreparedOnGpu<'a, T> {
    /// Creates a GPU product that this project computes. `product` only enqueues its work. The caller
    /// determines how much device memory it uses.
    pub fn on_gpu(
        csr: &DeviceCsr<'a, T>,
        product: impl FnMut(T, &Buffer<T>, T, &mut Buffer<T>) -> Result<(), Failed> + 'a,
    ) -> Self {
        Self::made([csr.host.rows(), csr.host.cols()], repeating(product), None)
    }
}

impl<T: Pod + PartialEq> PreparedOnGpu<'_, T> {
    /// Captures the product as a CUDA graph, for calls with these vectors and factors only. The returned product panics
    /// if it is called with others.
    pub fn captured(self, gpu: &Gpu, (alpha, beta): (T, T), x: &Buffer<T>, y: &mut Buffer<T>) -> Result<Self, Failed> {
        let mut product = self.product;
        let graph = gpu.capture(|| product(1, alpha, x, beta, y))?;
        let captured = (x.address(), y.address());
        let replay = move |a: T, x: &Buffer<T>, b: T, y: &mut Buffer<T>| {
            assert!(
                (a, b) == (alpha, beta) && (x.address(), y.address()) == captured,
                "a captured graph accepts only the vectors and factors of its capture"
            );
            // The closure must own the product because the graph uses the product's buffers.
            let _ = &product;
            graph.launch()
        };
        Ok(Self { product: repeating(replay), ..self })
    }
}

impl<'a, T, V: Values + ?Sized> Prepared<'a, T, V> {
    fn made([rows, cols]: [usize; 2], product: Box<Product<'a, T, V>>, extra_bytes: Option<u64>) -> Self {
        Self {
            product,
            rows,
            cols,
            extra_bytes,
            grown_bytes: None,
            csr_bytes: None,
            library_version: None,
            notes: Vec::new(),
            picked: None,
            wake: None,
            is_foreign: false,
        }
    }

    /// If `transpose`, marks this as a product by Aᵀ: x then has one value per row of A, and y one per column.
    pub fn transposing(self, transpose: bool) -> Self {
        let (rows, cols) = (self.rows, self.cols);
        if transpose { Self { rows: cols, cols: rows, ..self } } else { self }
    }

    pub fn with_note(self, note: impl Into<String>) -> Self {
        self.with_notes([note.into()])
    }

    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Marks the product as that of another method, with its parameters, whose notes are left out.
    pub fn picked(self, name: String) -> Self {
        Self { picked: Some(name), notes: Vec::new(), ..self }
    }

    /// Sets how many bytes of the CSR arrays the product reads in addition to its own arrays.
    pub fn with_csr_bytes(self, bytes: u64) -> Self {
        Self { csr_bytes: Some(bytes), ..self }
    }

    /// Marks the product as computed by version `version` of a library, which uses `extra_bytes` of memory.
    pub fn with_library(self, version: &str, extra_bytes: Option<u64>) -> Self {
        Self { extra_bytes, library_version: Some(version.into()), ..self }
    }

    /// Computes y ← αAx + βy, or y ← αAᵀx + βy if the request was for the transpose. With β = 0, y is not
    /// read. On a GPU this only enqueues the work. It panics if x does not have one value per column or y does not have
    /// one value per row, because the kernels rely on these lengths.
    pub fn multiply(&mut self, alpha: T, x: &V, beta: T, y: &mut V) -> Result<(), Failed> {
        self.repeat(1, alpha, x, beta, y)
    }

    /// Computes the product `times` times, like [`multiply`](Self::multiply).
    pub fn repeat(&mut self, times: usize, alpha: T, x: &V, beta: T, y: &mut V) -> Result<(), Failed> {
        assert_eq!((x.count(), y.count()), (self.cols, self.rows), "lengths of x and y");
        (self.product)(times, alpha, x, beta, y)
    }
}

/// A vector that a product can read or write: a slice, or a buffer in device memory.
pub trait Values {
    fn count(&self) -> usize;
}

impl<T> Values for [T] {
    fn count(&self) -> usize {
        self.len()
    }
}

impl<T: Pod> Values for Buffer<T> {
    fn count(&self) -> usize {
        self.len()
    }
}
