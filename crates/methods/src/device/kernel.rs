//! Compiled programs, their kernels, and graphs of launches.

use std::ptr;

use super::errors::{Failed, Unprepared};
use super::gpu::Gpu;
use super::launch::{ArgumentKind, Dim3, GraphId, KernelId, KernelLaunch, ModuleId, RawArgument};
use super::program::Program;
use super::sources;
use spmv_matrix::scalar::Scalar;

/// A program that was compiled and loaded on a GPU.
pub struct Module {
    gpu: Gpu,
    id: ModuleId,
}

/// A kernel of a compiled program, ready to be launched.
pub struct Kernel {
    gpu: Gpu,
    id: KernelId,
    name: &'static str,
}

impl Module {
    /// Returns the kernel `name`. The time counts as compile time, because a driver may load the code only now.
    pub fn kernel(&self, name: &'static str) -> Result<Kernel, Failed> {
        let id = self.gpu.loading(|| self.gpu.kernel(self.id, name))?;
        Ok(Kernel { gpu: self.gpu.clone(), id, name })
    }
}

impl Kernel {
    /// Enqueues `grid` blocks of `block` threads with `shared_bytes` of dynamic shared memory. Does nothing if the grid
    /// is empty. The arguments must match the kernel's signature.
    pub fn launch(
        &self,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        shared_bytes: usize,
        arguments: &[&dyn Argument],
    ) -> Result<(), Failed> {
        self.launch_after(None, grid, block, shared_bytes, arguments)
    }

    /// Enqueues the kernel as [`Self::launch`] does. If `earlier` was enqueued just before, the GPU may start this
    /// kernel before `earlier` has ended (programmatic dependent launch, from compute capability 9.0 on). Therefore
    /// each of its threads must call `after_earlier_kernels` before it uses memory that `earlier` uses, unless both
    /// only read it.
    pub fn launch_after<'k>(
        &self,
        earlier: impl Into<Option<&'k Self>>,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        shared_bytes: usize,
        arguments: &[&dyn Argument],
    ) -> Result<(), Failed> {
        let (grid, block) = (grid.into(), block.into());
        if grid.x * grid.y * grid.z == 0 {
            return Ok(());
        }
        let is_latest = |earlier: &Self| self.gpu.0.latest.get() == Some(earlier.id);
        // The event at the end of a stage separates the kernels, but costs nothing on a modelled GPU.
        let is_apart = self.gpu.0.stages.borrow().is_some() && self.gpu.modelled().is_none();
        let dependent =
            earlier.into().is_some_and(is_latest) && self.gpu.facts().compute_capability >= (9, 0) && !is_apart;
        let mut raw = Vec::with_capacity(2 * arguments.len());
        arguments.iter().for_each(|argument| argument.append(&mut raw));
        let shared = shared_bytes as u32;
        let launch = KernelLaunch { kernel: self.id, grid, block, shared_bytes: shared, dependent };
        // SAFETY: the values live in `arguments`. The model, on which tests run every launch, checks the signature.
        unsafe { self.gpu.launch(launch, &raw)? };
        let threads = block.x * block.y * block.z;
        self.gpu.enqueued(self.name, || self.occupancy(threads as usize, shared_bytes).map(Some))?;
        self.gpu.0.latest.set(Some(self.id));
        Ok(())
    }

    /// Computes [`Stage::occupancy`](spmv_matrix::device::Stage::occupancy).
    fn occupancy(&self, threads: usize, shared_bytes: usize) -> Result<f64, Failed> {
        let resident = self.resident_blocks(threads, shared_bytes)? * threads;
        Ok(resident as f64 / self.gpu.facts().most_threads() as f64)
    }

    /// Returns the number of blocks of `threads` threads with `shared_bytes` of dynamic shared memory that can be
    /// resident on the whole device at the same time.
    pub fn resident_blocks(&self, threads: usize, shared_bytes: usize) -> Result<usize, Failed> {
        let per_multiprocessor = self.gpu.resident_blocks(self.id, threads as u32, shared_bytes as u32)?;
        Ok((per_multiprocessor * self.gpu.facts().multiprocessors) as usize)
    }
}

/// A captured sequence of kernels, fills and copies. The buffers that it uses must outlive it, and its kernels get the
/// numbers that were passed during the capture.
pub struct Graph {
    gpu: Gpu,
    id: GraphId,
}

impl Gpu {
    /// Compiles `program` for this device with `VALUE_T` defined as the type of `T` and with the given constants. A
    /// combination is compiled only once.
    pub fn compile<T: Scalar>(
        &self,
        program: &'static Program,
        constants: &[(&'static str, usize)],
    ) -> Result<Module, Unprepared> {
        let key = (program.name, T::PRECISION, constants.to_vec());
        let known = self.0.modules.borrow().get(&key).copied();
        if let Some(id) = known {
            return Ok(Module { gpu: self.clone(), id });
        }
        sources::replaced_from()?;
        let id = self.loading(|| self.0.driver.compile(program, T::PRECISION, constants))?;
        self.0.modules.borrow_mut().insert(key, id);
        Ok(Module { gpu: self.clone(), id })
    }

    /// Captures the work that `work` enqueues, without running it. It must not wait or allocate, which cannot be
    /// captured.
    pub fn capture(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Graph, Failed> {
        self.begin_capture()?;
        self.0.latest.take();
        let done = work();
        // A failed capture must also be ended; otherwise nothing runs any more.
        let captured = self.end_capture();
        let graph = captured.map(|id| Graph { gpu: self.clone(), id });
        done?;
        graph
    }
}

impl Graph {
    /// Enqueues the whole graph as one stage.
    pub fn launch(&self) -> Result<(), Failed> {
        self.gpu.launch_graph(self.id)?;
        self.gpu.enqueued("graph", || Ok(None))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.gpu.release_graph(self.id);
    }
}

/// What can be passed to a kernel: a number, a buffer, or several of them, one after the other.
///
/// # Safety
/// `append` must add values inside `self`, with their kinds and sizes.
pub unsafe trait Argument {
    fn append(&self, to: &mut Vec<RawArgument>);
}

pub(super) fn append<V>(value: &V, kind: ArgumentKind, to: &mut Vec<RawArgument>) {
    to.push(RawArgument { value: ptr::from_ref(value).cast(), bytes: size_of::<V>(), kind });
}

macro_rules! number {
    ($($number:ty: $kind:ident),*) => {$(
        // SAFETY: the argument is `self` and has its type.
        unsafe impl Argument for $number {
            fn append(&self, to: &mut Vec<RawArgument>) {
                append(self, ArgumentKind::$kind, to);
            }
        }
    )*};
}
number!(i32: Integer, u32: Integer, u64: Integer, f32: Float, f64: Float);

// SAFETY: the arguments are inside the reference's target.
unsafe impl<A: Argument + ?Sized> Argument for &A {
    fn append(&self, to: &mut Vec<RawArgument>) {
        (**self).append(to);
    }
}

// SAFETY: the arguments are inside the elements.
unsafe impl<A: Argument, const N: usize> Argument for [A; N] {
    fn append(&self, to: &mut Vec<RawArgument>) {
        self.iter().for_each(|element| element.append(to));
    }
}
