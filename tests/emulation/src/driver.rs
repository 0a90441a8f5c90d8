//! The emulation as a device's driver.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use spmv_bench::device::cusparse::CuSparse;
use spmv_bench::device::driver::{
    Address, Driver, Event, GraphId, KernelId, ModuleId, RawArgument,
};
use spmv_bench::device::facts::{Clocks, Facts};
use spmv_bench::device::kernel::HEADERS;
use spmv_bench::device::{Dim3, Program};
use spmv_bench::method::{Failed, Unavailable, Unprepared};
use spmv_bench::scalar::Precision;

use crate::compile::Unit;
use crate::facts::{facts, resident_blocks};
use crate::graph::{Graphs, Noted, Work};
use crate::memory::{ARENA, Memory};
use crate::module::{Kernel, Module};
use crate::run::run;

/// A device that is emulated on the CPU.
pub struct Emulation {
    facts: Facts,
    seed: u64,
    memory: Rc<Memory>,
    modules: RefCell<Vec<Rc<Module>>>,
    kernels: RefCell<Vec<Rc<Kernel>>>,
    /// What was enqueued so far: each takes a millisecond.
    enqueued: Cell<u32>,
    /// What a capture that has begun has noted.
    capture: RefCell<Option<Vec<Work>>>,
    graphs: Graphs,
    cusparse: Option<Box<dyn CuSparse>>,
    rewrite: Option<Box<Rewrite>>,
    /// Bytes that all buffers together may have.
    room: u64,
    clocks: Option<Clocks>,
    /// Whether a kernel has failed, if the device does nothing more after that.
    lost: Option<Cell<bool>>,
}

/// A program, precision and constants that are asked for ↦ the text that is compiled.
type Rewrite = dyn Fn(&Program, Precision, &[(&'static str, usize)]) -> String;

impl Emulation {
    /// A device whose schedules are drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        crate::trap::install();
        Self {
            facts: facts(),
            seed,
            memory: Rc::new(Memory::new()),
            modules: RefCell::default(),
            kernels: RefCell::default(),
            enqueued: Cell::default(),
            capture: RefCell::default(),
            graphs: Graphs::default(),
            cusparse: None,
            rewrite: None,
            room: ARENA as u64,
            clocks: None,
            lost: None,
        }
    }

    /// The same with something that stands in for cuSPARSE.
    pub fn with_cusparse(self, cusparse: Box<dyn CuSparse>) -> Self {
        Self { cusparse: Some(cusparse), ..self }
    }

    /// The same where `rewrite` sees every program before it is compiled, and may change its text.
    pub fn rewriting(
        self,
        rewrite: impl Fn(&Program, Precision, &[(&'static str, usize)]) -> String + 'static,
    ) -> Self {
        Self { rewrite: Some(Box::new(rewrite)), ..self }
    }

    /// The same with room for so many bytes of buffers.
    pub fn with_room_for(self, bytes: u64) -> Self {
        Self { room: bytes, ..self }
    }

    /// Tells, at any time, the most bytes that buffers have had together.
    pub fn peak(&self) -> impl Fn() -> u64 + use<> {
        let memory = self.memory.clone();
        move || memory.peak()
    }

    /// The same that does nothing more after a kernel has failed, as a CUDA context after an illegal access.
    pub fn losing_itself(self) -> Self {
        Self { lost: Some(Cell::new(false)), ..self }
    }

    /// The same that tells these clocks.
    pub fn with_clocks(self, clocks: Clocks) -> Self {
        Self { clocks: Some(clocks), ..self }
    }

    /// Notes that something was enqueued.
    fn enqueue(&self) {
        self.enqueued.set(self.enqueued.get() + 1);
    }

    /// Notes `work` for a graph; `false` when nothing is captured, and it is to run.
    fn captured(&self, work: impl FnOnce() -> Work) -> bool {
        self.capture.borrow_mut().as_mut().map(|noted| noted.push(work())).is_some()
    }

    /// Refuses what waits or allocates while work is captured, as CUDA does.
    fn check_no_capture(&self, what: &str) -> Result<(), Failed> {
        match &*self.capture.borrow() {
            Some(_) => Err(Failed(format!("{what} cannot be captured"))),
            None => Ok(()),
        }
    }

    fn check_alive(&self) -> Result<(), Failed> {
        match &self.lost {
            Some(lost) if lost.get() => Err(Failed("the context is lost".into())),
            _ => Ok(()),
        }
    }

    fn known(&self, kernel: KernelId) -> Rc<Kernel> {
        self.kernels.borrow()[kernel.0].clone()
    }
}

impl Driver for Emulation {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn clocks(&self) -> Option<Clocks> {
        self.clocks.clone()
    }

    fn memory(&self) -> Result<(u64, u64), Failed> {
        self.check_alive()?;
        Ok((self.room.saturating_sub(self.memory.held()), self.room))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Failed> {
        self.check_no_capture("an allocation")?;
        if self.memory.held() + bytes as u64 > self.room {
            return Err(Failed(format!("out of memory for {bytes} bytes")));
        }
        self.memory.allocate(bytes)
    }

    fn release(&self, address: Address) {
        self.memory.release(address);
    }

    fn upload(&self, from: &[u8], to: Address) -> Result<(), Failed> {
        self.check_no_capture("an upload")?;
        let to = self.memory.at(to, from.len())?;
        // SAFETY: as many bytes of the arena as `at` was asked about.
        unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        Ok(())
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        self.check_no_capture("a download")?;
        let from = self.memory.at(from, to.len())?;
        // SAFETY: as many bytes of the arena as `at` was asked about.
        unsafe { from.copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed> {
        if self.captured(|| Work::Fill(to, byte, bytes)) {
            return Ok(());
        }
        self.enqueue();
        let to = self.memory.at(to, bytes)?;
        // SAFETY: as many bytes of the arena as `at` was asked about.
        unsafe { to.write_bytes(byte, bytes) };
        Ok(())
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed> {
        if self.captured(|| Work::Copy(from, to, bytes)) {
            return Ok(());
        }
        self.enqueue();
        let (from, to) = (self.memory.at(from, bytes)?, self.memory.at(to, bytes)?);
        // SAFETY: as many bytes of the arena as `at` was asked about.
        unsafe { to.copy_from(from, bytes) };
        Ok(())
    }

    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared> {
        let source = match &self.rewrite {
            Some(rewrite) => rewrite(program, precision, constants),
            None => program.source.to_owned(),
        };
        let unit = Unit::new((program.name, &source), HEADERS, precision, constants);
        let object = unit.build()?;
        let mut modules = self.modules.borrow_mut();
        modules.push(Rc::new(Module::load(object)?));
        Ok(ModuleId(modules.len() - 1))
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        let mut kernels = self.kernels.borrow_mut();
        kernels.push(Rc::new(Kernel::find(&self.modules.borrow()[module.0], name)?));
        Ok(KernelId(kernels.len() - 1))
    }

    fn resident_blocks(&self, _: KernelId, threads: u32, _: u32) -> Result<u32, Failed> {
        Ok(resident_blocks(threads))
    }

    unsafe fn launch(
        &self,
        kernel: KernelId,
        grid: Dim3,
        block: Dim3,
        shared_bytes: u32,
        arguments: &[RawArgument],
    ) -> Result<(), Failed> {
        let noted = || arguments.iter().map(Noted::from).collect();
        if self.captured(|| Work::Launch(kernel, grid, block, shared_bytes, noted())) {
            return Ok(());
        }
        self.enqueue();
        self.check_alive()?;
        let kernel = self.known(kernel);
        run(
            &kernel,
            (grid, block),
            shared_bytes,
            arguments,
            &self.memory,
            (self.seed, self.enqueued.get().into()),
        )
        .map_err(|Failed(message)| {
            self.lost.iter().for_each(|lost| lost.set(true));
            Failed(format!("{}: {message}", kernel.name))
        })
    }

    fn begin_capture(&self) -> Result<(), Failed> {
        self.check_no_capture("another capture")?;
        *self.capture.borrow_mut() = Some(Vec::new());
        Ok(())
    }

    fn end_capture(&self) -> Result<GraphId, Failed> {
        let noted = self.capture.take().ok_or_else(|| Failed("no capture has begun".into()))?;
        Ok(self.graphs.add(noted))
    }

    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed> {
        self.graphs.get(graph)?.iter().try_for_each(|work| match work {
            &Work::Fill(to, byte, bytes) => self.fill(to, byte, bytes),
            &Work::Copy(from, to, bytes) => self.copy(from, to, bytes),
            Work::Launch(kernel, grid, block, shared_bytes, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(Noted::raw).collect();
                // SAFETY: the arguments are those of a launch, with values that live in the graph.
                unsafe { self.launch(*kernel, *grid, *block, *shared_bytes, &arguments) }
            }
        })
    }

    fn release_graph(&self, graph: GraphId) {
        self.graphs.release(graph);
    }

    fn synchronize(&self) -> Result<(), Failed> {
        self.check_no_capture("waiting")?;
        self.check_alive()
    }

    fn record(&self) -> Result<Event, Failed> {
        Ok(Event(self.enqueued.get() as usize))
    }

    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        let between = |pair: &[Event]| Duration::from_millis((pair[1].0 - pair[0].0) as u64);
        Ok(events.windows(2).map(between).collect())
    }

    fn profile(&self, _: bool) -> Result<(), Failed> {
        Ok(())
    }

    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        self.check_no_capture("what stands in for cuSPARSE")
            .map_err(|Failed(why)| Unavailable(why))?;
        self.cusparse.as_deref().ok_or_else(|| Unavailable("cuSPARSE cannot be emulated".into()))
    }
}
