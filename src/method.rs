//! What a method is: an entry of [`METHODS`](crate::methods::METHODS) that turns a CSR matrix into
//! a product y = αAx + βy.

mod device;
mod prepared;

use std::any::Any;

use crate::device::DeviceCsr;
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::profile::Profile;
use crate::scalar::{Precision, Scalar};
use crate::simd::Isa;
use crate::team::Team;

pub use device::Device;
pub use prepared::{Prepared, PreparedOnGpu, Values};

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

    /// Where it runs when methods of the GPU run on `gpu`.
    pub const fn runs_on(&self, gpu: Device) -> Device {
        match self.code {
            Code::Cpu { .. } => Device::Cpu,
            Code::Gpu { .. } => gpu,
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
