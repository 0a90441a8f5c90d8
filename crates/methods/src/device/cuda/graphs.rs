//! CUDA graphs: work that was captured in the stream and is launched as a whole.

use std::cell::RefCell;
use std::ptr::null_mut;
use std::rc::Rc;

use cudarc::driver::sys::CUgraphExec;
use cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

use super::context::Context;
use crate::device::Failed;
use crate::device::driver::GraphId;

/// The graphs of a context; their identifiers are indices.
pub struct Graphs {
    context: Rc<Context>,
    /// The graphs, with null for those that were released.
    graphs: RefCell<Vec<CUgraphExec>>,
}

impl Graphs {
    /// Creates an empty list of graphs.
    pub fn new(context: Rc<Context>) -> Self {
        Self { context, graphs: RefCell::default() }
    }

    /// Implements [`Driver::begin_capture`](crate::device::driver::Driver::begin_capture).
    pub fn begin(&self) -> Result<(), Failed> {
        let begin = self.context.enter().cuStreamBeginCapture_v2;
        // SAFETY: the stream is alive.
        let status = unsafe { begin(self.context.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) };
        self.context.check(status, || "cuStreamBeginCapture".into())
    }

    /// Implements [`Driver::end_capture`](crate::device::driver::Driver::end_capture).
    pub fn end(&self) -> Result<GraphId, Failed> {
        let functions = self.context.enter();
        let (mut graph, mut executable) = (null_mut(), null_mut());
        // SAFETY: the stream is alive, and the pointer is valid for writes.
        let status = unsafe { (functions.cuStreamEndCapture)(self.context.stream, &mut graph) };
        self.context.check(status, || "cuStreamEndCapture".into())?;
        // SAFETY: the capture returned a graph, which is destroyed once; the executable graph is a copy. The status of
        // the destruction is ignored: nothing can be done.
        let status = unsafe {
            let status = (functions.cuGraphInstantiateWithFlags)(&mut executable, graph, 0);
            (functions.cuGraphDestroy)(graph);
            status
        };
        self.context.check(status, || "cuGraphInstantiate".into())?;
        let mut graphs = self.graphs.borrow_mut();
        graphs.push(executable);
        Ok(GraphId(graphs.len() - 1))
    }

    /// Implements [`Driver::launch_graph`](crate::device::driver::Driver::launch_graph).
    pub fn launch(&self, graph: GraphId) -> Result<(), Failed> {
        let (launch, graph) = (self.context.enter().cuGraphLaunch, self.graphs.borrow()[graph.0]);
        // SAFETY: graph and stream are alive and belong to the same context.
        let status = unsafe { launch(graph, self.context.stream) };
        self.context.check(status, || "cuGraphLaunch".into())?;
        self.context.enqueued("a graph");
        Ok(())
    }

    /// Implements [`Driver::release_graph`](crate::device::driver::Driver::release_graph).
    pub fn release(&self, graph: GraphId) {
        let released = std::mem::replace(&mut self.graphs.borrow_mut()[graph.0], null_mut());
        if !released.is_null() {
            // SAFETY: the graph was created here and is destroyed once; the driver waits until it has run. The status
            // is ignored: nothing can be done.
            unsafe { (self.context.enter().cuGraphExecDestroy)(released) };
        }
    }
}
