//! A handle of a GPU, which counts what is used of it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::errors::{Failed, Unavailable};
use super::launch::{Event, KernelId, ModuleId};
use spmv_matrix::device::{Device, Stage};
use spmv_matrix::scalar::Precision;

/// A handle of a GPU. Clones refer to the same GPU. It dereferences to its [`Driver`], whose facts, clocks, times and
/// libraries need nothing else; memory and kernels have functions of their own, which count what they use.
#[derive(Clone)]
pub struct Gpu(pub(super) Rc<Shared>);

impl Deref for Gpu {
    type Target = dyn Driver;

    fn deref(&self) -> &Self::Target {
        &*self.0.driver
    }
}

pub(super) struct Shared {
    pub driver: Box<dyn Driver>,
    /// The bytes of all buffers that are allocated now.
    pub allocated: Cell<u64>,
    /// The modules compiled so far, by program, precision and constants.
    pub modules: RefCell<HashMap<ModuleKey, ModuleId>>,
    /// The time spent on compiling and loading.
    compiling: Cell<Duration>,
    /// The number of kernels, fills, copies, graphs and library calls so far.
    enqueued: Cell<u64>,
    /// The kernel whose launch is the latest operation in the stream, if it is one.
    pub latest: Cell<Option<KernelId>>,
    /// The stages so far with the events at their ends, while stages are recorded.
    pub stages: RefCell<Option<Vec<(Stage, Event)>>>,
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
    pub(super) fn loading<R>(&self, load: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let loaded = load();
        self.0.compiling.set(self.compile_time() + start.elapsed());
        loaded
    }

    /// Returns whether this is a real GPU or which modelled one.
    pub fn device(&self) -> Device {
        self.modelled().map_or(Device::Gpu, |modelled| modelled.device)
    }

    /// Checks that this GPU has a feature of compute capability `since` or newer.
    pub fn require(&self, since: (u32, u32), feature: &str) -> Result<(), Unavailable> {
        let (major, minor) = self.facts().compute_capability;
        if (major, minor) >= since {
            return Ok(());
        }
        let (first, second) = since;
        Err(Unavailable(format!(
            "needs {feature}, of compute capability {first}.{second} or newer; this GPU has {major}.{minor}"
        )))
    }

    pub fn launches(&self) -> u64 {
        self.0.enqueued.get()
    }

    /// Enqueues a library call, which is recorded as a stage named `name`.
    pub fn library_call(&self, name: &str, call: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
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
    pub(super) fn enqueued(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::model::Model;

    #[test]
    fn older_gpus_are_refused() {
        let gpu = Gpu::new(Model::tiny(1));
        assert_eq!([(8, 0), (9, 0)].map(|since| gpu.require(since, "x")), [Ok(()), Ok(())]);
        let Unavailable(reason) = gpu.require((10, 1), "more").unwrap_err();
        assert_eq!(reason, "needs more, of compute capability 10.1 or newer; this GPU has 9.0");
    }
}
