//! A driver that records the calls in order and forwards them to the model.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, FakeClock};
use spmv_matrix::scalar::Precision;
use spmv_methods::device::Program;
use spmv_methods::device::cusparse::CuSparse;
use spmv_methods::device::driver::{
    Address, Driver, Event, GraphId, KernelId, KernelLaunch, ModuleId, RawArgument,
};
use spmv_methods::device::facts::{Activity, Clocks, Facts};
use spmv_methods::device::model::Model;
use spmv_methods::method::{Failed, Unavailable, Unprepared};

/// The recorded calls: kernels by name, `|` for an event, other calls in brackets.
pub type Log = Rc<RefCell<Vec<String>>>;

/// The time for loading a kernel.
const LOADING: Duration = Duration::from_millis(2);
/// The number of operations in another stream or of another program, each as long as a kernel.
const LEFT: usize = 20;
/// The time for opening the library.
const OPENING: Duration = Duration::from_millis(300);

pub struct Recorder {
    model: Model,
    kernels: RefCell<Vec<String>>,
    log: Log,
    /// The clock that advances when the library is opened; `None` once it is open.
    opening: RefCell<Option<Rc<FakeClock>>>,
    /// The memory on which a library works in a stream of its own, or another program works.
    elsewhere: Option<Address>,
    /// Whether another program works all the time.
    is_shared: bool,
    host: Option<HostTime>,
}

/// A host that takes time to launch kernels, and a GPU whose operations take a microsecond.
struct HostTime {
    clock: Rc<FakeClock>,
    launch: Duration,
    leads: Leads,
}

/// The cycles for which each launch of `probe_spin` occupies the GPU.
pub type Leads = Rc<RefCell<Vec<u64>>>;

impl Recorder {
    /// Creates a recorder for `model`.
    pub fn new(model: Model) -> (Self, Log) {
        let log = Log::default();
        (
            Self {
                model,
                kernels: RefCell::default(),
                log: log.clone(),
                opening: RefCell::default(),
                elsewhere: None,
                is_shared: false,
                host: None,
            },
            log,
        )
    }

    /// Makes the library slow to open, by the given clock.
    pub fn opening_slowly(self, clock: Rc<FakeClock>) -> Self {
        self.opening.replace(Some(clock));
        self
    }

    /// Adds work to each product, in a stream of its own. Only calls that wait for all streams wait for it.
    pub fn working_elsewhere(mut self) -> Self {
        self.elsewhere = Some(self.model.allocate(256).unwrap());
        self
    }

    /// Adds another program, for which each call that waits for the device waits, too.
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self.working_elsewhere()
    }

    /// Makes the GPU fast, and the host take the time `launch` for each launch of a kernel, by the given clock.
    pub fn launching_slowly(mut self, clock: Rc<FakeClock>, launch: Duration) -> (Self, Leads) {
        let leads = Leads::default();
        self.host = Some(HostTime { clock, launch, leads: leads.clone() });
        (self, leads)
    }

    /// Returns whether the latest enqueued operation is a kernel of a method.
    fn follows_a_product(&self) -> bool {
        let log = self.log.borrow();
        log.iter()
            .rfind(|what| !["|", "[wait]"].contains(&&***what))
            .is_some_and(|what| !what.starts_with("probe_"))
    }

    fn note(&self, what: &str) {
        self.log.borrow_mut().push(what.into());
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.elsewhere.into_iter().for_each(|address| self.model.release(address));
    }
}

impl Driver for Recorder {
    fn facts(&self) -> &Facts {
        self.model.facts()
    }

    fn clocks(&self) -> Option<Clocks> {
        self.note("[clocks]");
        self.model.clocks()
    }

    fn activity(&self) -> Option<Activity> {
        None
    }

    fn memory(&self) -> Result<(u64, u64), Failed> {
        self.model.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Failed> {
        self.model.allocate(bytes)
    }

    fn release(&self, address: Address) {
        self.model.release(address);
    }

    fn upload(&self, parts: &[(&[u8], Address)]) -> Result<(), Failed> {
        for (from, _) in parts {
            self.note(if from.len() == size_of::<f64>() { "[value]" } else { "[wait]" });
        }
        self.model.upload(parts)
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        self.note("[wait]");
        self.model.download(from, to)
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed> {
        self.note("[fill]");
        self.model.fill(to, byte, bytes)
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed> {
        self.note("[copy]");
        self.model.copy(from, to, bytes)
    }

    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared> {
        self.model.compile(program, precision, constants)
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        std::thread::sleep(LOADING);
        let kernel = self.model.kernel(module, name)?;
        self.kernels.borrow_mut().resize(kernel.0 + 1, name.into());
        Ok(kernel)
    }

    fn resident_blocks(&self, kernel: KernelId, threads: u32, shared: u32) -> Result<u32, Failed> {
        self.model.resident_blocks(kernel, threads, shared)
    }

    unsafe fn launch(&self, launch: KernelLaunch, arguments: &[RawArgument]) -> Result<(), Failed> {
        let name = &self.kernels.borrow()[launch.kernel.0];
        self.note(name);
        if let Some(host) = &self.host {
            host.clock.pause(host.launch);
            if name == "probe_spin" {
                // SAFETY: the only argument of this kernel is a number of 64 bits.
                host.leads.borrow_mut().push(unsafe { *arguments[0].value.cast() });
            }
        }
        // SAFETY: the caller guarantees the arguments.
        unsafe { self.model.launch(launch, arguments) }
    }

    fn persist(&self, address: Address, bytes: usize) -> Result<u64, Failed> {
        self.model.persist(address, bytes)
    }

    fn begin_capture(&self) -> Result<(), Failed> {
        self.note("[capture]");
        self.model.begin_capture()
    }

    fn end_capture(&self) -> Result<GraphId, Failed> {
        self.note("[captured]");
        self.model.end_capture()
    }

    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed> {
        self.note("[graph]");
        self.model.launch_graph(graph)
    }

    fn release_graph(&self, graph: GraphId) {
        self.model.release_graph(graph);
    }

    fn synchronize(&self) -> Result<(), Failed> {
        self.note("[wait]");
        if let Some(address) = self.elsewhere.filter(|_| self.is_shared || self.follows_a_product())
        {
            (0..LEFT).try_for_each(|_| self.model.fill(address, 0, 256))?;
        }
        self.model.synchronize()
    }

    fn record(&self) -> Result<Event, Failed> {
        self.note("|");
        self.model.record()
    }

    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        self.note("[wait]");
        let times = self.model.times(events)?;
        let divisor = if self.host.is_some() { 1000 } else { 1 };
        Ok(times.into_iter().map(|time| time / divisor).collect())
    }

    fn host_clock(&self) -> Duration {
        self.host.as_ref().map_or(Duration::ZERO, |host| host.clock.now())
    }

    fn profile(&self, start: bool) -> Result<(), Failed> {
        self.model.profile(start)
    }

    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        self.opening.take().inspect(|clock| clock.pause(OPENING));
        self.model.cusparse()
    }
}
