//! The driver interface of a modelled GPU. Enqueued work runs immediately, unless it is captured.

use std::rc::Rc;
use std::slice;
use std::time::{Duration, Instant};

use ptx_machine::model::Cure;
use ptx_machine::program::Parameter;
use ptx_machine::{Fault, Kernel, Launch, Program as Ptx};

use super::timing::Timing;
use super::{Loaded, Model, TICK, compile, outside};
use crate::device::cuda::nvrtc::Unit;
use crate::device::cusparse::CuSparse;
use crate::device::driver::{
    Address, ArgumentKind, Driver, Event, GraphId, KernelId, KernelLaunch, Modelled, ModuleId,
    RawArgument,
};
use crate::device::facts::{Activity, Clocks, Energy, Facts};
use crate::device::{Failed, Program, Unavailable, Unprepared};
use spmv_matrix::scalar::Precision;

/// The part of the second-level cache that can be set aside for data that persist. NVIDIA documents it for A100; that
/// newer GPUs have the same one is assumed.
const MOST_SET_ASIDE: f64 = 0.75;

/// An enqueued operation: see the functions of [`Driver`] with these names.
pub enum Work {
    Fill(Address, u8, usize),
    Copy(Address, Address, usize),
    /// A launch with its arguments in the layout of the kernel's parameters.
    Launch(KernelLaunch, Vec<u8>),
}

impl Model {
    /// Adds work to the current capture, or runs it if there is none.
    fn submit(&self, work: Work) -> Result<(), Failed> {
        if let Some(captured) = &mut *self.capture.borrow_mut() {
            captured.push(work);
            return Ok(());
        }
        self.execute(&work, false)
    }

    fn execute(&self, work: &Work, in_graph: bool) -> Result<(), Failed> {
        match *work {
            Work::Fill(to, byte, bytes) => {
                self.enqueue(bytes, in_graph, false)?;
                self.inform(|timing| timing.written(to, bytes, false));
                self.machine.borrow_mut().memory.fill(to, byte, bytes).map_err(outside)
            }
            Work::Copy(from, to, bytes) => {
                self.enqueue(2 * bytes, in_graph, false)?;
                self.inform(|timing| timing.written(to, bytes, false));
                self.machine.borrow_mut().memory.copy(from, to, bytes).map_err(outside)
            }
            Work::Launch(launch, ref arguments) => {
                self.enqueue(0, in_graph, launch.dependent)?;
                self.run(launch, arguments)
            }
        }
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

    /// Advances the time for an operation that transfers `bytes` bytes. The launch of a `dependent` kernel takes no
    /// time, because it overlaps with the kernel before (programmatic dependent launch).
    fn enqueue(&self, bytes: usize, in_graph: bool, dependent: bool) -> Result<(), Failed> {
        let takes = self.timing.as_ref().map_or(TICK, |(_, timing)| {
            let timing = timing.borrow();
            let moving = bytes as f64 / (1e9 * timing.memory_gbs());
            let gap = if dependent { Duration::ZERO } else { timing.gap(in_graph) };
            gap + Duration::from_secs_f64(moving)
        });
        self.now.set(self.now.get() + takes);
        self.counts.take();
        self.check_alive()
    }

    /// Informs the performance model, if there is one.
    fn inform(&self, inform: impl FnOnce(&mut Timing)) {
        if let Some((_, timing)) = &self.timing {
            inform(&mut timing.borrow_mut());
        }
    }

    fn resident(&self, loaded: &Loaded, kernel: &Kernel, threads: u32, shared_bytes: u32) -> u32 {
        let blocks = self.limits.blocks(&loaded.usage(kernel), threads, shared_bytes);
        blocks.min(self.most_blocks)
    }

    fn run(&self, launch: KernelLaunch, arguments: &[u8]) -> Result<(), Failed> {
        let KernelLaunch { grid, block, shared_bytes, dependent, .. } = launch;
        let (loaded, number) = &self.kernels.borrow()[launch.kernel.0];
        let kernel = loaded.kernel(*number);
        let threads = block.x * block.y * block.z;
        let per_multiprocessor = self.resident(loaded, kernel, threads, shared_bytes);
        let shared = kernel.shared_bytes + shared_bytes as usize;
        let (name, most) = (&kernel.name, self.facts.most_shared_bytes());
        if shared > most as usize {
            return Err(Failed(format!(
                "{name}: {shared} bytes of shared memory per block, {shared_bytes} of them dynamic, but at most \
                 {most} are allowed"
            )));
        }
        if per_multiprocessor == 0 {
            return Err(Failed(format!(
                "{name}: a block of {threads} threads and {shared_bytes} bytes of dynamic shared memory does not fit \
                 on a multiprocessor"
            )));
        }
        let launch = Launch {
            kernel,
            arguments,
            variables: &loaded.variables,
            grid: [grid.x, grid.y, grid.z],
            shape: [block.x, block.y, block.z],
            dynamic_shared: shared_bytes as usize,
            resident: (per_multiprocessor * self.facts.multiprocessors) as usize,
            dependent,
        };
        self.launch_timed(&launch, loaded, per_multiprocessor as usize).map_err(|fault| {
            // A launch with invalid parameters does not damage the context.
            self.lost.set(fault.thread.is_some());
            Failed(fault.to_string())
        })
    }

    fn launch_timed(
        &self,
        launch: &Launch,
        loaded: &Loaded,
        most: usize,
    ) -> Result<(), Box<Fault>> {
        let start = Instant::now();
        let machine = &mut *self.machine.borrow_mut();
        let Some((_, timing)) = &self.timing else { return machine.launch(launch, None) };
        let (time, counts) = timing.borrow_mut().run(machine, launch, loaded, most)?;
        self.now.set(self.now.get() + time);
        self.host_time.set(self.host_time.get() + start.elapsed());
        *self.counts.borrow_mut() = Some(counts);
        Ok(())
    }

    /// Allocates and initialises the variables that the kernels of a program use.
    fn variables(&self, ptx: &Ptx) -> Result<Vec<Address>, Failed> {
        let mut variables = vec![0; ptx.variables.len()];
        for (number, variable) in ptx.variables.iter().enumerate() {
            if ptx.kernels.iter().any(|kernel| kernel.uses(number)) && variable.bytes > 0 {
                let mut bytes = variable.initial.clone();
                bytes.resize(variable.bytes, 0);
                variables[number] = self.allocate(bytes.len())?;
                self.upload(&[(&bytes, variables[number])])?;
            }
        }
        Ok(variables)
    }
}

/// Returns the bytes of the arguments in the layout of the kernel's parameters, whose sizes and kinds they must match.
///
/// # Safety
/// The arguments must point to their values.
unsafe fn packed(kernel: &Kernel, arguments: &[RawArgument]) -> Result<Vec<u8>, Failed> {
    let (name, parameters) = (&kernel.name, &kernel.parameters);
    if arguments.len() != parameters.len() {
        let (given, taken) = (arguments.len(), parameters.len());
        return Err(Failed(format!("{name}: {given} arguments for {taken} parameters")));
    }
    let mut bytes = vec![0; parameters.last().map_or(0, Parameter::end)];
    for (number, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
        let given = (argument.bytes, argument.kind == ArgumentKind::Float);
        if given != (parameter.bytes, parameter.is_float) {
            return Err(Failed(format!(
                "{name}: argument {number} is {} and not {}",
                kind_in_words(given),
                kind_in_words((parameter.bytes, parameter.is_float))
            )));
        }
        // SAFETY: the caller guarantees the value, which has this size.
        let value = unsafe { slice::from_raw_parts(argument.value.cast(), argument.bytes) };
        bytes[parameter.offset..parameter.end()].copy_from_slice(value);
    }
    Ok(bytes)
}

fn kind_in_words((bytes, is_float): (usize, bool)) -> String {
    let kind = if is_float { "a floating-point number" } else { "an integer or a pointer" };
    format!("{kind} of {bytes} bytes")
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
        let fits =
            memory.allocated_bytes().0.saturating_add(bytes as u64) <= self.facts.memory_bytes;
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
        let set_aside = match self.facts.compute_capability >= (8, 0) {
            true => (l2 as f64 * MOST_SET_ASIDE).min(bytes as f64),
            false => 0.0,
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
