//! The interface through which methods use a GPU: memory, kernels by name, and time. A [`Driver`] implements it: the
//! CUDA driver, or a model that executes the kernels' PTX on the CPU.
//!
//! Work is enqueued in one stream and runs in order. Only copies from and to the host, [`Gpu::time`] and
//! [`Driver::synchronize`] wait for it.

pub mod buffer;
pub mod cuda;
pub mod cusparse;
pub mod driver;
pub mod gauge;
pub mod kernel;
pub mod model;
pub mod probe;
pub mod sources;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub use buffer::{Buffer, DeviceCsr};
use driver::{Driver, Event, KernelId, ModuleId};
pub use kernel::{Argument, Dim3, Graph, Kernel, Module, Program};
use serde::{Deserialize, Serialize};

pub use spmv_matrix::device::{Device, Stage, counts, facts};
use spmv_matrix::scalar::{Precision, Scalar};

/// The reason why a method does not support this matrix or machine. It is recorded as a row with status `skipped`.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// The reason why a prepared product failed. It is recorded as a row with status `failed`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

/// The reason why the preparation of a method failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unprepared {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// A handle of a GPU. Clones refer to the same GPU. It dereferences to its [`Driver`], whose facts, clocks, times and
/// libraries need nothing else; memory and kernels have functions of their own, which count what they use.
#[derive(Clone)]
pub struct Gpu(Rc<Shared>);

impl Deref for Gpu {
    type Target = dyn Driver;

    fn deref(&self) -> &Self::Target {
        &*self.0.driver
    }
}

struct Shared {
    driver: Box<dyn Driver>,
    /// The bytes of all buffers that are allocated now.
    allocated: Cell<u64>,
    /// The modules compiled so far, by program, precision and constants.
    modules: RefCell<HashMap<ModuleKey, ModuleId>>,
    /// The time spent on compiling and loading.
    compiling: Cell<Duration>,
    /// The number of kernels, fills, copies, graphs and library calls so far.
    enqueued: Cell<u64>,
    /// The kernel whose launch is the latest operation in the stream, if it is one.
    latest: Cell<Option<KernelId>>,
    /// The stages so far with the events at their ends, while stages are recorded.
    stages: RefCell<Option<Vec<(Stage, Event)>>>,
}

type ModuleKey = (&'static str, Precision, Vec<(&'static str, usize)>);

impl Gpu {
    pub fn new(driver: impl Driver + 'static) -> Self {
        Self(Rc::new(Shared {
            driver: Box::new(driver),
            allocated: Cell::default(),
            modules: RefCell::default(),
            compiling: Cell::default(),
            enqueued: Cell::default(),
            latest: Cell::default(),
            stages: RefCell::default(),
        }))
    }

    pub fn allocated_bytes(&self) -> u64 {
        self.0.allocated.get()
    }

    /// Returns the time spent so far on compiling kernels, or on reading compiled ones from disk, and on loading them.
    pub fn compile_time(&self) -> Duration {
        self.0.compiling.get()
    }

    /// Runs `load` and adds its time to [`compile_time`](Self::compile_time).
    fn loading<R>(&self, load: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let loaded = load();
        self.0.compiling.set(self.compile_time() + start.elapsed());
        loaded
    }

    /// Returns whether this is a real GPU or which modelled one.
    pub fn device(&self) -> Device {
        self.modelled().map_or(Device::Gpu, |modelled| modelled.device)
    }

    pub fn launches(&self) -> u64 {
        self.0.enqueued.get()
    }

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

    /// Enqueues a library call, which is recorded as a stage named `name`.
    pub fn library_call(
        &self,
        name: &str,
        call: impl FnOnce() -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        call()?;
        self.enqueued(name, || Ok(None))
    }

    /// Returns the time on the device from the start to the end of the work that `work` enqueues.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Duration, Failed> {
        let start = self.record()?;
        let done = work();
        let end = self.record()?;
        let times = self.times(&[start, end]);
        done?;
        Ok(times?[0])
    }

    /// Runs `product` `products` times and returns the times of its stages, in the order in which they first ran. A
    /// profiler that waits for cuProfilerStart records only these runs.
    pub fn stages(
        &self,
        products: usize,
        mut product: impl FnMut() -> Result<(), Failed>,
    ) -> Result<Vec<Stage>, Failed> {
        self.synchronize()?;
        self.profile(true)?;
        let mut events = vec![self.record()?];
        *self.0.stages.borrow_mut() = Some(Vec::new());
        let done = (0..products).try_for_each(|_| product());
        let ended = self.0.stages.take().unwrap_or_default();
        events.extend(ended.iter().map(|(_, event)| *event));
        let times = self.times(&events);
        self.profile(false)?;
        done?;
        let mut stages: Vec<Stage> = Vec::new();
        for ((stage, _), time) in ended.into_iter().zip(times?) {
            let ms = 1e3 * time.as_secs_f64();
            let Some(known) = stages.iter_mut().find(|known| known.name == stage.name) else {
                stages.push(Stage { ms, ..stage });
                continue;
            };
            known.ms += ms;
            known.counts.iter_mut().zip(&stage.counts).for_each(|(sum, more)| sum.add(more));
        }
        stages.iter_mut().for_each(|stage| stage.ms /= products as f64);
        Ok(stages)
    }

    /// Counts an enqueued operation and ends its stage if stages are recorded.
    fn enqueued(
        &self,
        name: &str,
        occupancy: impl FnOnce() -> Result<Option<f64>, Failed>,
    ) -> Result<(), Failed> {
        self.0.enqueued.set(self.launches() + 1);
        self.0.latest.take();
        if let Some(stages) = &mut *self.0.stages.borrow_mut() {
            let event = self.record()?;
            let counts = self.modelled().and_then(|modelled| modelled.counts);
            let (name, occupancy) = (name.to_owned(), occupancy()?);
            stages.push((Stage { name, occupancy, counts, ..Stage::default() }, event));
        }
        Ok(())
    }
}
