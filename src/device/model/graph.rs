//! Work that a capture notes instead of running it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::device::Dim3;
use crate::device::driver::{Address, ArgumentKind, GraphId, KernelId, RawArgument};
use crate::method::Failed;

/// Something enqueued.
pub enum Work {
    /// See [`Driver::fill`](crate::device::driver::Driver::fill).
    Fill(Address, u8, usize),
    /// See [`Driver::copy`](crate::device::driver::Driver::copy).
    Copy(Address, Address, usize),
    /// See [`Driver::launch`](crate::device::driver::Driver::launch).
    Launch(KernelId, Dim3, Dim3, u32, Vec<Value>),
}

/// An argument's value as it was at the launch or at the capture.
pub struct Value {
    bytes: Vec<u8>,
    kind: ArgumentKind,
}

impl From<&RawArgument> for Value {
    fn from(&RawArgument { value, bytes, kind }: &RawArgument) -> Self {
        // SAFETY: an argument points to as many bytes as it says, which live until the call returns.
        let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec();
        Self { bytes, kind }
    }
}

impl Value {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it is a floating-point number, and no integer or pointer.
    pub fn is_float(&self) -> bool {
        self.kind == ArgumentKind::Float
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

    /// The work of a graph.
    ///
    /// # Errors
    /// It was given back.
    pub fn get(&self, graph: GraphId) -> Result<Rc<Vec<Work>>, Failed> {
        let work = self.0.borrow()[graph.0].clone();
        work.ok_or_else(|| Failed("a graph that was given back".into()))
    }

    /// Gives a graph back.
    pub fn release(&self, graph: GraphId) {
        self.0.borrow_mut()[graph.0] = None;
    }

    /// Graphs that were not given back.
    pub fn count(&self) -> usize {
        self.0.borrow().iter().flatten().count()
    }
}
