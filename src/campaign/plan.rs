//! What a campaign measures, and how. Pure data, which is also sent to child processes.

use serde::{Deserialize, Serialize};

use crate::bench::run::{DeviceChoice, RunSettings};

/// The settings of the run, and how matrices and methods are treated beyond them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub run: RunSettings,
    /// The parameters of which every value is measured, unless the methods of the run set a value.
    pub sweep: Vec<String>,
    /// Whether matrices with a single row or column are skipped.
    pub skip_trivial: bool,
    /// Whether the bandwidth of the machine is measured for the run record.
    pub bandwidth: bool,
}

impl Plan {
    /// Creates a plan with these settings, for all matrices and without bandwidths.
    pub fn new(run: RunSettings) -> Self {
        Self { run, sweep: Vec::new(), skip_trivial: false, bandwidth: false }
    }

    /// Returns the plan for one of several numbers of threads, of which `most` is the largest. With the others, only
    /// the methods that depend on the number are measured.
    pub fn with_threads(mut self, threads: usize, most: usize) -> Self {
        let is_first = threads == most;
        self.run.threads = vec![threads];
        self.run.only_parallel = !is_first;
        self.run.quiet |= !is_first;
        self.bandwidth &= is_first;
        self
    }

    /// Returns the plan for one of several modelled GPUs.
    pub fn with_model(mut self, model: String, is_first: bool) -> Self {
        self.run.device = DeviceChoice::Models(vec![model]);
        self.run.quiet |= !is_first;
        self
    }
}
