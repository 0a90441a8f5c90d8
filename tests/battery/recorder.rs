//! A device that runs nothing: it records the programs that methods compile and the launches of their kernels.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use spmv_matrix::scalar::Precision;
use spmv_methods::device::Program;
use spmv_methods::device::cusparse::CuSparse;
use spmv_methods::device::driver::{
    Address, ArgumentKind, Driver, Event, GraphId, KernelId, KernelLaunch, ModuleId, RawArgument,
};
use spmv_methods::device::facts::{Activity, Clocks, Facts};
use spmv_methods::method::{Failed, Unavailable, Unprepared};

/// The name of a program, the name of its precision, and its compile-time constants.
pub type Unit = (&'static str, &'static str, Vec<(&'static str, usize)>);

#[derive(Clone, Debug)]
pub struct Seen {
    pub source: &'static str,
    pub precision: Precision,
    /// For each kernel the number of threads and the bytes of dynamic shared memory per block.
    pub launches: BTreeMap<String, BTreeSet<(u32, u32)>>,
}

pub type Log = BTreeMap<Unit, Seen>;

#[derive(Default)]
pub struct Recorder {
    facts: Facts,
    log: Rc<RefCell<Log>>,
    modules: RefCell<Vec<Unit>>,
    /// The kernels with the modules that contain them.
    kernels: RefCell<Vec<(Unit, String)>>,
    memory: RefCell<BTreeMap<Address, Vec<u8>>>,
    next: Cell<Address>,
}

impl Recorder {
    /// Creates a recorder that adds to `log`. The device has one multiprocessor, so that no matrix is too small for
    /// kernels that are only launched if all multiprocessors have work.
    pub fn new(log: Rc<RefCell<Log>>) -> Self {
        let facts = Facts {
            compute_capability: (9, 0),
            multiprocessors: 1,
            warp_size: 32,
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: 2048,
            ..Facts::default()
        };
        Self { facts, log, next: Cell::new(1 << 20), ..Self::default() }
    }
}

impl Driver for Recorder {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn clocks(&self) -> Option<Clocks> {
        None
    }

    fn activity(&self) -> Option<Activity> {
        None
    }

    fn memory(&self) -> Result<(u64, u64), Failed> {
        Ok((1 << 40, 1 << 40))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Failed> {
        let address = self.next.get();
        self.next.set(address + bytes as u64 + 256);
        self.memory.borrow_mut().insert(address, vec![0; bytes]);
        Ok(address)
    }

    fn release(&self, address: Address) {
        self.memory.borrow_mut().remove(&address);
    }

    fn upload(&self, parts: &[(&[u8], Address)]) -> Result<(), Failed> {
        for (from, to) in parts {
            self.memory.borrow_mut().get_mut(to).unwrap()[..from.len()].copy_from_slice(from);
        }
        Ok(())
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        to.copy_from_slice(&self.memory.borrow()[&from][..to.len()]);
        Ok(())
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed> {
        self.memory.borrow_mut().get_mut(&to).unwrap()[..bytes].fill(byte);
        Ok(())
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed> {
        let copied = self.memory.borrow()[&from][..bytes].to_vec();
        self.upload(&[(&copied, to)])
    }

    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared> {
        let unit = (program.name, precision.name(), constants.to_vec());
        let seen = Seen { source: program.source, precision, launches: BTreeMap::new() };
        self.log.borrow_mut().entry(unit.clone()).or_insert(seen);
        let mut modules = self.modules.borrow_mut();
        modules.push(unit);
        Ok(ModuleId(modules.len() - 1))
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        let unit = self.modules.borrow()[module.0].clone();
        let mut kernels = self.kernels.borrow_mut();
        kernels.push((unit, name.into()));
        Ok(KernelId(kernels.len() - 1))
    }

    fn resident_blocks(&self, _: KernelId, _: u32, _: u32) -> Result<u32, Failed> {
        Ok(2)
    }

    unsafe fn launch(&self, launch: KernelLaunch, arguments: &[RawArgument]) -> Result<(), Failed> {
        let KernelLaunch { kernel, block, shared_bytes, .. } = launch;
        let (unit, name) = &self.kernels.borrow()[kernel.0];
        let seen = (block.x * block.y * block.z, shared_bytes);
        let mut log = self.log.borrow_mut();
        let launches = &mut log.get_mut(unit).expect("compiled before").launches;
        launches.entry(name.clone()).or_default().insert(seen);
        // A buffer with a single number is assumed to be a counter and set to 1. With a count of 0, the kernels that
        // process the counted items would not be launched.
        for argument in arguments.iter().filter(|argument| argument.kind == ArgumentKind::Pointer) {
            // SAFETY: the value of a pointer argument is an address.
            let address = unsafe { *argument.value.cast::<Address>() };
            if let Some(counter) = self.memory.borrow_mut().get_mut(&address)
                && counter.len() == size_of::<u32>()
            {
                counter.copy_from_slice(&1u32.to_ne_bytes());
            }
        }
        Ok(())
    }

    fn persist(&self, _: Address, bytes: usize) -> Result<u64, Failed> {
        Ok(bytes as u64)
    }

    fn begin_capture(&self) -> Result<(), Failed> {
        Err(Failed("this device cannot capture graphs".into()))
    }

    fn end_capture(&self) -> Result<GraphId, Failed> {
        self.begin_capture().map(|()| GraphId(0))
    }

    fn launch_graph(&self, _: GraphId) -> Result<(), Failed> {
        self.begin_capture()
    }

    fn release_graph(&self, _: GraphId) {}

    fn synchronize(&self) -> Result<(), Failed> {
        Ok(())
    }

    fn record(&self) -> Result<Event, Failed> {
        Ok(Event(0))
    }

    fn host_clock(&self) -> Duration {
        Duration::ZERO
    }

    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        Ok(vec![Duration::ZERO; events.len().saturating_sub(1)])
    }

    fn profile(&self, _: bool) -> Result<(), Failed> {
        Ok(())
    }

    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        Err(Unavailable("cuSPARSE launches no kernels of this program".into()))
    }
}
