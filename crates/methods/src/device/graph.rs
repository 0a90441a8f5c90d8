//! CUDA graphs: work that is captured once and then launched as a whole.

use super::Gpu;
use super::driver::GraphId;
use crate::device::Failed;

/// A captured sequence of kernels, fills and copies. The buffers that it uses must outlive it, and its kernels get the
/// numbers that were passed during the capture.
pub struct Graph {
    gpu: Gpu,
    id: GraphId,
}

impl Gpu {
    /// Captures the work that `work` enqueues, without running it. It must not wait or allocate, which cannot be captured.
    pub fn capture(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Graph, Failed> {
        self.0.driver.begin_capture()?;
        self.0.latest.take();
        let done = work();
        // A failed capture must also be ended; otherwise nothing runs any more.
        let captured = self.0.driver.end_capture();
        let graph = captured.map(|id| Graph { gpu: self.clone(), id });
        done?;
        graph
    }
}

impl Graph {
    /// Enqueues the whole graph as one stage.
    pub fn launch(&self) -> Result<(), Failed> {
        self.gpu.0.driver.launch_graph(self.id)?;
        self.gpu.enqueued("graph", || Ok(None))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.gpu.0.driver.release_graph(self.id);
    }
}
