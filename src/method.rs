//! What a method is: an entry of [`METHODS`](crate::methods::METHODS) that turns a CSR matrix into
//! a product y = αAx + βy.

use std::any::Any;

use crate::device::buffer::Plain;
use crate::device::{Buffer, DeviceCsr, Gpu};
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::profile::Profile;
use crate::scalar::{Precision, Scalar};
use crate::simd::Isa;
use crate::team::Team;

/// Where a method runs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The host's cores.
    Cpu,
    /// A graphics processor.
    Gpu,
}

impl Device {
    /// As in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// One way of computing y = αAx + βy, in both precisions.
pub struct Method {
    /// Unique; also the stem of the file that holds it, with `-` for `_`.
    pub name: &'static str,
    /// Paper and section, or the library's documentation.
    pub source: &'static str,
    /// One line for `spmv-bench methods`: what it does and how it departs from its source.
    pub summary: &'static str,
    /// What may be set from outside.
    pub parameters: &'static [Parameter],
    /// What it multiplies by.
    pub operations: Operations,
    /// What is done once per matrix.
    pub setup: Setup,
    /// Bytes beyond CSR, x and y that it takes at most, at any time until it is dropped, where it runs.
    pub memory: fn(&Extent) -> u64,
    /// How it becomes a product.
    pub code: Code,
}

/// Which of A and Aᵀ a method multiplies by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operations {
    /// A only.
    Plain,
    /// Both, as the request says.
    Both,
    /// Aᵀ only.
    Transposed,
}

impl Operations {
    /// Whether it multiplies by Aᵀ, or else by A.
    pub fn include(self, transpose: bool) -> bool {
        match self {
            Self::Plain => !transpose,
            Self::Both => true,
            Self::Transposed => transpose,
        }
    }
}

/// What a method does once per matrix beyond having it in CSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// Nothing of weight.
    Nothing,
    /// It looks at the matrix and keeps what it saw; the product works on the CSR arrays, or a library
    /// decides on what.
    Inspection,
    /// It makes a format of its own.
    Conversion,
    /// It brings the matrix into another order.
    Ordering,
}

impl Setup {
    /// In tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Inspection => "inspection",
            Self::Conversion => "conversion",
            Self::Ordering => "ordering",
        }
    }
}

/// A choice that a method leaves to its user: `--methods name:parameter=value`.
pub struct Parameter {
    /// Unique within the method.
    pub name: &'static str,
    /// All values it may have.
    pub values: &'static [&'static str],
    /// What it means, and what happens when it is not given.
    pub meaning: &'static str,
}

/// What every method of a GPU may be given beside its own parameters.
pub const GRAPH: Parameter = Parameter {
    name: "graph",
    values: &["on"],
    meaning: "the product is captured as a CUDA graph in setup and launched as one",
};

/// A method's prepare functions, by device and precision.
#[allow(missing_docs)] // the precisions
pub enum Code {
    /// On the host's cores.
    Cpu {
        /// Whether the product uses every thread of the team.
        parallel: bool,
        f64: Prepare<f64>,
        f32: Prepare<f32>,
    },
    /// On a GPU.
    Gpu { f64: PrepareOnGpu<f64>, f32: PrepareOnGpu<f32> },
}

/// All work that is done once per matrix beyond having it in CSR: its time is `setup_ms`.
pub type Prepare<T> = for<'a> fn(&'a Csr<T>, &Request<'a>) -> Result<Prepared<'a, T>, Unavailable>;

/// The same for a matrix that is in the device's memory.
pub type PrepareOnGpu<T> =
    for<'a> fn(&'a DeviceCsr<'a, T>, &Request<'a>) -> Result<PreparedOnGpu<'a, T>, Unprepared>;

/// What a method may know of the run before it sees a vector.
pub struct Request<'a> {
    /// The threads that a parallel method runs on; the calling thread is the team's leader.
    pub team: &'a Team,
    /// The instructions that kernels of our own are to use.
    pub isa: Isa,
    /// Whether the product is y ← αAᵀx + βy; only for methods whose [`Operations`] include it.
    pub transpose: bool,
    /// The α and β that every product will be called with, for libraries that choose by them.
    pub alpha: f64,
    /// See `alpha`.
    pub beta: f64,
    /// How many products the run plans: what an inspector is told to expect.
    pub expected_products: usize,
    /// What was measured of this machine in the product's precision, if anything.
    pub profile: Option<&'a Profile>,
    /// The parameters that were given, each with one of the values that the method lists.
    pub given: &'a [(&'static str, &'static str)],
}

impl Request<'_> {
    /// The value of a parameter, if it was given.
    pub fn word(&self, parameter: &str) -> Option<&'static str> {
        self.given.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value)
    }

    /// The same for a parameter whose values are numbers.
    pub fn number(&self, parameter: &str) -> Option<usize> {
        self.word(parameter).map(|word| word.parse().expect("its values are numbers"))
    }
}

/// A method with the parameters that were given.
#[derive(Clone)]
pub struct Choice<'m> {
    /// The method.
    pub method: &'m Method,
    /// See [`Request::given`].
    pub given: Vec<(&'static str, &'static str)>,
}

impl<'m> From<&'m Method> for Choice<'m> {
    fn from(method: &'m Method) -> Self {
        Self { method, given: Vec::new() }
    }
}

impl Choice<'_> {
    /// Whether the product is to be captured as a graph: see [`GRAPH`].
    pub fn is_graph(&self) -> bool {
        self.given.iter().any(|(name, _)| *name == GRAPH.name)
    }

    /// The method's name with the parameters given: `gpu-light:level=vector`.
    pub fn name(&self) -> String {
        let given = self.given.iter().map(|(name, value)| format!(":{name}={value}"));
        std::iter::once(self.method.name.to_owned()).chain(given).collect()
    }
}

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

/// Why a method cannot take this matrix or machine: becomes a `skipped` row with this reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Why a product that was prepared went wrong: becomes a `failed` row with this reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

/// Why a method did not become ready.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // see the two
pub enum Unprepared {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl Method {
    /// Where it runs.
    pub const fn device(&self) -> Device {
        match self.code {
            Code::Cpu { .. } => Device::Cpu,
            Code::Gpu { .. } => Device::Gpu,
        }
    }

    /// The threads that compute in a team of `team`; `None` on a GPU.
    pub const fn threads(&self, team: usize) -> Option<usize> {
        match self.code {
            Code::Cpu { parallel: true, .. } => Some(team),
            Code::Cpu { parallel: false, .. } => Some(1),
            Code::Gpu { .. } => None,
        }
    }

    /// Bytes of the matrix that a product of this method reads, in the form in which it keeps them, when the CSR
    /// arrays have `csr` bytes; `None` when a library does not tell.
    pub fn matrix_bytes<T, V: ?Sized>(&self, csr: u64, prepared: &Prepared<T, V>) -> Option<u64> {
        let kept = match self.setup {
            Setup::Nothing => Some(0),
            _ => prepared.extra_bytes,
        };
        Some(kept? + self.csr_bytes(csr, prepared))
    }

    /// Those of them that are the CSR arrays'.
    pub fn csr_bytes<T, V: ?Sized>(&self, csr: u64, prepared: &Prepared<T, V>) -> u64 {
        prepared.csr_bytes.unwrap_or(match self.setup {
            Setup::Nothing | Setup::Inspection => csr,
            Setup::Conversion | Setup::Ordering => 0,
        })
    }

    /// All that may be set from outside.
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        let graph = (self.device() == Device::Gpu).then_some(&GRAPH);
        self.parameters.iter().chain(graph)
    }

    /// The prepare function of a precision given as a type; `None` for a method of the GPU.
    pub fn prepare<T: Scalar>(&self) -> Option<Prepare<T>> {
        match &self.code {
            Code::Cpu { f64, f32, .. } => Some(of_precision::<T, _>(f64, f32)),
            Code::Gpu { .. } => None,
        }
    }

    /// The same on a GPU; `None` for a method of the CPU.
    pub fn prepare_on_gpu<T: Scalar>(&self) -> Option<PrepareOnGpu<T>> {
        match &self.code {
            Code::Gpu { f64, f32 } => Some(of_precision::<T, _>(f64, f32)),
            Code::Cpu { .. } => None,
        }
    }
}

/// The one of the two that is for `T`. This is the one place where they are told apart.
fn of_precision<T: Scalar, P: Copy + 'static>(f64: &dyn Any, f32: &dyn Any) -> P {
    let chosen = match T::PRECISION {
        Precision::F64 => f64,
        Precision::F32 => f32,
    };
    *chosen.downcast_ref().expect("PRECISION names the type itself")
}
