//! What a command asks a campaign to measure.

use serde::{Deserialize, Serialize};

use spmv_matrix::source::Source;
use spmv_results::settings::RunSettings;

/// What a campaign measures, and how. Pure data, which is also sent to child processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub run: RunSettings,
    /// The parameters of which every value is measured, unless the methods of the run set a value.
    pub sweep: Vec<String>,
    /// Whether matrices with a single row or column are skipped.
    pub skip_trivial: bool,
    /// Whether the bandwidth of the machine is measured for the run record.
    pub bandwidth: bool,
    /// Whether modelled products run again without each performance problem of their kernels.
    pub explains: bool,
}

impl Plan {
    /// Creates a plan with these settings, for all matrices and without bandwidths.
    pub fn new(run: RunSettings) -> Self {
        Self { run, sweep: Vec::new(), skip_trivial: false, bandwidth: false, explains: false }
    }

    /// Returns the plan for these matrices. One process measures them all if there is one that can be read only once.
    pub fn of<'s>(mut self, mut sources: impl Iterator<Item = &'s Source>) -> Self {
        if sources.any(Source::is_read_once) {
            (self.run.settings.processes, self.run.settings.further_processes) = (1, 0);
        }
        self
    }
}
