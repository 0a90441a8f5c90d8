//! A device that runs nothing: it records the programs that methods compile and the launches of their kernels. Its
//! memory and its clock are those of a model.

use std::cell::RefCell;
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
use spmv_methods::device::model::Model;
use spmv_methods::device::model::occupancy::Limits;
use spmv_methods::method::{Failed, Unavailable, Unprepared};

use crate::forward::of_the_model;

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

pub struct Recorder {
    model: Model,
    log: Rc<RefCell<Log>>,
    modules: RefCell<Vec<Unit>>,
    /// The kernels with the modules that contain them.
    kernels: RefCell<Vec<(Unit, String)>>,
}

impl Recorder {
    /// Creates a recorder that adds to `log`. The device has one multiprocessor, so that no matrix is too small for
    /// kernels that are only launched if all multiprocessors have work, and no L2 cache in which a matrix fits.
    pub fn new(log: Rc<RefCell<Log>>) -> Self {
        let tiny = Model::tiny(0).facts().clone();
        let facts = Facts { multiprocessors: 1, l2_bytes: 0, memory_bytes: 1 << 40, ..tiny };
        let model = Model::new(facts, Limits::of((9, 0)), None);
        Self { model, log, modules: RefCell::default(), kernels: RefCell::default() }
    }
}

impl Driver for Recorder {
    of_the_model! {
        fn clocks() -> Option<Clocks>;
        fn upload(parts: &[(&[u8], Address)]) -> Result<(), Failed>;
        fn download(from: Address, to: &mut [u8]) -> Result<(), Failed>;
        fn fill(to: Address, byte: u8, bytes: usize) -> Result<(), Failed>;
        fn copy(from: Address, to: Address, bytes: usize) -> Result<(), Failed>;
        fn begin_capture() -> Result<(), Failed>;
        fn end_capture() -> Result<GraphId, Failed>;
        fn launch_graph(graph: GraphId) -> Result<(), Failed>;
        fn synchronize() -> Result<(), Failed>;
        fn record() -> Result<Event, Failed>;
        fn times(events: &[Event]) -> Result<Vec<Duration>, Failed>;
        fn host_clock() -> Duration;
        fn cusparse() -> Result<&dyn CuSparse, Unavailable>;
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
            let has = |bytes: usize| self.download(address, &mut vec![0; bytes]).is_ok();
            if has(4) && !has(5) {
                self.upload(&[(&1u32.to_ne_bytes(), address)])?;
            }
        }
        Ok(())
    }
}
