//! The driver interface of a modelled GPU. Enqueued work runs immediately.

use std::rc::Rc;
use std::time::Duration;

use ptx_machine::model::Cure;

use super::code::Code;
use super::graph::{Value, Work};
use super::{Model, outside};
use crate::device::cusparse::CuSparse;
use crate::device::driver::{
    Address, Driver, Event, GraphId, KernelId, Modelled, ModuleId, RawArgument,
};
use crate::device::facts::{Activity, Clocks, Facts};
use crate::device::kernel::{Dim3, Program};
use crate::device::{Failed, Unavailable, Unprepared};
use spmv_matrix::scalar::Precision;

/// The part of the second-level cache that can be set aside for data that persist. NVIDIA documents it for A100; that
/// newer GPUs have the same one is assumed.
const MOST_SET_ASIDE: f64 = 0.75;

impl Model {
    /// Sets the clocks that the device reports.
    pub fn with_clocks(mut self, clocks: Clocks) -> Self {
        self.clocks = Some(clocks);
        self
    }

    /// Sets what the device reports that it does for others.
    pub fn with_activity(mut self, activity: Activity) -> Self {
        self.activity = Some(activity);
        self
    }
}

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

    fn memory(&self) -> Result<(u64, u64), Failed> {
        self.check_alive()?;
        let (held, _) = self.machine.borrow().memory.allocated_bytes();
        let room = self.facts.memory_bytes;
        Ok((room.saturating_sub(held), room))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Failed> {
        self.check_no_capture("an allocation")?;
        let memory = &mut self.machine.borrow_mut().memory;
        let room = memory.allocated_bytes().0 + bytes as u64 <= self.facts.memory_bytes;
        let address = room.then(|| memory.allocate(bytes)).flatten();
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
            self.written(to, from.len(), true);
            self.machine.borrow_mut().memory.upload(from, to).map_err(outside)
        })
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        self.check_no_capture("a download")?;
        self.check_alive()?;
        self.machine.borrow().memory.download(from, to).map_err(outside)
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed> {
        if self.captured(|| Work::Fill(to, byte, bytes)) {
            return Ok(());
        }
        Self::fill(self, to, byte, bytes, false)
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed> {
        if self.captured(|| Work::Copy(from, to, bytes)) {
            return Ok(());
        }
        Self::copy(self, from, to, bytes, false)
    }

    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared> {
        let rewritten = self.rewrite.as_ref().map(|to| to(program, precision, constants));
        let code =
            Code::compile(self.architecture, program, rewritten.as_deref(), precision, constants)?;
        let source = rewritten.unwrap_or_else(|| program.text().to_owned());
        let loaded = self.load(program.name, source, code)?;
        let mut modules = self.modules.borrow_mut();
        modules.push(Rc::new(loaded));
        Ok(ModuleId(modules.len() - 1))
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        let loaded = self.modules.borrow()[module.0].clone();
        let number = loaded.code.ptx.kernels.iter().position(|kernel| kernel.name == name);
        let number = number.ok_or_else(|| Failed(format!("there is no kernel {name}")))?;
        let mut kernels = self.kernels.borrow_mut();
        kernels.push((loaded, number));
        Ok(KernelId(kernels.len() - 1))
    }

    fn resident_blocks(
        &self,
        kernel: KernelId,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Failed> {
        let (loaded, number) = &self.kernels.borrow()[kernel.0];
        Ok(self.resident(loaded, *number, threads, shared_bytes))
    }

    unsafe fn launch(
        &self,
        kernel: KernelId,
        grid: Dim3,
        block: Dim3,
        shared_bytes: u32,
        arguments: &[RawArgument],
        dependent: bool,
    ) -> Result<(), Failed> {
        let values: Vec<_> = arguments.iter().map(Value::from).collect();
        if self.capture.borrow().is_some() {
            self.captured(|| Work::Launch(kernel, grid, block, shared_bytes, values, dependent));
            return Ok(());
        }
        self.enqueue(0, false)?;
        let kernel = self.kernels.borrow()[kernel.0].clone();
        self.run(&kernel, grid, block, shared_bytes, &values, dependent)
    }

    fn begin_capture(&self) -> Result<(), Failed> {
        self.check_no_capture("another capture")?;
        *self.capture.borrow_mut() = Some(Vec::new());
        Ok(())
    }

    fn end_capture(&self) -> Result<GraphId, Failed> {
        let work = self.capture.take().ok_or_else(|| Failed("no capture has begun".into()))?;
        Ok(self.graphs.add(work))
    }

    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed> {
        self.graphs.get(graph)?.iter().try_for_each(|work| match work {
            &Work::Fill(to, byte, bytes) => self.fill(to, byte, bytes, true),
            &Work::Copy(from, to, bytes) => self.copy(from, to, bytes, true),
            Work::Launch(kernel, grid, block, shared_bytes, values, dependent) => {
                self.enqueue(0, true)?;
                let kernel = self.kernels.borrow()[kernel.0].clone();
                self.run(&kernel, *grid, *block, *shared_bytes, values, *dependent)
            }
        })
    }

    fn release_graph(&self, graph: GraphId) {
        self.graphs.release(graph);
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
        let set_aside = match self.facts.compute_capability >= (8, 0) {
            true => (l2 as f64 * MOST_SET_ASIDE).min(bytes as f64),
            false => 0.0,
        };
        if let Some((_, timing)) = &self.timing {
            // A window without a part of the cache is none.
            let bytes = if set_aside > 0.0 { bytes } else { 0 };
            let share = set_aside / bytes.max(1) as f64;
            timing.borrow_mut().persist(address, bytes, share, set_aside / l2 as f64);
        }
        Ok(set_aside as u64)
    }

    fn evict(&self) {
        if let Some((_, timing)) = &self.timing {
            timing.borrow_mut().evict();
        }
    }

    fn cure(&self, problem: Cure) {
        if let Some((_, timing)) = &self.timing {
            timing.borrow_mut().cure(problem);
        }
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
