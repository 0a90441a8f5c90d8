//! The row of a method that was verified and timed.

use std::time::Duration;

use super::backend::Parts;
use super::execute::Ready;
use spmv_matrix::verify::LIKELY_FACTOR;
use spmv_methods::device::Stage;
use spmv_methods::device::counts::Profile;
use spmv_methods::method::Device;
use spmv_results::row::{Processes, Remark, Row, Status};

impl<T, V: ?Sized> Ready<'_, T, V> {
    /// Returns the row of a method that was verified and timed, without what follows from other rows, and the parts of
    /// its product.
    pub fn in_row(mut self, row: Row) -> (Row, Vec<Stage>) {
        let Parts { stages, launches, launch_floor_ms, note } = self.parts.take().unwrap_or_default();
        let setup_ms = self.setup_ms + self.late_ms().iter().sum::<f64>();
        let stored = self.matrix_bytes.zip(row.vector_bytes());
        let counts = stages.iter().filter_map(|stage| Some((stage.ms, stage.counts.as_ref()?)));
        let profile = Profile::of(counts);
        let profile = profile.as_ref();
        let watts = self.power.watts();
        let row = self.samples.in_row(row);
        let row = Row {
            status: Some(Status::Ok),
            setup_ms: Some(setup_ms),
            extra_bytes: self.prepared.extra_bytes.or(self.prepared.grown_bytes),
            error_ratio: Some(self.error_ratio),
            occupancy: occupancy(&stages),
            distinct_results: Some(self.hashes.clone().into()),
            likely_ratio: Some(self.likely_ratio),
            process_setup_ms: Some(Processes::of(setup_ms)),
            disturbed: (self.cell.key.device == Device::Cpu).then(|| self.samples.disturbed()),
            launches,
            launch_floor_ms,
            required_bytes: stored.map(|(matrix, vectors)| matrix + vectors),
            achieved_occupancy: profile.and_then(|profile| profile.achieved_occupancy),
            warp_execution_efficiency: profile.and_then(|p| p.warp_execution_efficiency),
            global_load_efficiency: profile.and_then(|profile| profile.global_load_efficiency),
            memory_bytes: profile.map(|profile| profile.memory_bytes),
            bound_by: profile.map(|profile| profile.bound_by.to_owned()),
            warp_instructions: profile.map(|profile| profile.warp_instructions),
            global_sectors: profile.map(|profile| profile.global_sectors),
            registers: profile.map(|profile| profile.registers),
            joules_per_product: watts.zip(row.avg_spmv_ms).map(|(watts, ms)| 1e-3 * watts * ms),
            library_version: self.prepared.library_version.clone(),
            picked: self.prepared.picked.clone(),
            reason: note.map(Remark::Text).into_iter().chain(self.remarks()).collect(),
            ..row
        };
        (row, stages)
    }

    /// Returns what products before the first sample, and after it, took so much longer that it is setup. Of methods
    /// whose code is known, a long product after the first sample was interrupted.
    fn late_ms(&self) -> [f64; 2] {
        let usual = self.samples.typical().unwrap_or_default();
        let later = if self.prepared.is_foreign { self.late.later(usual) } else { Duration::ZERO };
        [self.late.early(usual, self.cell.key.device), later].map(|time| 1e3 * time.as_secs_f64())
    }

    /// Returns the remarks on a measurement.
    fn remarks(&self) -> Vec<Remark> {
        let prepared = &self.prepared;
        let mut remarks: Vec<_> = prepared.picked.iter().cloned().map(Remark::Picked).collect();
        remarks.extend(prepared.notes.iter().cloned().map(Remark::Text));
        let grown = prepared.grown_bytes.filter(|&bytes| bytes > 0);
        remarks.extend(grown.map(|_| Remark::MemoryOfProcess));
        let times = self.likely_ratio;
        remarks.extend((times > LIKELY_FACTOR).then_some(Remark::LessAccurate { times }));
        let [early, later] = self.late_ms();
        remarks.extend((early > 0.0).then_some(Remark::LateSetup { ms: early }));
        remarks.extend((later > 0.0).then_some(Remark::LaterSetup { ms: later }));
        remarks.extend(self.samples.remark());
        remarks.extend(self.cpus.remark(self.cell.key.threads, self.samples.waited()));
        remarks.extend(self.power.remark());
        remarks.extend(self.remarks.iter().cloned());
        remarks
    }
}

/// Returns the [`Stage::occupancy`] of the kernel that takes the most time.
fn occupancy(stages: &[Stage]) -> Option<f64> {
    let kernels = stages.iter().filter(|stage| stage.occupancy.is_some());
    kernels.max_by(|a, b| a.ms.total_cmp(&b.ms))?.occupancy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_occupancy_is_that_of_the_longest_kernel() {
        let stage = |ms, occupancy| Stage { ms, occupancy, ..Stage::default() };
        let stages = [stage(1.0, Some(0.5)), stage(2.0, Some(0.25)), stage(3.0, None)];
        assert_eq!(occupancy(&stages), Some(0.25));
        assert_eq!(occupancy(&stages[2..]), None);
    }
}
