//! A driver that records the calls in order and forwards them to the model.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, FakeClock};
use spmv_matrix::scalar::Precision;
use spmv_methods::device::Program;
use spmv_methods::device::cusparse::CuSparse;
use spmv_methods::device::driver::{Address, Driver, Event, GraphId, KernelId, KernelLaunch, ModuleId, RawArgument};
use spmv_methods::device::facts::{Activity, Clocks, Facts};
use spmv_methods::device::model::Model;
use spmv_methods::method::{Failed, Unavailable, Unprepared};

use crate::forward::of_the_model;

/// The time for loading a kernel, by the real clock, as that of the compiler.
const LOADING: Duration = Duration::from_millis(2);
/// The number of operations in another stream or of another program, each as long as a kernel.
const LEFT: usize = 20;
/// The time for opening the library.
const OPENING: Duration = Duration::from_millis(300);

pub struct Recorder {
    model: Model,
    kernels: RefCell<Vec<String>>,
    /// The recorded calls: kernels by name, `|` for an event, other calls in brackets.
    pub log: Rc<RefCell<Vec<String>>>,
    /// The clock that advances when the library is opened, which is slow then; `None` once it is open.
    pub opening: RefCell<Option<Rc<FakeClock>>>,
    /// The memory on which a library works in a stream of its own, or another program works.
    elsewhere: Option<Address>,
    /// Whether another program works all the time.
    is_shared: bool,
    /// The clock of a host that takes time to launch a kernel, and this time. The GPU's operations take a microsecond
    /// then.
    pub host: Option<(Rc<FakeClock>, Duration)>,
    /// The cycles for which each launch of `probe_spin` occupies the GPU.
    pub leads: Rc<RefCell<Vec<u64>>>,
}

impl Recorder {
    pub fn new(model: Model) -> Self {
        Self {
            model,
            kernels: RefCell::default(),
            log: Rc::default(),
            opening: RefCell::default(),
            elsewhere: None,
            is_shared: false,
            host: None,
            leads: Rc::default(),
        }
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
    of_the_model! {
        fn compile(
            program: &Program, precision: Precision, constants: &[(&'static str, usize)]
        ) -> Result<ModuleId, Unprepared>;
        fn resident_blocks(kernel: KernelId, threads: u32, shared: u32) -> Result<u32, Failed>;
        "[clocks]" fn clocks() -> Option<Clocks>;
        "[wait]" fn download(from: Address, to: &mut [u8]) -> Result<(), Failed>;
        "[fill]" fn fill(to: Address, byte: u8, bytes: usize) -> Result<(), Failed>;
        "[copy]" fn copy(from: Address, to: Address, bytes: usize) -> Result<(), Failed>;
        "[capture]" fn begin_capture() -> Result<(), Failed>;
        "[captured]" fn end_capture() -> Result<GraphId, Failed>;
        "[graph]" fn launch_graph(graph: GraphId) -> Result<(), Failed>;
        "|" fn record() -> Result<Event, Failed>;
    }

    fn upload(&self, parts: &[(&[u8], Address)]) -> Result<(), Failed> {
        for (from, _) in parts {
            self.note(if from.len() == size_of::<f64>() { "[value]" } else { "[wait]" });
        }
        self.model.upload(parts)
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        std::thread::sleep(LOADING);
        let kernel = self.model.kernel(module, name)?;
        self.kernels.borrow_mut().resize(kernel.0 + 1, name.into());
        Ok(kernel)
    }

    unsafe fn launch(&self, launch: KernelLaunch, arguments: &[RawArgument]) -> Result<(), Failed> {
        let name = &self.kernels.borrow()[launch.kernel.0];
        self.note(name);
        self.host.as_ref().inspect(|(clock, launch)| clock.pause(*launch));
        if name == "probe_spin" {
            // SAFETY: the only argument of this kernel is a number of 64 bits.
            self.leads.borrow_mut().push(unsafe { *arguments[0].value.cast() });
        }
        // SAFETY: the caller guarantees the arguments.
        unsafe { self.model.launch(launch, arguments) }
    }

    fn synchronize(&self) -> Result<(), Failed> {
        self.note("[wait]");
        if let Some(address) = self.elsewhere.filter(|_| self.is_shared || self.follows_a_product()) {
            (0..LEFT).try_for_each(|_| self.model.fill(address, 0, 256))?;
        }
        self.model.synchronize()
    }

    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        self.note("[wait]");
        let times = self.model.times(events)?;
        let divisor = if self.host.is_some() { 1000 } else { 1 };
        Ok(times.into_iter().map(|time| time / divisor).collect())
    }

    fn host_clock(&self) -> Duration {
        self.host.as_ref().map_or(Duration::ZERO, |(clock, _)| clock.now())
    }

    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        self.opening.take().inspect(|clock| clock.pause(OPENING));
        self.model.cusparse()
    }
}
