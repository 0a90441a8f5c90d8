//! Work that was captured once and is launched as a whole: a CUDA graph.

use super::Gpu;
use super::driver::GraphId;
use crate::method::Failed;

/// A captured sequence of kernels, fills and copies. The buffers that it uses must outlive it, and the
/// numbers that were passed to its kernels are those of the capture.
pub struct Graph {
    gpu: Gpu,
    id: GraphId,
}

impl Gpu {
    /// Captures what `work` enqueues, instead of running it.
    ///
    /// # Errors
    /// Those of `work`, and of a driver that cannot capture it: work that waits or allocates.
    pub fn capture(&self, work: impl FnOnce() -> Result<(), Failed>) -> Result<Graph, Failed> {
        self.0.driver.begin_capture()?;
        let done = work();
        // A capture that failed must be ended as well, or nothing runs any more.
        let captured = self.0.driver.end_capture();
        let graph = captured.map(|id| Graph { gpu: self.clone(), id });
        done?;
        graph
    }
}

impl Graph {
    /// Enqueues all of it, as one stage.
    ///
    /// # Errors
    /// Those of the driver.
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
