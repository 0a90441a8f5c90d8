//! The interface that a [`Gpu`](super::Gpu) needs from a real or modelled device.

use std::ffi::c_void;
use std::time::Duration;

use ptx_machine::model::Cure;

use super::cusparse::CuSparse;
use super::errors::{Failed, Unavailable, Unprepared};
use super::program::Program;
use spmv_matrix::device::Device;
use spmv_matrix::device::counts::Counts;
use spmv_matrix::device::facts::{Activity, Clocks, Energy, Facts};
use spmv_matrix::scalar::Precision;

pub use super::launch::{Address, ArgumentKind, Event, GraphId, KernelId, KernelLaunch, ModuleId, RawArgument};

pub struct Modelled {
    pub device: Device,
    /// The time that the host has spent on executing the enqueued work.
    pub host_time: Duration,
    /// The time that the device would have needed for this work.
    pub device_time: Duration,
    /// The time between two kernels.
    pub launch_time: Duration,
    pub memory_gbs: f64,
    /// The counts of the latest launch, if the latest enqueued operation was a kernel.
    pub counts: Option<Counts>,
}

/// A device. Enqueued work (fill, copy, launch, record) runs in order; its errors may be returned by any later call.
/// Error messages name the call and, for a launch, the kernel.
pub trait Driver {
    fn facts(&self) -> &Facts;

    fn clocks(&self) -> Option<Clocks>;

    /// Returns what the device does for others, or `None` if it does not report that.
    fn activity(&self) -> Option<Activity>;

    /// Returns the energy that the device has used so far, or `None` if it has no counter.
    fn energy(&self) -> Option<Energy> {
        None
    }

    /// Returns the bytes of free memory and of all memory.
    fn memory(&self) -> Result<(u64, u64), Failed>;

    /// Allocates `bytes` > 0 bytes, aligned to 256 bytes. Their contents are undefined.
    fn allocate(&self, bytes: usize) -> Result<Address, Failed>;

    /// Releases memory after the enqueued work has run.
    fn release(&self, address: Address);

    /// Copies these bytes from the host to these addresses after the enqueued work has run, and waits for the copies.
    fn upload(&self, parts: &[(&[u8], Address)]) -> Result<(), Failed>;

    /// Copies to the host after the enqueued work has run, and waits for the copy.
    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed>;

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed>;

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed>;

    /// Compiles `program` with `VALUE_T` defined as `float` or `double` and with the given constants.
    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared>;

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed>;

    /// Returns the number of blocks of `threads` threads with `shared` bytes of dynamic shared memory that can be
    /// resident on one multiprocessor.
    fn resident_blocks(&self, kernel: KernelId, threads: u32, shared: u32) -> Result<u32, Failed>;

    /// Enqueues a kernel.
    ///
    /// # Safety
    /// The arguments must match the kernel's signature and point to values that live until the call returns.
    unsafe fn launch(&self, launch: KernelLaunch, arguments: &[RawArgument]) -> Result<(), Failed>;

    /// Starts a capture: work that is enqueued from now on is added to a graph and does not run.
    fn begin_capture(&self) -> Result<(), Failed>;

    /// Ends the capture and returns its graph, ready to be launched.
    fn end_capture(&self) -> Result<GraphId, Failed>;

    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed>;

    /// Releases a graph after the enqueued work has run.
    fn release_graph(&self, graph: GraphId);

    /// Waits until all enqueued work has run, including work in streams of libraries.
    fn synchronize(&self) -> Result<(), Failed>;

    /// Enqueues the recording of the current time.
    fn record(&self) -> Result<Event, Failed>;

    /// Waits for the last event and returns the times between consecutive events. The events become invalid.
    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed>;

    /// Returns the time since a fixed moment, with which the host's time to enqueue work is measured. It stands still
    /// on a model, which executes work while it is enqueued.
    fn host_clock(&self) -> Duration;

    /// Returns the properties and times of a modelled device, or `None` for a real one.
    fn modelled(&self) -> Option<Modelled> {
        None
    }

    /// Sets aside a part of the second-level cache for these bytes, which persist there in all work that is enqueued
    /// from now on. Returns the size of this part: 0 if the device cannot set aside any. 0 bytes end this.
    fn persist(&self, address: Address, bytes: usize) -> Result<u64, Failed>;

    /// Empties the caches of a modelled device, which takes no modelled time.
    fn evict(&self) {}

    /// Makes a modelled device compute all later times as if its kernels did not have a problem.
    fn cure(&self, problem: Cure) {
        let _ = problem;
    }

    /// Starts or stops the recording of an attached profiler.
    fn profile(&self, start: bool) -> Result<(), Failed>;

    /// Returns the stream as the CUDA driver's handle, with its context as the current one of the calling thread.
    fn stream(&self) -> Result<*mut c_void, Unavailable> {
        Err(Unavailable("it needs a GPU: a modelled one executes only PTX".into()))
    }

    /// Returns the cuSPARSE library, which uses this device's stream.
    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable>;
}
