//! Graphs: work that a capture records instead of running it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::device::Dim3;
use crate::device::Failed;
use crate::device::driver::{Address, ArgumentKind, GraphId, KernelId, RawArgument};

/// An operation that a graph executes when it is launched.
pub enum Work {
    /// A fill: see [`Driver::fill`](crate::device::driver::Driver::fill).
    Fill(Address, u8, usize),
    /// A copy: see [`Driver::copy`](crate::device::driver::Driver::copy).
    Copy(Address, Address, usize),
    /// A launch: see [`Driver::launch`](crate::device::driver::Driver::launch).
    Launch(KernelId, Dim3, Dim3, u32, Vec<Value>, bool),
}

/// The value of an argument at the time of the launch or of the capture.
pub struct Value {
    bytes: Vec<u8>,
    kind: ArgumentKind,
}

impl From<&RawArgument> for Value {
    fn from(&RawArgument { value, bytes, kind }: &RawArgument) -> Self {
        // SAFETY: `value` points to `bytes` bytes, which stay valid until the call returns.
        let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec();
        Self { bytes, kind }
    }
}

impl Value {
    /// Returns the bytes of the value.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether the value is a floating-point number, not an integer or a pointer.
    pub fn is_float(&self) -> bool {
        self.kind == ArgumentKind::Float
    }
}

/// The captured graphs, indexed by their identifiers. `None` marks a released graph.
#[derive(Default)]
pub struct Graphs(RefCell<Vec<Option<Rc<Vec<Work>>>>>);

impl Graphs {
    /// Stores the work of a capture as a graph.
    pub fn add(&self, work: Vec<Work>) -> GraphId {
        let mut graphs = self.0.borrow_mut();
        graphs.push(Some(Rc::new(work)));
        GraphId(graphs.len() - 1)
    }

    /// Returns the work of a graph.
    ///
    /// # Errors
    /// Returns an error if the graph was released.
    pub fn get(&self, graph: GraphId) -> Result<Rc<Vec<Work>>, Failed> {
        let work = self.0.borrow()[graph.0].clone();
        work.ok_or_else(|| Failed("the graph was released".into()))
    }

    /// Releases a graph, which cannot be launched afterwards.
    pub fn release(&self, graph: GraphId) {
        self.0.borrow_mut()[graph.0] = None;
    }

    /// Returns the number of graphs that have not been released.
    pub fn count(&self) -> usize {
        self.0.borrow().iter().flatten().count()
    }
}
