//! The row of a result.

use super::outcome::{Measurement, Outcome};
use spmv_results::row::{Processes, Row, Status};

impl Outcome {
    /// Returns the row with this result, but without what follows from other rows: see `Group::complete`.
    pub fn in_row(&self, row: Row) -> Row {
        match self {
            Self::Skipped(reason) => row.ended(Status::Skipped, reason.clone()),
            Self::Failed(reason) => row.ended(Status::Failed, reason.clone()),
            Self::Timeout(reason) => row.ended(Status::Timeout, reason.clone()),
            Self::Wrong { reason, error_ratio } => {
                Row { error_ratio: Some(*error_ratio), ..row.ended(Status::Wrong, reason.clone()) }
            }
            Self::Ok(measurement) => measurement.in_row(row),
        }
    }
}

impl Measurement {
    fn in_row(&self, row: Row) -> Row {
        let summary = &self.summary;
        let stored = self.matrix_bytes.zip(row.vector_bytes());
        let profile = self.profile.as_ref();
        Row {
            status: Some(Status::Ok),
            setup_ms: Some(self.setup_ms),
            min_ms: Some(summary.min_ms),
            median_ms: Some(summary.median_ms),
            max_ms: Some(summary.max_ms),
            std_dev_ms: summary.std_dev_ms,
            ci95_low_ms: summary.ci95_ms.map(|ci| ci.0),
            ci95_high_ms: summary.ci95_ms.map(|ci| ci.1),
            samples: Some(summary.samples),
            iterations: Some(summary.iterations),
            extra_bytes: self.extra_bytes,
            error_ratio: Some(self.error_ratio),
            occupancy: self.occupancy,
            distinct_results: Some(self.distinct_results.clone()),
            launches: self.launches,
            launch_floor_ms: self.launch_floor_ms,
            required_bytes: stored.map(|(matrix, vectors)| matrix + vectors),
            achieved_occupancy: profile.and_then(|profile| profile.achieved_occupancy),
            warp_execution_efficiency: profile.and_then(|p| p.warp_execution_efficiency),
            global_load_efficiency: profile.and_then(|profile| profile.global_load_efficiency),
            memory_bytes: profile.map(|profile| profile.memory_bytes),
            bound_by: profile.map(|profile| profile.bound_by.to_owned()),
            warp_instructions: profile.map(|profile| profile.warp_instructions),
            global_sectors: profile.map(|profile| profile.global_sectors),
            registers: profile.map(|profile| profile.registers),
            host_launch_ms: summary.host_launch_ms,
            independent_ms: summary.independent_ms,
            joules_per_product: self.watts.map(|watts| 1e-3 * watts * summary.mean_ms),
            library_version: self.library_version.clone(),
            reason: self.remarks.clone(),
            picked: self.picked.clone(),
            likely_ratio: Some(self.likely_ratio),
            process_ms: Some(Processes::of(summary.median_ms)),
            ..row.with_mean(summary.mean_ms)
        }
    }
}
