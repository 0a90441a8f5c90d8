//! What was captured in the stream, to be launched as a whole.

use std::cell::RefCell;
use std::ptr::null_mut;
use std::rc::Rc;

use cudarc::driver::sys::CUgraphExec;
use cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

use super::context::Context;
use crate::device::driver::GraphId;
use crate::method::Failed;

/// The graphs of a context; identifiers are indices.
pub struct Graphs {
    context: Rc<Context>,
    /// Null where one was given back.
    graphs: RefCell<Vec<CUgraphExec>>,
}

impl Graphs {
    /// None yet.
    pub fn new(context: Rc<Context>) -> Self {
        Self { context, graphs: RefCell::default() }
    }

    /// See [`Driver::begin_capture`](crate::device::driver::Driver::begin_capture).
    pub fn begin(&self) -> Result<(), Failed> {
        let begin = self.context.enter().cuStreamBeginCapture_v2;
        // SAFETY: the stream is alive.
        let status = unsafe { begin(self.context.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) };
        self.context.check(status, || "cuStreamBeginCapture".into())
    }

    /// See [`Driver::end_capture`](crate::device::driver::Driver::end_capture).
    pub fn end(&self) -> Result<GraphId, Failed> {
        let functions = self.context.enter();
        let (mut graph, mut executable) = (null_mut(), null_mut());
        // SAFETY: the stream is alive, and there is a graph to write to.
        let status = unsafe { (functions.cuStreamEndCapture)(self.context.stream, &mut graph) };
        self.context.check(status, || "cuStreamEndCapture".into())?;
        // SAFETY: the capture gave a graph, which is destroyed once; the executable one is a copy. The
        // status of the destruction changes nothing any more.
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

    /// See [`Driver::launch_graph`](crate::device::driver::Driver::launch_graph).
    pub fn launch(&self, graph: GraphId) -> Result<(), Failed> {
        let (launch, graph) = (self.context.enter().cuGraphLaunch, self.graphs.borrow()[graph.0]);
        // SAFETY: graph and stream are alive and of one context.
        let status = unsafe { launch(graph, self.context.stream) };
        self.context.check(status, || "cuGraphLaunch".into())?;
        self.context.enqueued("a graph");
        Ok(())
    }

    /// See [`Driver::release_graph`](crate::device::driver::Driver::release_graph).
    pub fn release(&self, graph: GraphId) {
        let released = std::mem::replace(&mut self.graphs.borrow_mut()[graph.0], null_mut());
        if !released.is_null() {
            // SAFETY: it was made here and is destroyed once; the driver waits until it has run. A status
            // here changes nothing any more.
            unsafe { (self.context.enter().cuGraphExecDestroy)(released) };
        }
    }
}
