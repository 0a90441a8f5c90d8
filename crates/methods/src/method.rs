//! Defines [`Method`]: an entry of [`METHODS`](crate::METHODS) that prepares a product y = αAx + βy from a CSR matrix.

mod prepared;
pub mod profile;
mod request;

use std::any::Any;

use crate::device::DeviceCsr;
use crate::device::buffer::Value;
use spmv_matrix::Csr;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::method_name::MethodName;
use spmv_matrix::scalar::{Precision, Scalar};

pub use crate::device::{Device, Failed, Unavailable, Unprepared};
pub use prepared::{Prepared, PreparedOnGpu, Values};
pub use request::Request;

/// An algorithm that computes y = αAx + βy, in both precisions.
pub struct Method {
    /// The unique name of the method. A CPU method is in the file of the same name, with `_` in place of `-`.
    pub name: &'static str,
    /// The source of the algorithm: a paper and section, or the library's documentation.
    pub source: &'static str,
    /// One line for `spmv-bench methods`: what the method does and how it departs from its source.
    pub summary: &'static str,
    pub parameters: &'static [Parameter],
    pub operations: Operations,
    pub setup: Setup,
    /// Returns an upper bound of the memory that the method needs in addition to CSR, x and y, in bytes, at any time
    /// from its preparation until it is dropped. It is memory of the device on which the method runs. A value per
    /// thread is not counted, because every method gets a reserve for small allocations.
    pub memory: fn(&Extent) -> u64,
    /// Returns whether the method may refuse a matrix of this extent, for a reason that depends on the matrix: mostly
    /// because its format would store too much fill.
    pub may_refuse: fn(&Extent) -> bool,
    pub code: Code,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operations {
    Plain,
    /// By A or by Aᵀ, depending on [`Request::transpose`].
    Both,
    Transposed,
}

impl Operations {
    pub fn include(self, transpose: bool) -> bool {
        match self {
            Self::Plain => !transpose,
            Self::Both => true,
            Self::Transposed => transpose,
        }
    }
}

/// The work that a method does once per matrix, after the matrix has been converted to CSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// No work, or a negligible amount.
    Nothing,
    /// The method analyses the matrix and stores the result. The product reads the CSR arrays, or a library
    /// decides which arrays it reads.
    Inspection,
    Conversion,
    Ordering,
}

impl Setup {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Inspection => "inspection",
            Self::Conversion => "conversion",
            Self::Ordering => "ordering",
        }
    }
}

/// A parameter of a method, which the user sets by `--methods name:parameter=value`.
#[derive(Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    pub values: &'static [&'static str],
    pub meaning: &'static str,
}

/// The values of a parameter that takes every whole number from 1 on, of which these are examples.
pub const ANY_NUMBER: &[&str] = &["1", "10", "100", "1000", "10000"];

/// A parameter that every GPU method accepts in addition to its own.
pub const GRAPH: Parameter = Parameter {
    name: "graph",
    values: &["on"],
    meaning: "the product is captured as a CUDA graph in setup and launched as one",
};

pub enum Code {
    Cpu {
        parallel: bool,
        f64: Prepare<f64>,
        f32: Prepare<f32>,
    },
    Gpu {
        f64: PrepareOnGpu<f64>,
        f32: PrepareOnGpu<f32>,
    },
    /// The method is code of the user and runs on the CPU: that of a plug-in, or of a program that uses this crate.
    Custom {
        parallel: bool,
        f64: PrepareCustom<f64>,
        f32: PrepareCustom<f32>,
    },
    /// The method is code of the user and runs on a GPU: a `.cu` file, or that of a plug-in.
    CustomGpu {
        /// Whether it also runs on a modelled GPU.
        modelled: bool,
        f64: PrepareCustomOnGpu<f64>,
        f32: PrepareCustomOnGpu<f32>,
    },
}

/// Does all work that is needed once per matrix after the conversion to CSR. Its time is reported as `setup_ms`.
pub type Prepare<T> = for<'a> fn(&'a Csr<T>, &Request<'a>) -> Result<Prepared<'a, T>, Unavailable>;

/// The product that a GPU method has prepared, or the reason why there is none.
pub type Preparation<'a, T> = Result<PreparedOnGpu<'a, T>, Unprepared>;

/// A function that prepares a GPU method for a matrix in device memory, as [`Prepare`] does.
pub type PrepareOnGpu<T> = for<'a> fn(&'a DeviceCsr<'a, T>, &Request<'a>) -> Preparation<'a, T>;

/// Code of the user that does what [`Prepare`] does. It may own data, and its preparation may also fail.
pub type PrepareCustom<T> =
    &'static (dyn for<'a> Fn(&'a Csr<T>, &Request<'a>) -> Result<Prepared<'a, T>, Unprepared> + Sync);

/// Code of the user that does what [`PrepareOnGpu`] does. It may own data.
pub type PrepareCustomOnGpu<T> =
    &'static (dyn for<'a> Fn(&'a DeviceCsr<'a, T>, &Request<'a>) -> Preparation<'a, T> + Sync);

/// Returns a function of the user as the code of a method. It is never released, as methods are not.
pub fn custom<T>(
    prepare: impl for<'a> Fn(&'a Csr<T>, &Request<'a>) -> Result<Prepared<'a, T>, Unprepared> + Sync + 'static,
) -> PrepareCustom<T> {
    Box::leak(Box::new(prepare))
}

/// Returns a function of the user as the code of a method on a GPU. It is never released, as methods are not.
pub fn custom_on_gpu<T: Value>(
    prepare: impl for<'a> Fn(&'a DeviceCsr<'a, T>, &Request<'a>) -> Preparation<'a, T> + Sync + 'static,
) -> PrepareCustomOnGpu<T> {
    Box::leak(Box::new(prepare))
}

/// Returns the memory that is reserved for a method of the user, in bytes: three copies of the matrix and one of the
/// vectors. Its interface has no way to state an upper bound.
pub fn memory_of_custom(extent: &Extent) -> u64 {
    3 * extent.csr() + extent.vectors()
}

/// A method together with the parameters that the user gave.
///
/// ```
/// use spmv_methods::method::{Choice, Request};
/// use spmv_matrix::Csr;
/// use spmv_methods::team::Team;
///
/// let method = spmv_methods::named("csr5").unwrap();
/// let choice = Choice { method, given: vec![("sigma", "8")] };
/// assert_eq!(choice.name(), "csr5:sigma=8");
///
/// let (csr, team) = (Csr::from_triplets(1, 1, &[(0, 0, 2.0)]), Team::floating(1));
/// let request = Request { alpha: 0.5, given: &choice.given, ..Request::new(&team) };
/// let mut prepared = method.prepare_on_host(&csr, &request)?;
/// let mut y = [0.0];
/// prepared.multiply(0.5, &[3.0], 0.0, &mut y)?;
/// assert_eq!(y, [3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Choice<'m> {
    pub method: &'m Method,
    pub given: Vec<(&'static str, &'static str)>,
}

impl<'m> From<&'m Method> for Choice<'m> {
    fn from(method: &'m Method) -> Self {
        Self { method, given: Vec::new() }
    }
}

impl Choice<'_> {
    /// Returns whether the product is to be captured as a CUDA graph: see [`GRAPH`].
    pub fn is_graph(&self) -> bool {
        self.given.iter().any(|(name, _)| *name == GRAPH.name)
    }

    /// Returns the name of the method with the given parameters, such as `gpu-light:level=vector`.
    pub fn name(&self) -> String {
        MethodName { method: self.method.name, parameters: self.given.clone() }.to_string()
    }
}

impl Method {
    /// Returns a method with this code, of which nothing else is stated: without parameters, setup and memory of its
    /// own, for products by A with every matrix.
    pub const fn new(code: Code) -> Self {
        Self {
            name: "",
            source: "",
            summary: "",
            parameters: &[],
            operations: Operations::Plain,
            setup: Setup::Nothing,
            memory: |_| 0,
            may_refuse: |_| false,
            code,
        }
    }

    pub const fn device(&self) -> Device {
        self.runs_on(Device::Gpu)
    }

    /// Returns the device on which the method runs, where `gpu` is the device of all GPU methods.
    pub const fn runs_on(&self, gpu: Device) -> Device {
        match self.code {
            Code::Cpu { .. } | Code::Custom { .. } => Device::Cpu,
            Code::Gpu { .. } | Code::CustomGpu { .. } => gpu,
        }
    }

    /// Returns the number of threads that compute in a team of `team` threads; `None` on a GPU.
    pub const fn threads(&self, team: usize) -> Option<usize> {
        match self.code {
            Code::Cpu { parallel, .. } | Code::Custom { parallel, .. } => Some(if parallel { team } else { 1 }),
            Code::Gpu { .. } | Code::CustomGpu { .. } => None,
        }
    }

    /// Returns the bytes of the matrix that a product reads, in the format of this method. The CSR arrays
    /// have `csr` bytes. Returns `None` if a library does not report its memory.
    pub fn matrix_bytes<T, V: ?Sized>(&self, csr: u64, prepared: &Prepared<T, V>) -> Option<u64> {
        let kept = match self.setup {
            Setup::Nothing => Some(0),
            _ => prepared.extra_bytes,
        };
        Some(kept? + self.csr_bytes(csr, prepared))
    }

    /// Returns how many bytes of the CSR arrays a product reads. The CSR arrays have `csr` bytes in total.
    pub fn csr_bytes<T, V: ?Sized>(&self, csr: u64, prepared: &Prepared<T, V>) -> u64 {
        prepared.csr_bytes.unwrap_or(match self.setup {
            Setup::Nothing | Setup::Inspection => csr,
            Setup::Conversion | Setup::Ordering => 0,
        })
    }

    /// Returns all parameters of the method, [`GRAPH`] included for GPU methods.
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        let graph = (self.device() == Device::Gpu).then_some(&GRAPH);
        self.parameters.iter().chain(graph)
    }

    /// Returns whether the method is a `.cu` file of the user, which also runs on a modelled GPU.
    pub const fn is_kernel_file(&self) -> bool {
        matches!(self.code, Code::CustomGpu { modelled: true, .. })
    }

    pub const fn is_custom(&self) -> bool {
        matches!(self.code, Code::Custom { .. })
    }

    pub fn prepare_on_host<'a, T: Scalar>(
        &self,
        csr: &'a Csr<T>,
        request: &Request<'a>,
    ) -> Result<Prepared<'a, T>, Unprepared> {
        match &self.code {
            Code::Cpu { f64, f32, .. } => Ok(by_precision::<T, Prepare<T>>(f64, f32)(csr, request)?),
            Code::Custom { f64, f32, .. } => {
                let mut prepared = by_precision::<T, PrepareCustom<T>>(f64, f32)(csr, request)?;
                prepared.is_foreign = true;
                Ok(prepared)
            }
            _ => Err(Unavailable("it runs on a GPU".into()).into()),
        }
    }

    pub fn prepare_on_device<'a, T: Value>(
        &self,
        csr: &'a DeviceCsr<'a, T>,
        request: &Request<'a>,
    ) -> Preparation<'a, T> {
        match &self.code {
            Code::Gpu { f64, f32 } => by_precision::<T, PrepareOnGpu<T>>(f64, f32)(csr, request),
            Code::CustomGpu { f64, f32, .. } => by_precision::<T, PrepareCustomOnGpu<T>>(f64, f32)(csr, request),
            _ => Err(Unavailable("it runs on the CPU".into()).into()),
        }
    }
}

/// Returns the one of the two values that is for `T`. This is the only place where the precisions are distinguished.
pub(crate) fn by_precision<'v, T: Scalar, V: 'static>(f64: &'v dyn Any, f32: &'v dyn Any) -> &'v V {
    let chosen = match T::PRECISION {
        Precision::F64 => f64,
        Precision::F32 => f32,
    };
    chosen.downcast_ref().expect("PRECISION matches the type")
}
