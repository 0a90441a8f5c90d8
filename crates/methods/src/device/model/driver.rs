//! The driver interface of a modelled GPU. Enqueued work runs immediately, unless it is captured.

use std::rc::Rc;
use std::time::Duration;

use ptx_machine::model::Cure;

use super::execute::packed;
use super::loaded::{Loaded, compile};
use super::state::{Model, Work, outside};
use crate::device::cuda::nvrtc::Unit;
use crate::device::cusparse::CuSparse;
use crate::device::driver::{Driver, Modelled};
use crate::device::launch::{Address, Event, GraphId, KernelId, KernelLaunch, ModuleId, RawArgument};
use crate::device::{Failed, Program, Unavailable, Unprepared};
use spmv_matrix::device::facts::{Activity, Clocks, Energy, Facts};
use spmv_matrix::scalar::Precision;

/// The part of the second-level cache that can be set aside for data that persist. NVIDIA documents it for A100; that
/// newer GPUs have the same one is assumed.
const MOST_SET_ASIDE: f64 = 0.75;

impl Driver for Model {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn clocks(&self) -> Option<Clocks> {
        self.clocks.clone()
    }

    fn activity(&self) -> Option<Activity> {
        self.activity
    }

    fn energy(&self) -> Option<Energy> {
        let [counted, sensed] = self.watts?;
        Some(Energy { joules: counted * self.now.get().as_secs_f64(), watts: Some(sensed) })
    }

    fn memory(&self) -> Result<(u64, u64), Failed> {
        self.check_alive()?;
        let (held, _) = self.machine.borrow().memory.allocated_bytes();
        let total = self.facts.memory_bytes;
        Ok((total.saturating_sub(held), total))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Failed> {
        self.check_no_capture("an allocation")?;
        let memory = &mut self.machine.borrow_mut().memory;
        let fits = memory.allocated_bytes().0.saturating_add(bytes as u64) <= self.facts.memory_bytes;
        let address = fits.then(|| memory.allocate(bytes)).flatten();
        address.ok_or_else(|| Failed(format!("out of memory for {bytes} bytes")))
    }

    fn release(&self, address: Address) {
        let released = self.machine.borrow_mut().memory.release(address);
        assert!(released, "the released address {address:#x} is not that of a buffer");
    }

    fn upload(&self, parts: &[(&[u8], Address)]) -> Result<(), Failed> {
        self.check_no_capture("an upload")?;
        self.check_alive()?;
        parts.iter().try_for_each(|&(from, to)| {
            self.inform(|timing| timing.written(to, from.len(), true));
            self.machine.borrow_mut().memory.upload(from, to).map_err(outside)
        })
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        self.check_no_capture("a download")?;
        self.check_alive()?;
        self.machine.borrow().memory.download(from, to).map_err(outside)
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed> {
        self.submit(Work::Fill(to, byte, bytes))
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed> {
        self.submit(Work::Copy(from, to, bytes))
    }

    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared> {
        let rewritten = self.rewrite.as_ref().map(|to| to(program, precision, constants));
        let source = rewritten.unwrap_or_else(|| program.text().to_owned());
        let mut unit = Unit::new(self.architecture, program, precision, constants);
        unit.source = &source;
        if self.timing.is_none() {
            unit = unit.only_ptx();
        }
        let (ptx, usage) = compile(self.architecture, unit)?;
        let variables = self.variables(&ptx)?;
        let loaded = Loaded { name: program.name, source, ptx, usage, variables };
        let mut modules = self.modules.borrow_mut();
        modules.push(Rc::new(loaded));
        Ok(ModuleId(modules.len() - 1))
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        let loaded = self.modules.borrow()[module.0].clone();
        let number = loaded.ptx.kernels.iter().position(|kernel| kernel.name == name);
        let number = number.ok_or_else(|| Failed(format!("there is no kernel {name}")))?;
        let mut kernels = self.kernels.borrow_mut();
        kernels.push((loaded, number));
        Ok(KernelId(kernels.len() - 1))
    }

    fn resident_blocks(&self, kernel: KernelId, threads: u32, shared: u32) -> Result<u32, Failed> {
        let (loaded, number) = &self.kernels.borrow()[kernel.0];
        Ok(self.resident(loaded, loaded.kernel(*number), threads, shared))
    }

    unsafe fn launch(&self, launch: KernelLaunch, arguments: &[RawArgument]) -> Result<(), Failed> {
        let (loaded, number) = self.kernels.borrow()[launch.kernel.0].clone();
        // SAFETY: the caller guarantees the arguments.
        let arguments = unsafe { packed(loaded.kernel(number), arguments)? };
        self.submit(Work::Launch(launch, arguments))
    }

    fn begin_capture(&self) -> Result<(), Failed> {
        self.check_no_capture("another capture")?;
        *self.capture.borrow_mut() = Some(Vec::new());
        Ok(())
    }

    fn end_capture(&self) -> Result<GraphId, Failed> {
        let work = self.capture.take().ok_or_else(|| Failed("no capture has begun".into()))?;
        let mut graphs = self.graphs.borrow_mut();
        graphs.push(Some(Rc::new(work)));
        Ok(GraphId(graphs.len() - 1))
    }

    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed> {
        let work = self.graphs.borrow()[graph.0].clone();
        let work = work.ok_or_else(|| Failed("the graph was released".into()))?;
        work.iter().try_for_each(|work| self.execute(work, true))
    }

    fn release_graph(&self, graph: GraphId) {
        self.graphs.borrow_mut()[graph.0] = None;
    }

    fn synchronize(&self) -> Result<(), Failed> {
        self.check_no_capture("waiting for the device")?;
        self.check_alive()
    }

    fn record(&self) -> Result<Event, Failed> {
        Ok(Event(self.now.get().as_nanos() as usize))
    }

    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        let between = |pair: &[Event]| Duration::from_nanos((pair[1].0 - pair[0].0) as u64);
        Ok(events.windows(2).map(between).collect())
    }

    fn host_clock(&self) -> Duration {
        Duration::ZERO
    }

    fn modelled(&self) -> Option<Modelled> {
        let (device, timing) = self.timing.as_ref()?;
        Some(Modelled {
            device: *device,
            host_time: self.host_time.get(),
            device_time: self.now.get(),
            launch_time: timing.borrow().gap(false),
            memory_gbs: timing.borrow().memory_gbs(),
            counts: self.counts.borrow().clone(),
        })
    }

    fn persist(&self, address: Address, bytes: usize) -> Result<u64, Failed> {
        let l2 = self.facts.l2_bytes;
        let set_aside = if self.facts.compute_capability >= (8, 0) {
            (l2 as f64 * MOST_SET_ASIDE).min(bytes as f64)
        } else {
            0.0
        };
        // A window without a part of the cache is none.
        let bytes = if set_aside > 0.0 { bytes } else { 0 };
        let (share, part) = (set_aside / bytes.max(1) as f64, set_aside / l2 as f64);
        self.inform(|timing| timing.persist(address, bytes, share, part));
        Ok(set_aside as u64)
    }

    fn evict(&self) {
        self.inform(|timing| timing.l2.empty());
    }

    fn cure(&self, problem: Cure) {
        self.inform(|timing| timing.cure = problem);
    }

    fn profile(&self, _: bool) -> Result<(), Failed> {
        Ok(())
    }

    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        self.check_no_capture("a call of cuSPARSE").map_err(|Failed(why)| Unavailable(why))?;
        let refusal = "cuSPARSE's kernels are machine code, which the model cannot execute";
        self.cusparse.as_deref().ok_or_else(|| Unavailable(refusal.into()))
    }
}
