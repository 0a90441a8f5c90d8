//! A modelled GPU: its kernels are executed exactly on the CPU by [`ptx_machine`], and their times are modelled.

mod device_file;
mod driver;
pub mod occupancy;
mod timing;
pub mod written;

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use ptx_machine::{Kernel, Machine, Program as Ptx};

use super::counts::Counts;
use super::cuda::editions::Target;
use super::cuda::nvrtc::{self, Compiled, Unit};
use super::cuda::usage::Usage;
use super::cusparse::CuSparse;
use super::driver::Address;
use super::facts::{Activity, Clocks, Facts};
use super::{Device, Failed, Program, Unprepared};
pub use device_file::DeviceFile;
use driver::Work;
use occupancy::Limits;
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::scalar::Precision;
use timing::Timing;

/// The time of every enqueued operation if times are not modelled.
const TICK: Duration = Duration::from_millis(1);

pub struct Model {
    pub facts: Facts,
    limits: Limits,
    /// An additional limit on the resident blocks of a multiprocessor.
    most_blocks: u32,
    /// What executes the kernels, with the memory of the device.
    pub machine: Rc<RefCell<Machine>>,
    modules: RefCell<Vec<Rc<Loaded>>>,
    kernels: RefCell<Vec<(Rc<Loaded>, usize)>>,
    architecture: (u32, u32),
    /// The device name and the performance model; `None` if every operation takes [`TICK`].
    timing: Option<(Device, RefCell<Timing>)>,
    /// The modelled time of all work so far.
    now: Cell<Duration>,
    /// The time that the host needed to execute and model the launches so far.
    host_time: Cell<Duration>,
    counts: RefCell<Option<Counts>>,
    /// The recorded work of the current capture, if one has begun.
    capture: RefCell<Option<Vec<Work>>>,
    /// The captured work of each graph; `None` marks a released one.
    graphs: RefCell<Vec<Option<Rc<Vec<Work>>>>>,
    pub cusparse: Option<Box<dyn CuSparse>>,
    /// Returns the text to compile instead of each program's text.
    pub rewrite: Option<Box<Rewrite>>,
    pub clocks: Option<Clocks>,
    pub activity: Option<Activity>,
    /// The watts by the counter of energy and by the sensor of power.
    pub watts: Option<[f64; 2]>,
    /// Whether a kernel has failed. The device rejects all further work then, as with CUDA.
    lost: Cell<bool>,
}

/// A function that maps a program with its precision and constants to the text that is compiled instead.
type Rewrite = dyn Fn(&Program, Precision, &[(&'static str, usize)]) -> String;

struct Loaded {
    name: &'static str,
    source: String,
    ptx: Ptx,
    /// The resource usage of each kernel on the GPU that it was compiled for; empty if times are not modelled.
    usage: Vec<Usage>,
    /// The addresses of its variables; 0 for unused ones.
    variables: Vec<Address>,
}

impl Loaded {
    fn kernel(&self, number: usize) -> &Kernel {
        &self.ptx.kernels[number]
    }

    fn usage(&self, kernel: &Kernel) -> Usage {
        let usage = self.usage.iter().find(|usage| usage.kernel == kernel.name);
        usage.cloned().unwrap_or_default()
    }
}

impl Model {
    /// Creates a GPU with these properties and limits. With a seed, every access is checked and the warps run in a
    /// random order.
    pub fn new(facts: Facts, limits: Limits, seed: Option<u64>) -> Self {
        // The gaps between buffers need additional memory.
        let available = usize::try_from(facts.memory_bytes).unwrap_or(usize::MAX).saturating_mul(2);
        Self {
            architecture: facts.compute_capability,
            facts,
            limits,
            most_blocks: u32::MAX,
            machine: Rc::new(RefCell::new(Machine::new(available, seed))),
            modules: RefCell::default(),
            kernels: RefCell::default(),
            timing: None,
            now: Cell::default(),
            host_time: Cell::default(),
            counts: RefCell::default(),
            capture: RefCell::default(),
            graphs: RefCell::default(),
            cusparse: None,
            rewrite: None,
            clocks: None,
            activity: None,
            watts: None,
            lost: Cell::default(),
        }
    }

    /// Creates a GPU from a device file, with modelled times. `name` is the name in `--device`.
    pub fn of_file(name: &str, file: &DeviceFile) -> Self {
        let timing = (Device::model(name), RefCell::new(Timing::new(file.gpu(), file.limits())));
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
        let mut tiny = Self::new(facts, Limits::of((9, 0)), Some(seed));
        tiny.most_blocks = 2;
        tiny
    }

    /// Returns the GPU after a change of its properties.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

fn outside(error: String) -> Failed {
    Failed(format!("the host accesses {error}"))
}

impl Drop for Model {
    /// Checks in tests that all buffers and graphs were released. A leak would reduce the memory for other methods.
    fn drop(&mut self) {
        let modules = self.modules.borrow();
        let variables = modules.iter().flat_map(|loaded| &loaded.variables);
        let of_modules = variables.filter(|&&address| address != 0).count();
        let left = self.machine.borrow().memory.buffers() - of_modules;
        let graphs = self.graphs.borrow().iter().flatten().count();
        assert!(
            left + graphs == 0 || self.timing.is_some() || std::thread::panicking(),
            "{left} buffers and {graphs} graphs were not released"
        );
    }
}

/// The prefix of the lines of the compiler's log, which are stored after the PTX in the cache.
const LOG: &str = "\n// log: ";

/// Compiles a unit with NVRTC for an architecture, and returns the resource usage of each kernel too, if machine code
/// is made of it. The result is cached. Without a compiler, a cached result of any other compiler is used.
fn compile(architecture: (u32, u32), mut unit: Unit) -> Result<(Ptx, Vec<Usage>), Unprepared> {
    unit.options.push("--generate-line-info".into());
    let cache = CacheFolder::of_user("kernels");
    let of_any = unit.key().and(["ptx"]);
    let text = match nvrtc::compiler(&Target { architecture, driver: None }) {
        Ok(compiler) => {
            // The PTX, followed by the compiler's log as comments.
            let annotated = |Compiled { ptx, log, .. }| {
                log.lines().fold(ptx, |ptx, line| ptx + LOG + line).into_bytes()
            };
            let compile = || compiler.compile(&unit).map(annotated);
            let key = unit.key().and([compiler.name(), "ptx".into()]);
            let text = cache.get_or(&key, compile)?;
            let Ok(_) = cache.get_or(&of_any, || Ok::<_, Infallible>(text.clone()));
            text
        }
        Err(refusal) => cache.get_or(&of_any, || Err(refusal))?,
    };
    let text = String::from_utf8(text).map_err(|_| Failed("the PTX is not valid UTF-8".into()))?;
    let log: Vec<_> = text.split(LOG).skip(1).collect();
    let ptx = Ptx::parse(&text)
        .map_err(|error| Failed(format!("{}: error in the PTX: {error}", unit.name)))?;
    Ok((ptx, Usage::of(&log.join("\n"))))
}
