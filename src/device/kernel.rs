//! Programs in CUDA C++ and their kernels.

use super::Gpu;
use super::driver::{Address, ArgumentKind, KernelId, ModuleId, RawArgument};
use crate::method::Failed;

/// A file of `cuda/`, in the binary.
#[derive(Debug)]
pub struct Program {
    /// The file's name.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
}

/// The files that programs may include: name and text.
pub const HEADERS: &[(&str, &str)] = &[
    ("common.cuh", include_str!("../../cuda/common.cuh")),
    ("hola.cuh", include_str!("../../cuda/hola.cuh")),
    ("coordinates.cuh", include_str!("../../cuda/coordinates.cuh")),
    ("strips.cuh", include_str!("../../cuda/strips.cuh")),
];

/// A compiled program.
pub struct Module {
    gpu: Gpu,
    id: ModuleId,
}

/// A kernel, ready to run.
pub struct Kernel {
    gpu: Gpu,
    id: KernelId,
    name: &'static str,
}

/// The shape of a grid or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Fastest.
    pub x: u32,
    /// Next.
    pub y: u32,
    /// Slowest.
    pub z: u32,
}

impl From<usize> for Dim3 {
    fn from(x: usize) -> Self {
        let x = u32::try_from(x).expect("a dimension fits in 32 bits");
        Self { x, y: 1, z: 1 }
    }
}

impl Module {
    pub(super) fn new(gpu: Gpu, id: ModuleId) -> Self {
        Self { gpu, id }
    }

    /// The kernel of that name. A driver may load its code only now, so the time counts as compiling.
    pub fn kernel(&self, name: &'static str) -> Result<Kernel, Failed> {
        let id = self.gpu.loading(|| self.gpu.0.driver.kernel(self.id, name))?;
        Ok(Kernel { gpu: self.gpu.clone(), id, name })
    }
}

impl Kernel {
    /// Enqueues `grid` blocks of `block` threads with `shared_bytes` of dynamic shared memory; nothing
    /// when there is no block. The arguments are those of the kernel's signature, in order.
    pub fn launch(
        &self,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        shared_bytes: usize,
        arguments: &[&dyn Argument],
    ) -> Result<(), Failed> {
        let (grid, block) = (grid.into(), block.into());
        if grid.x * grid.y * grid.z == 0 {
            return Ok(());
        }
        let arguments: Vec<_> = arguments.iter().map(|argument| argument.raw()).collect();
        // SAFETY: the values live in `arguments`; that they are those of the signature is checked by
        // the model, on which the tests run every launch.
        unsafe {
            self.gpu.0.driver.launch(self.id, grid, block, shared_bytes as u32, &arguments)?;
        }
        let threads = block.x * block.y * block.z;
        self.gpu.enqueued(self.name, || self.occupancy(threads as usize, shared_bytes).map(Some))
    }

    /// See [`Stage::occupancy`](super::Stage::occupancy).
    fn occupancy(&self, threads: usize, shared_bytes: usize) -> Result<f64, Failed> {
        let facts = self.gpu.facts();
        let most = facts.multiprocessors * facts.max_threads_per_multiprocessor;
        let resident = self.resident_blocks(threads, shared_bytes)? * threads;
        Ok(resident as f64 / f64::from(most))
    }

    /// How many blocks of `threads` threads with `shared_bytes` of dynamic shared memory the whole
    /// device holds at once.
    pub fn resident_blocks(&self, threads: usize, shared_bytes: usize) -> Result<usize, Failed> {
        let per_multiprocessor =
            self.gpu.0.driver.resident_blocks(self.id, threads as u32, shared_bytes as u32)?;
        Ok((per_multiprocessor * self.gpu.facts().multiprocessors) as usize)
    }
}

/// What a kernel can be given.
///
/// # Safety
/// `raw` points to a value of the kind and size that it names, inside `self`.
pub unsafe trait Argument {
    /// As a launch takes it.
    fn raw(&self) -> RawArgument;
}

impl RawArgument {
    /// The argument that is this address.
    pub fn pointer(address: &Address) -> Self {
        Self::new(address, ArgumentKind::Pointer)
    }

    fn new<V>(value: &V, kind: ArgumentKind) -> Self {
        Self { value: std::ptr::from_ref(value).cast(), bytes: size_of::<V>(), kind }
    }
}

macro_rules! number {
    ($($number:ty: $kind:ident),*) => {$(
        // SAFETY: the value is `self`.
        unsafe impl Argument for $number {
            fn raw(&self) -> RawArgument {
                RawArgument::new(self, ArgumentKind::$kind)
            }
        }
    )*};
}
number!(i32: Integer, u32: Integer, u64: Integer, f32: Float, f64: Float);
