//! A modelled GPU and the state that its operations change.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use ptx_machine::Machine;

use super::device_file::DeviceFile;
use super::loaded::Loaded;
use super::occupancy::Limits;
use super::timing::Timing;
use crate::device::cusparse::CuSparse;
use crate::device::launch::{Address, KernelLaunch};
use crate::device::{Failed, Program};
use spmv_matrix::device::Device;
use spmv_matrix::device::counts::Counts;
use spmv_matrix::device::facts::{Activity, Clocks, Facts};
use spmv_matrix::scalar::Precision;

/// The time of every enqueued operation if times are not modelled.
pub const TICK: Duration = Duration::from_millis(1);

/// An enqueued operation: see the functions of [`Driver`] with these names.
pub enum Work {
    Fill(Address, u8, usize),
    Copy(Address, Address, usize),
    /// A launch with its arguments in the layout of the kernel's parameters.
    Launch(KernelLaunch, Vec<u8>),
}

pub struct Model {
    pub facts: Facts,
    pub(super) limits: Limits,
    /// An additional limit on the resident blocks of a multiprocessor.
    pub(super) most_blocks: u32,
    /// What executes the kernels, with the memory of the device.
    pub machine: Rc<RefCell<Machine>>,
    pub(super) modules: RefCell<Vec<Rc<Loaded>>>,
    pub(super) kernels: RefCell<Vec<(Rc<Loaded>, usize)>>,
    pub(super) architecture: (u32, u32),
    /// The device name and the performance model; `None` if every operation takes [`TICK`].
    pub(super) timing: Option<(Device, RefCell<Timing>)>,
    /// The modelled time of all work so far.
    pub(super) now: Cell<Duration>,
    /// The time that the host needed to execute and model the launches so far.
    pub(super) host_time: Cell<Duration>,
    pub(super) counts: RefCell<Option<Counts>>,
    /// The recorded work of the current capture, if one has begun.
    pub(super) capture: RefCell<Option<Vec<Work>>>,
    /// The captured work of each graph; `None` marks a released one.
    pub(super) graphs: RefCell<Vec<Option<Rc<Vec<Work>>>>>,
    pub cusparse: Option<Box<dyn CuSparse>>,
    /// Returns the text to compile instead of each program's text.
    pub rewrite: Option<Box<Rewrite>>,
    pub clocks: Option<Clocks>,
    pub activity: Option<Activity>,
    /// The watts by the counter of energy and by the sensor of power.
    pub watts: Option<[f64; 2]>,
    /// Whether a kernel has failed. The device rejects all further work then, as with CUDA.
    pub(super) lost: Cell<bool>,
}

/// A function that maps a program with its precision and constants to the text that is compiled instead.
pub type Rewrite = dyn Fn(&Program, Precision, &[(&'static str, usize)]) -> String;

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

pub fn outside(error: String) -> Failed {
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
