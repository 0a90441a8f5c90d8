//! What stands behind a [`Gpu`](super::Gpu).

use std::ffi::c_void;
use std::time::Duration;

use ptx_machine::model::Cure;

use super::counts::Counts;
use super::cusparse::CuSparse;
use super::facts::{Clocks, Facts};
use super::kernel::{Dim3, Program};
use crate::method::{Device, Failed, Unavailable, Unprepared};
use crate::scalar::Precision;

/// An address in device memory; 0 holds nothing.
pub type Address = u64;

/// A compiled program, as its driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(pub usize);

/// A kernel of a compiled program, as its driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelId(pub usize);

/// A moment in the stream, as its driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(pub usize);

/// Work that was captured as a CUDA graph, as its driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphId(pub usize);

/// An argument as a launch takes it.
#[derive(Clone, Copy, Debug)]
pub struct RawArgument {
    /// Where the value lies.
    pub value: *const c_void,
    /// Its size.
    pub bytes: usize,
    /// What it is.
    pub kind: ArgumentKind,
}

/// What a parameter of a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ArgumentKind {
    /// A pointer into device memory.
    Pointer = b'p',
    /// An integer, signed or not.
    Integer = b'i',
    /// A floating-point number.
    Float = b'f',
}

/// What a modelled device knows of itself.
pub struct Modelled {
    /// Its name.
    pub device: Device,
    /// The time that the host has spent on executing what was enqueued.
    pub host_time: Duration,
    /// The time that the device would have taken for it.
    pub device_time: Duration,
    /// The time between two kernels.
    pub launch_time: Duration,
    /// The rate at which its memory delivers, in GB/s.
    pub memory_gbs: f64,
    /// What the latest launch did, if a kernel was the latest that was enqueued.
    pub counts: Option<Counts>,
}

/// A device. What is enqueued (fill, copy, launch, record) runs in that order; errors of it may show
/// in any later call. Error texts name the call and, for a launch, the kernel.
pub trait Driver {
    /// What the device is.
    fn facts(&self) -> &Facts;

    /// The clocks at this moment; `None` when nobody tells.
    fn clocks(&self) -> Option<Clocks>;

    /// Bytes of memory that are free, and all there are.
    fn memory(&self) -> Result<(u64, u64), Failed>;

    /// Memory of `bytes` > 0, aligned to 256 bytes; what it holds is arbitrary.
    fn allocate(&self, bytes: usize) -> Result<Address, Failed>;

    /// Gives memory back, after what was enqueued.
    fn release(&self, address: Address);

    /// Copies from the host, after what was enqueued, and waits.
    fn upload(&self, from: &[u8], to: Address) -> Result<(), Failed>;

    /// Copies to the host, after what was enqueued, and waits.
    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed>;

    /// Enqueues setting `bytes` bytes.
    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed>;

    /// Enqueues a copy within the device.
    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed>;

    /// Compiles `program` with `VALUE_T` defined as `float` or `double` and every constant as given.
    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared>;

    /// A kernel by name.
    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed>;

    /// How many blocks of `threads` threads that use `shared_bytes` of dynamic shared memory one
    /// multiprocessor holds at once.
    fn resident_blocks(
        &self,
        kernel: KernelId,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Failed>;

    /// Enqueues a kernel; neither grid nor block is empty.
    ///
    /// # Safety
    /// The arguments are those of the kernel's signature and point to values that live until the
    /// call returns.
    unsafe fn launch(
        &self,
        kernel: KernelId,
        grid: Dim3,
        block: Dim3,
        shared_bytes: u32,
        arguments: &[RawArgument],
    ) -> Result<(), Failed>;

    /// Begins a capture: what is enqueued from now on is noted for a graph and does not run.
    fn begin_capture(&self) -> Result<(), Failed>;

    /// Ends the capture and makes a graph of what it noted, ready to be launched.
    fn end_capture(&self) -> Result<GraphId, Failed>;

    /// Enqueues all the work of a graph.
    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed>;

    /// Gives a graph back, after what was enqueued.
    fn release_graph(&self, graph: GraphId);

    /// Waits until all that was enqueued has run, in whatever stream a library enqueued it.
    fn synchronize(&self) -> Result<(), Failed>;

    /// Enqueues the taking of the time.
    fn record(&self) -> Result<Event, Failed>;

    /// Waits for the last event and gives the times between neighbours. All the events are used up.
    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed>;

    /// What a modelled device knows of itself; `None` for a real one.
    fn modelled(&self) -> Option<Modelled> {
        None
    }

    /// Empties the caches of a modelled device, which needs no time for it.
    fn evict(&self) {}

    /// From now on a modelled device is timed as if a problem of its kernels were cured.
    fn cure(&self, problem: Cure) {
        let _ = problem;
    }

    /// Lets a profiler that is attached begin to look, or end.
    fn profile(&self, look: bool) -> Result<(), Failed>;

    /// cuSPARSE in this device's stream.
    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable>;
}
