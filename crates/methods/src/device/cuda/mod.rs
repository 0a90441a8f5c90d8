//! NVIDIA's GPUs through the CUDA driver. Building the program needs no part of CUDA: the driver, the compiler and
//! cuSPARSE are opened at run time, and a missing one results in a message instead of a panic.

mod api;
mod code;
mod context;
pub mod cusparse;
pub mod editions;
mod events;
mod facts;
mod graphs;
mod kernels;
mod libraries;
mod nvml;
pub mod nvrtc;
mod persistence;
pub mod precompiled;
pub mod usage;

use std::cell::OnceCell;
use std::ffi::c_void;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nvml_wrapper::Device;

use super::Gpu;
use super::cusparse::CuSparse;
use super::driver::{Address, Driver, Event, GraphId, KernelId, ModuleId, RawArgument};
use super::facts::{Activity, Clocks, Facts};
use super::kernel::{Dim3, Program};
use crate::device::{Failed, Unavailable, Unprepared};
pub use api::NAME as DRIVER;
use code::MachineCode;
use context::Context;
use cusparse::InStream;
use editions::Target;
use events::Events;
use graphs::Graphs;
use kernels::Kernels;
use spmv_matrix::scalar::Precision;

/// Opens the GPU with the given number, or the first.
pub fn open(number: Option<usize>) -> Result<Gpu, Unavailable> {
    Cuda::open(Rc::new(Context::open(number)?))
        .map(Gpu::new)
        .map_err(|Failed(reason)| Unavailable(reason))
}

/// A GPU. The fields are dropped in this order: all others before the context, which they share.
struct Cuda {
    /// The fixed moment of [`Driver::host_clock`].
    opened: Instant,
    facts: Facts,
    monitor: Option<Device<'static>>,
    target: Target,
    code: MachineCode,
    kernels: Kernels,
    events: Events,
    graphs: Graphs,
    /// cuSPARSE, which is opened at its first use.
    cusparse: OnceCell<Result<InStream, Unavailable>>,
    context: Rc<Context>,
}

impl Cuda {
    fn open(context: Rc<Context>) -> Result<Self, Failed> {
        let target = facts::target(&context)?;
        let code = MachineCode::new(target);
        Ok(Self {
            opened: Instant::now(),
            facts: facts::facts(&context, &target, &code)?,
            monitor: nvml::device(&facts::bus_id(&context)?),
            target,
            code,
            kernels: Kernels::new(context.clone())?,
            events: Events::new(context.clone()),
            graphs: Graphs::new(context.clone()),
            cusparse: OnceCell::new(),
            context,
        })
    }
}

impl Driver for Cuda {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn clocks(&self) -> Option<Clocks> {
        nvml::clocks(self.monitor.as_ref()?)
    }

    fn activity(&self) -> Option<Activity> {
        nvml::activity(self.monitor.as_ref()?)
    }

    fn memory(&self) -> Result<(u64, u64), Failed> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are valid for writes.
        let status = unsafe { (self.context.enter().cuMemGetInfo_v2)(&mut free, &mut total) };
        self.context.check(status, || "cuMemGetInfo".into())?;
        Ok((free as u64, total as u64))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Failed> {
        let mut address = 0;
        // SAFETY: the pointer is valid for writes.
        let status = unsafe { (self.context.enter().cuMemAlloc_v2)(&mut address, bytes) };
        self.context.check(status, || format!("cuMemAlloc of {bytes} bytes"))?;
        Ok(address)
    }

    fn release(&self, address: Address) {
        // SAFETY: the memory was allocated here and is released once; the call waits for the enqueued work. Its status
        // is ignored: nothing can be done.
        unsafe { (self.context.enter().cuMemFree_v2)(address) };
    }

    fn upload(&self, parts: &[(&[u8], Address)]) -> Result<(), Failed> {
        let (copy, stream) = (self.context.enter().cuMemcpyHtoDAsync_v2, self.context.stream);
        let copied = parts.iter().try_for_each(|&(from, to)| {
            let bytes = from.len();
            // SAFETY: both buffers have this length, and the source lives until the stream was synchronised.
            let status = unsafe { copy(to, from.as_ptr().cast(), bytes, stream) };
            self.context.check(status, || format!("cuMemcpyHtoD of {bytes} bytes"))
        });
        // Copies that were enqueued before an error still read their sources.
        let waited = self.context.synchronize(" of an upload");
        copied.and(waited)
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        let (copy, stream) = (self.context.enter().cuMemcpyDtoHAsync_v2, self.context.stream);
        // SAFETY: both buffers have this length, and the target lives until the copy is done.
        let status = unsafe { copy(to.as_mut_ptr().cast(), from, to.len(), stream) };
        let bytes = to.len();
        self.context.check(status, || format!("cuMemcpyDtoH of {bytes} bytes"))?;
        self.context.synchronize(" of a download")
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed> {
        let set = self.context.enter().cuMemsetD8Async;
        // SAFETY: the buffer has this length.
        let status = unsafe { set(to, byte, bytes, self.context.stream) };
        self.context.check(status, || format!("cuMemsetD8 of {bytes} bytes"))
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed> {
        let copy = self.context.enter().cuMemcpyDtoDAsync_v2;
        // SAFETY: both buffers have this length.
        let status = unsafe { copy(to, from, bytes, self.context.stream) };
        self.context.check(status, || format!("cuMemcpyDtoD of {bytes} bytes"))
    }

    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared> {
        let cubin = self.code.of(program, precision, constants)?;
        self.kernels.load(program.name, &cubin).map_err(|Failed(reason)| {
            let Facts { driver, nvrtc, .. } = &self.facts;
            Failed(format!("{reason}; {driver}; {nvrtc}")).into()
        })
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        self.kernels.kernel(module, name)
    }

    fn resident_blocks(
        &self,
        kernel: KernelId,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Failed> {
        self.kernels.resident_blocks(kernel, threads, shared_bytes)
    }

    unsafe fn launch(
        &self,
        kernel: KernelId,
        grid: Dim3,
        block: Dim3,
        shared_bytes: u32,
        arguments: &[RawArgument],
        dependent: bool,
    ) -> Result<(), Failed> {
        // SAFETY: the caller guarantees the arguments.
        unsafe { self.kernels.launch(kernel, grid, block, shared_bytes, arguments, dependent) }
    }

    fn persist(&self, address: Address, bytes: usize) -> Result<u64, Failed> {
        persistence::persist(&self.context, address, bytes)
    }

    fn begin_capture(&self) -> Result<(), Failed> {
        self.graphs.begin()
    }

    fn end_capture(&self) -> Result<GraphId, Failed> {
        self.graphs.end()
    }

    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed> {
        self.graphs.launch(graph)
    }

    fn release_graph(&self, graph: GraphId) {
        self.graphs.release(graph);
    }

    fn synchronize(&self) -> Result<(), Failed> {
        self.context.synchronize_all()
    }

    fn record(&self) -> Result<Event, Failed> {
        self.events.record()
    }

    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        self.events.times(events)
    }

    fn host_clock(&self) -> Duration {
        self.opened.elapsed()
    }

    fn profile(&self, start: bool) -> Result<(), Failed> {
        let functions = self.context.enter();
        let (call, function) = match start {
            true => ("cuProfilerStart", functions.cuProfilerStart),
            false => ("cuProfilerStop", functions.cuProfilerStop),
        };
        // SAFETY: the functions have no arguments.
        self.context.check(unsafe { function() }, || call.into())
    }

    fn stream(&self) -> Result<*mut c_void, Unavailable> {
        self.context.enter();
        Ok(self.context.stream.cast())
    }

    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        let open = || InStream::open(cusparse::library(&self.target)?, self.context.clone());
        let opened = self.cusparse.get_or_init(open);
        opened.as_ref().map(|cusparse| cusparse as &dyn CuSparse).map_err(Clone::clone)
    }
}
