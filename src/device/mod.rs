//! The GPU as methods see it: memory, kernels by name, and time. Behind it stands a [`Driver`]:
//! CUDA, or a model that executes the kernels' PTX on the CPU.
//!
//! Work is enqueued in one stream and runs in order; only copies from and to the host,
//! [`Gpu::time`] and [`Gpu::synchronize`] wait for it.

pub mod buffer;
pub mod counts;
pub mod csr;
pub mod cuda;
pub mod cusparse;
pub mod driver;
pub mod facts;
pub mod gauge;
pub mod graph;
pub mod kernel;
pub mod model;
pub mod probe;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub use buffer::Buffer;
use counts::Counts;
pub use csr::DeviceCsr;
use cusparse::CuSparse;
use driver::{Driver, Event, Modelled, ModuleId};
use facts::{Clocks, Facts};
pub use graph::Graph;
pub use kernel::{Argument, Dim3, Kernel, Module, Program};
use ptx_machine::model::Cure;

use crate::method::{Device, Failed, Unavailable, Unprepared};
use crate::scalar::{Precision, Scalar};

/// A GPU. Clones are handles of the same one.
#[derive(Clone)]
pub struct Gpu(Rc<Shared>);

struct Shared {
    driver: Box<dyn Driver>,
    /// Bytes allocated now.
    allocated: Cell<u64>,
    /// Compiled so far, by program, precision and constants.
    modules: RefCell<HashMap<ModuleKey, ModuleId>>,
    /// Time spent compiling and loading.
    compiling: Cell<Duration>,
    /// Kernels, fills, copies, graphs and library calls so far.
    enqueued: Cell<u64>,
    /// While stages are recorded.
    stages: RefCell<Option<Vec<Mark>>>,
}

type ModuleKey = (&'static str, Precision, Vec<(&'static str, usize)>);

/// The end of a stage.
struct Mark {
    name: String,
    occupancy: Option<f64>,
    counts: Option<Counts>,
    event: Event,
}

/// A part of a product and its time.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stage {
    /// The kernel or library call.
    pub name: String,
    /// Milliseconds per product.
    pub ms: f64,
    /// The threads that a multiprocessor can hold at once, as a share of the most that it holds of any
    /// kernel: what registers, shared memory and the block leave room for. `None` for what is no
    /// kernel of ours.
    pub occupancy: Option<f64>,
    /// What it did, if it is a kernel on a modelled device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Milliseconds per product if a problem of it were cured, where that was asked of a modelled device.
    #[serde(skip)]
    pub cured: Vec<(Cure, f64)>,
}

impl Gpu {
    /// A GPU behind `driver`.
    pub fn new(driver: impl Driver + 'static) -> Self {
        Self(Rc::new(Shared {
            driver: Box::new(driver),
            allocated: Cell::default(),
            modules: RefCell::default(),
            compiling: Cell::default(),
            enqueued: Cell::default(),
            stages: RefCell::default(),
        }))
    }

    /// What the device is.
    pub fn facts(&self) -> &Facts {
        self.0.driver.facts()
    }

    /// The clocks at this moment; `None` when nobody tells.
    pub fn clocks(&self) -> Option<Clocks> {
        self.0.driver.clocks()
    }

    /// Bytes of memory that are free, and all there are.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn memory(&self) -> Result<(u64, u64), Failed> {
        self.0.driver.memory()
    }

    /// Bytes that buffers hold now.
    pub fn allocated_bytes(&self) -> u64 {
        self.0.allocated.get()
    }

    /// Time spent so far on compiling kernels, or on reading compiled ones from disk, and on loading them.
    pub fn compile_time(&self) -> Duration {
        self.0.compiling.get()
    }

    /// Runs `load` and counts its time as [`compile_time`](Self::compile_time).
    fn loading<R>(&self, load: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let loaded = load();
        self.0.compiling.set(self.compile_time() + start.elapsed());
        loaded
    }

    /// Which device this is.
    pub fn device(&self) -> Device {
        self.modelled().map_or(Device::Gpu, |modelled| modelled.device)
    }

    /// What a modelled device knows of itself; `None` for a real one.
    pub fn modelled(&self) -> Option<Modelled> {
        self.0.driver.modelled()
    }

    /// Empties the caches of a modelled device.
    pub fn evict(&self) {
        self.0.driver.evict();
    }

    /// From now on a modelled device is timed as if a problem of its kernels were cured.
    pub fn cure(&self, problem: Cure) {
        self.0.driver.cure(problem);
    }

    /// How many kernels, fills, copies, graphs and library calls were enqueued so far.
    pub fn launches(&self) -> u64 {
        self.0.enqueued.get()
    }

    /// `program` compiled for this device with `VALUE_T` the type of `T` and the given constants
    /// defined; once per combination.
    pub fn compile<T: Scalar>(
        &self,
        program: &'static Program,
        constants: &[(&'static str, usize)],
    ) -> Result<Module, Unprepared> {
        let key = (program.name, T::PRECISION, constants.to_vec());
        let known = self.0.modules.borrow().get(&key).copied();
        let id = match known {
            Some(id) => id,
            None => {
                let compile = || self.0.driver.compile(program, T::PRECISION, constants);
                let id = self.loading(compile);
                *self.0.modules.borrow_mut().entry(key).or_insert(id?)
            }
        };
        Ok(Module::new(self.clone(), id))
    }

    /// The cuSPARSE of this device.
    pub fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        self.0.driver.cusparse()
    }

    /// Enqueues a call of a library that is to show as a stage of that name.
    pub fn library_call(
        &self,
        name: &str,
        call: impl FnOnce() -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        call()?;
        self.enqueued(name, || Ok(None))
    }

    /// Waits until all that was enqueued has run, in whatever stream a library enqueued it.
    pub fn synchronize(&self) -> Result<(), Failed> {
        self.0.driver.synchronize()
    }

    /// The time that the device takes from the beginning of what `work` enqueues to its end.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Duration, Failed> {
        let start = self.0.driver.record()?;
        let done = work();
        let end = self.0.driver.record()?;
        let times = self.0.driver.times(&[start, end]);
        done?;
        Ok(times?[0])
    }

    /// The times of the stages of `products` runs of `product`, in the order in which they first ran. A
    /// profiler that waits for its cue sees these runs and no others.
    pub fn stages(
        &self,
        products: usize,
        mut product: impl FnMut() -> Result<(), Failed>,
    ) -> Result<Vec<Stage>, Failed> {
        self.synchronize()?;
        self.0.driver.profile(true)?;
        let mut events = vec![self.0.driver.record()?];
        *self.0.stages.borrow_mut() = Some(Vec::new());
        let done = (0..products).try_for_each(|_| product());
        let marks = self.0.stages.take().unwrap_or_default();
        events.extend(marks.iter().map(|mark| mark.event));
        let times = self.0.driver.times(&events);
        self.0.driver.profile(false)?;
        done?;
        let mut stages: Vec<Stage> = Vec::new();
        for (Mark { name, occupancy, counts, .. }, time) in marks.into_iter().zip(times?) {
            let ms = 1e3 * time.as_secs_f64();
            match stages.iter_mut().find(|stage| stage.name == name) {
                Some(stage) => {
                    stage.ms += ms;
                    stage.counts.iter_mut().zip(&counts).for_each(|(sum, more)| sum.add(more));
                }
                None => stages.push(Stage { name, ms, occupancy, counts, cured: Vec::new() }),
            }
        }
        stages.iter_mut().for_each(|stage| stage.ms /= products as f64);
        Ok(stages)
    }

    /// Counts what was enqueued, and ends its stage when stages are recorded.
    fn enqueued(
        &self,
        name: &str,
        occupancy: impl FnOnce() -> Result<Option<f64>, Failed>,
    ) -> Result<(), Failed> {
        self.0.enqueued.set(self.launches() + 1);
        if let Some(stages) = &mut *self.0.stages.borrow_mut() {
            let event = self.0.driver.record()?;
            let counts = self.modelled().and_then(|modelled| modelled.counts);
            stages.push(Mark { name: name.to_owned(), occupancy: occupancy()?, counts, event });
        }
        Ok(())
    }
}
