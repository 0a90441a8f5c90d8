//! Work that a capture notes instead of running it.

use std::cell::RefCell;
use std::rc::Rc;

use spmv_bench::device::Dim3;
use spmv_bench::device::driver::{Address, ArgumentKind, GraphId, KernelId, RawArgument};
use spmv_bench::method::Failed;

/// Something enqueued.
pub enum Work {
    /// See [`Driver::fill`](spmv_bench::device::driver::Driver::fill).
    Fill(Address, u8, usize),
    /// See [`Driver::copy`](spmv_bench::device::driver::Driver::copy).
    Copy(Address, Address, usize),
    /// See [`Driver::launch`](spmv_bench::device::driver::Driver::launch).
    Launch(KernelId, Dim3, Dim3, u32, Vec<Noted>),
}

/// A launch's argument with its value as it was at the capture.
pub struct Noted {
    value: Vec<u8>,
    kind: ArgumentKind,
}

impl From<&RawArgument> for Noted {
    fn from(&RawArgument { value, bytes, kind }: &RawArgument) -> Self {
        // SAFETY: an argument points to as many bytes as it says, which live until the call returns.
        let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) };
        Self { value: value.to_vec(), kind }
    }
}

impl Noted {
    /// As a launch takes it.
    pub fn raw(&self) -> RawArgument {
        RawArgument { value: self.value.as_ptr().cast(), bytes: self.value.len(), kind: self.kind }
    }
}

/// What was captured; identifiers are indices. `None` stands where a graph was given back.
#[derive(Default)]
pub struct Graphs(RefCell<Vec<Option<Rc<Vec<Work>>>>>);

impl Graphs {
    /// Keeps what a capture noted.
    pub fn add(&self, work: Vec<Work>) -> GraphId {
        let mut graphs = self.0.borrow_mut();
        graphs.push(Some(Rc::new(work)));
        GraphId(graphs.len() - 1)
    }

    /// The work of a graph that was not given back.
    pub fn get(&self, graph: GraphId) -> Result<Rc<Vec<Work>>, Failed> {
        let work = self.0.borrow()[graph.0].clone();
        work.ok_or_else(|| Failed("a graph that was given back".into()))
    }

    /// Gives a graph back.
    pub fn release(&self, graph: GraphId) {
        self.0.borrow_mut()[graph.0] = None;
    }
}

impl Drop for Graphs {
    fn drop(&mut self) {
        let kept = self.0.get_mut().iter().flatten().count();
        assert!(kept == 0 || std::thread::panicking(), "{kept} graphs were not given back");
    }
}
