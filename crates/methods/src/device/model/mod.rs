//! A modelled GPU: its kernels are executed exactly on the CPU by [`ptx_machine`], and their times are modelled.

mod code;
mod device_file;
mod driver;
mod graph;
pub mod occupancy;
mod timing;
pub mod written;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use ptx_machine::fault::Kind;
use ptx_machine::program::Parameter;
use ptx_machine::{Fault, Kernel, Launch, Machine, Start};

use super::counts::Counts;
use super::cuda::usage::Usage;
use super::cusparse::CuSparse;
use super::driver::{Address, Driver};
use super::facts::{Activity, Clocks, Facts};
use super::kernel::{Dim3, Program};
use crate::device::{Device, Failed};
use code::Code;
pub use device_file::DeviceFile;
use graph::{Graphs, Value, Work};
use occupancy::Limits;
use spmv_matrix::scalar::Precision;
use timing::{Timed, Timing};

/// The time of every enqueued operation if times are not modelled.
const TICK: Duration = Duration::from_millis(1);

/// A driver that executes kernels on the CPU and models their time on a GPU.
pub struct Model {
    facts: Facts,
    limits: Limits,
    /// An additional limit on the resident blocks of a multiprocessor.
    most_blocks: u32,
    machine: Rc<RefCell<Machine>>,
    modules: RefCell<Vec<Rc<Loaded>>>,
    kernels: RefCell<Vec<(Rc<Loaded>, usize)>>,
    /// The architecture that kernels are compiled for.
    architecture: (u32, u32),
    /// The device name and the performance model; `None` if every operation takes [`TICK`].
    timing: Option<(Device, RefCell<Timing>)>,
    /// The modelled time of all work so far.
    now: Cell<Duration>,
    /// The time that the host needed to execute and model the launches so far.
    host_time: Cell<Duration>,
    /// The counts of the last launch.
    counts: RefCell<Option<Counts>>,
    /// The recorded work of the current capture, if one has begun.
    capture: RefCell<Option<Vec<Work>>>,
    graphs: Graphs,
    cusparse: Option<Box<dyn CuSparse>>,
    rewrite: Option<Box<Rewrite>>,
    clocks: Option<Clocks>,
    activity: Option<Activity>,
    /// Whether a kernel has failed. The device rejects all further work then, as with CUDA.
    lost: Cell<bool>,
}

/// A function that maps a program with its precision and constants to the text that is compiled instead.
type Rewrite = dyn Fn(&Program, Precision, &[(&'static str, usize)]) -> String;

/// A compiled program on the device.
struct Loaded {
    name: &'static str,
    source: String,
    code: Code,
    /// The addresses of its variables; 0 for unused ones.
    variables: Vec<Address>,
}

impl Loaded {
    /// Returns the number of variables that occupy memory.
    fn in_memory(&self) -> usize {
        self.variables.iter().filter(|&&address| address != 0).count()
    }

    fn kernel(&self, number: usize) -> &Kernel {
        &self.code.ptx.kernels[number]
    }

    fn usage(&self, number: usize) -> Usage {
        let name = &self.kernel(number).name;
        let usage = self.code.usage.iter().find(|usage| usage.kernel == *name);
        usage.cloned().unwrap_or_default()
    }
}

impl Model {
    /// Creates a GPU with these properties and limits. With a seed, every access is checked and the warps run in a
    /// random order.
    pub fn new(facts: Facts, limits: Limits, seed: Option<u64>) -> Self {
        // The gaps between buffers need additional memory.
        let room = usize::try_from(facts.memory_bytes).unwrap_or(usize::MAX).saturating_mul(2);
        Self {
            architecture: facts.compute_capability,
            facts,
            limits,
            most_blocks: u32::MAX,
            machine: Rc::new(RefCell::new(Machine::new(room, seed))),
            modules: RefCell::default(),
            kernels: RefCell::default(),
            timing: None,
            now: Cell::default(),
            host_time: Cell::default(),
            counts: RefCell::default(),
            capture: RefCell::default(),
            graphs: Graphs::default(),
            cusparse: None,
            rewrite: None,
            clocks: None,
            activity: None,
            lost: Cell::default(),
        }
    }

    /// Creates a GPU from a device file, with modelled times. `name` is the name in `--device`.
    pub fn of_file(name: &str, file: &DeviceFile) -> Self {
        let timing = (Device::model(name), RefCell::new(Timing::new(file.gpu())));
        let mut model = Self::new(file.facts(), file.limits(), None);
        model.architecture = file.architecture();
        model.timing = Some(timing);
        model
    }

    /// Creates an imaginary GPU with all checks for tests. It is so small that small matrices fill it.
    pub fn tiny(seed: u64) -> Self {
        let facts = Facts {
            name: "model of a tiny GPU".into(),
            compute_capability: (9, 0),
            multiprocessors: 4,
            warp_size: 32,
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: 2048,
            shared_bytes_per_block: 48 << 10,
            shared_bytes_per_multiprocessor: 228 << 10,
            l2_bytes: 64 << 10,
            memory_bytes: 1 << 30,
            clock_mhz: 1,
            memory_clock_mhz: 1000,
            memory_bus_bits: 64,
            driver: "model".into(),
            nvrtc: "model".into(),
            cusparse: "model".into(),
        };
        let limits = Limits {
            threads: 2048,
            blocks: 32,
            registers: 64 << 10,
            shared: 228 << 10,
            shared_reserved: 1 << 10,
        };
        let mut tiny = Self::new(facts, limits, Some(seed));
        tiny.most_blocks = 2;
        tiny
    }

    /// Returns access to the memory of the device for a fake library.
    pub fn host_access(&self) -> HostAccess {
        HostAccess(self.machine.clone())
    }

    /// Sets a fake cuSPARSE.
    pub fn with_cusparse(mut self, cusparse: Box<dyn CuSparse>) -> Self {
        self.cusparse = Some(cusparse);
        self
    }

    /// Sets the size of the memory in bytes.
    pub fn with_room_for(mut self, bytes: u64) -> Self {
        self.facts.memory_bytes = bytes;
        self
    }

    /// Returns a function that returns the maximum total size of all buffers so far, in bytes.
    pub fn peak(&self) -> impl Fn() -> u64 + use<> {
        let machine = self.machine.clone();
        move || machine.borrow().memory.allocated_bytes().1
    }

    /// Sets a function that returns the text to compile instead of each program's text.
    pub fn rewriting(
        mut self,
        rewrite: impl Fn(&Program, Precision, &[(&'static str, usize)]) -> String + 'static,
    ) -> Self {
        self.rewrite = Some(Box::new(rewrite));
        self
    }

    /// Records `work` if a capture has begun. Returns false if not, so that the caller runs the work.
    fn captured(&self, work: impl FnOnce() -> Work) -> bool {
        self.capture.borrow_mut().as_mut().map(|noted| noted.push(work())).is_some()
    }

    /// Returns an error if a capture has begun. As with CUDA, work that waits or allocates cannot be captured.
    fn check_no_capture(&self, what: &str) -> Result<(), Failed> {
        match &*self.capture.borrow() {
            Some(_) => Err(Failed(format!("{what} cannot be captured"))),
            None => Ok(()),
        }
    }

    fn check_alive(&self) -> Result<(), Failed> {
        match self.lost.get() {
            true => Err(Failed("the context is lost: a kernel has failed".into())),
            false => Ok(()),
        }
    }

    /// Advances the time for an operation that transfers `bytes` bytes.
    fn enqueue(&self, bytes: usize, in_graph: bool) -> Result<(), Failed> {
        let takes = self.timing.as_ref().map_or(TICK, |(_, timing)| {
            let timing = timing.borrow();
            timing.gap(in_graph) + timing.moving(bytes)
        });
        self.now.set(self.now.get() + takes);
        self.counts.take();
        self.check_alive()
    }

    /// Informs the performance model that a copy or a fill has written memory.
    fn written(&self, to: Address, bytes: usize, from_host: bool) {
        if let Some((_, timing)) = &self.timing {
            timing.borrow_mut().written(to, bytes, from_host);
        }
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize, in_graph: bool) -> Result<(), Failed> {
        self.enqueue(bytes, in_graph)?;
        self.written(to, bytes, false);
        self.machine.borrow_mut().memory.fill(to, byte, bytes).map_err(outside)
    }

    fn copy(&self, from: Address, to: Address, bytes: usize, in_graph: bool) -> Result<(), Failed> {
        self.enqueue(2 * bytes, in_graph)?;
        self.written(to, bytes, false);
        self.machine.borrow_mut().memory.copy(from, to, bytes).map_err(outside)
    }

    fn resident(&self, loaded: &Loaded, kernel: usize, threads: u32, shared_bytes: u32) -> u32 {
        let blocks = self.limits.blocks(&loaded.usage(kernel), threads, shared_bytes);
        blocks.min(self.most_blocks)
    }

    fn run(
        &self,
        (loaded, number): &(Rc<Loaded>, usize),
        grid: Dim3,
        block: Dim3,
        shared_bytes: u32,
        values: &[Value],
        dependent: bool,
    ) -> Result<(), Failed> {
        let kernel = loaded.kernel(*number);
        let arguments = packed(kernel, values)?;
        let threads = block.x * block.y * block.z;
        let per_multiprocessor = self.resident(loaded, *number, threads, shared_bytes);
        let shared = kernel.shared_bytes + shared_bytes as usize;
        let most = self.facts.shared_bytes_per_block;
        if shared > most as usize {
            return Err(Failed(format!(
                "{}: {shared} bytes of shared memory per block, {shared_bytes} of them dynamic, but at most {most} are \
                 allowed",
                kernel.name
            )));
        }
        if per_multiprocessor == 0 {
            return Err(Failed(format!(
                "{}: a block of {threads} threads and {shared_bytes} bytes of dynamic shared memory does \
                 not fit on a multiprocessor",
                kernel.name
            )));
        }
        let launch = Launch {
            start: Start {
                kernel,
                arguments: &arguments,
                variables: &loaded.variables,
                grid: [grid.x, grid.y, grid.z],
                shape: [block.x, block.y, block.z],
                dynamic_shared: shared_bytes as usize,
            },
            resident: (per_multiprocessor * self.facts.multiprocessors) as usize,
            dependent,
        };
        let usage = loaded.usage(*number);
        let timed = Timed {
            launch: &launch,
            usage: &usage,
            source: (loaded.name, &loaded.source),
            per_multiprocessor: per_multiprocessor as usize,
            most_warps: self.limits.threads as usize / 32,
            most_per_multiprocessor: self.limits.most_blocks(threads) as usize,
        };
        self.execute(&timed).map_err(|fault| {
            // A launch with invalid parameters does not damage the context.
            self.lost.set(fault.kind != Kind::Launch);
            Failed(fault.to_string())
        })
    }

    fn execute(&self, timed: &Timed) -> Result<(), Box<Fault>> {
        let start = Instant::now();
        let machine = &mut *self.machine.borrow_mut();
        let Some((_, timing)) = &self.timing else { return machine.launch(timed.launch) };
        let (time, counts) = timing.borrow_mut().run(machine, timed)?;
        self.now.set(self.now.get() + time);
        self.host_time.set(self.host_time.get() + start.elapsed());
        *self.counts.borrow_mut() = Some(counts);
        Ok(())
    }

    /// Allocates and initialises the variables that the kernels of a program use.
    fn load(&self, name: &'static str, source: String, code: Code) -> Result<Loaded, Failed> {
        let mut variables = vec![0; code.ptx.variables.len()];
        for (number, variable) in code.ptx.variables.iter().enumerate() {
            if code.ptx.kernels.iter().any(|kernel| kernel.uses(number)) && variable.bytes > 0 {
                let mut bytes = variable.initial.clone();
                bytes.resize(variable.bytes, 0);
                variables[number] = self.allocate(bytes.len())?;
                self.upload(&[(&bytes, variables[number])])?;
            }
        }
        Ok(Loaded { name, source, code, variables })
    }
}

/// Access of the host to the memory of a modelled GPU.
pub struct HostAccess(Rc<RefCell<Machine>>);

impl HostAccess {
    /// Copies bytes from the device.
    ///
    /// # Errors
    /// Returns an error if the bytes are not in one buffer.
    pub fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        self.0.borrow().memory.download(from, to).map_err(outside)
    }

    /// Copies bytes to the device.
    ///
    /// # Errors
    /// Returns an error if the bytes are not in one buffer.
    pub fn upload(&self, from: &[u8], to: Address) -> Result<(), Failed> {
        self.0.borrow_mut().memory.upload(from, to).map_err(outside)
    }
}

/// Returns the bytes of the arguments in the layout of the kernel's parameters, whose sizes and kinds they must match.
fn packed(kernel: &Kernel, values: &[Value]) -> Result<Vec<u8>, Failed> {
    let (name, parameters) = (&kernel.name, &kernel.parameters);
    if values.len() != parameters.len() {
        let (given, taken) = (values.len(), parameters.len());
        return Err(Failed(format!("{name}: {given} arguments for {taken} parameters")));
    }
    let mut bytes = vec![0; parameters.last().map_or(0, Parameter::end)];
    for (number, (value, parameter)) in values.iter().zip(parameters).enumerate() {
        let given = (value.bytes().len(), value.is_float());
        if given != (parameter.bytes, parameter.is_float) {
            return Err(Failed(format!(
                "{name}: argument {number} is {} and not {}",
                kind_in_words(given),
                kind_in_words((parameter.bytes, parameter.is_float))
            )));
        }
        bytes[parameter.offset..parameter.end()].copy_from_slice(value.bytes());
    }
    Ok(bytes)
}

fn kind_in_words((bytes, is_float): (usize, bool)) -> String {
    let kind = if is_float { "a floating-point number" } else { "an integer or a pointer" };
    format!("{kind} of {bytes} bytes")
}

fn outside(error: ptx_machine::memory::Outside) -> Failed {
    Failed(format!("the host accesses {error}"))
}

impl Drop for Model {
    /// Checks in tests that all buffers and graphs were released. A leak would reduce the memory for other methods.
    fn drop(&mut self) {
        let of_modules: usize = self.modules.borrow().iter().map(|loaded| loaded.in_memory()).sum();
        let left = self.machine.borrow().memory.buffers() - of_modules;
        let graphs = self.graphs.count();
        assert!(
            left + graphs == 0 || self.timing.is_some() || std::thread::panicking(),
            "{left} buffers and {graphs} graphs were not released"
        );
    }
}
