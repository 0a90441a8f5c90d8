//! The results of a measurement: one [`Outcome`] per method, including methods that failed.

use std::time::Duration;

use super::backend::Parts;
use super::execute::{Bench, News, Ready};
use super::statistics::Summary;
use spmv_matrix::memory::{self, Available};
use spmv_matrix::verify::LIKELY_FACTOR;
use spmv_methods::device::Stage;
use spmv_methods::device::counts::Profile;
use spmv_methods::device::facts::Clocks;
use spmv_methods::method::{Choice, Failed, Prepared, Unavailable, Unprepared};
use spmv_results::metrics::Peak;
use spmv_results::row::{Distinct, Remark, Remarks};
use spmv_results::settings::Settings;

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The method was verified and timed.
    Ok(Box<Measurement>),
    /// The method does not support this matrix or is not available on this machine; with the reason.
    Skipped(String),
    /// A result of the method was wrong, or a check of its times failed.
    Wrong {
        /// A description of the error, such as the worst row.
        reason: String,
        /// See [`Verdict::error_ratio`](spmv_matrix::verify::Verdict::error_ratio).
        error_ratio: f64,
    },
    Failed(String),
    /// The method exceeded its time limit; with the times.
    Timeout(String),
}

/// Formats a time in seconds with three significant digits, without an exponent.
fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let digits = (2.0 - seconds.max(1e-9).log10().floor()).max(0.0);
    format!("{seconds:.*}", digits as usize)
}

impl Outcome {
    /// Returns a [`Timeout`](Self::Timeout) of a method that has taken `spent`.
    pub fn overdue(settings: &Settings, spent: Duration) -> Self {
        let (spent, limit) = (seconds(spent), settings.timeout.as_secs_f64());
        Self::Timeout(format!("took {spent} s, longer than the {limit} s of --timeout"))
    }

    /// Returns the outcome of a method that needs `need` bytes, more than are available.
    pub fn refused(need: u64, available: Available) -> Self {
        Self::Skipped(memory::refusal("for its format", need, available).unwrap_or_default())
    }

    /// Returns the parts of a product, if they were requested.
    pub fn stages(&self) -> Vec<Stage> {
        if let Self::Ok(measurement) = self { measurement.stages.clone() } else { Vec::new() }
    }
}

impl From<Failed> for Outcome {
    fn from(Failed(reason): Failed) -> Self {
        Self::Failed(reason)
    }
}

impl From<Unprepared> for Outcome {
    fn from(unprepared: Unprepared) -> Self {
        match unprepared {
            Unprepared::Unavailable(Unavailable(reason)) => Self::Skipped(reason),
            Unprepared::Failed(failed) => failed.into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The time of `prepare` in milliseconds, without the compilation of kernels, and [`Ready::late_setup`].
    pub setup_ms: f64,
    pub summary: Summary,
    /// The mean power of the device while samples were taken, where its energy can be read and they took long enough.
    pub watts: Option<f64>,
    /// See [`Prepared::extra_bytes`](spmv_methods::method::Prepared::extra_bytes); if it is unknown, the growth of the
    /// process.
    pub extra_bytes: Option<u64>,
    /// See [`Method::matrix_bytes`](spmv_methods::method::Method::matrix_bytes).
    pub matrix_bytes: Option<u64>,
    /// The largest [`Verdict::error_ratio`](spmv_matrix::verify::Verdict::error_ratio) of all verifications with
    /// unaltered x.
    pub error_ratio: f64,
    /// See [`Ready::likely_ratio`].
    pub likely_ratio: f64,
    /// The bitwise different y in all verifications with unaltered x.
    pub distinct_results: Distinct,
    /// See [`Prepared::library_version`](spmv_methods::method::Prepared::library_version).
    pub library_version: Option<String>,
    /// See [`Prepared::picked`](spmv_methods::method::Prepared::picked).
    pub picked: Option<String>,
    pub remarks: Remarks,
    /// The [`Stage::occupancy`] of the kernel that takes the most time.
    pub occupancy: Option<f64>,
    /// The metrics that a profiler would report, for a product on a modelled device.
    pub profile: Option<Profile>,
    /// The number of kernels, fills, copies, graphs and library calls that a product enqueues on a device.
    pub launches: Option<u64>,
    /// The minimum time of that many launches, in milliseconds.
    pub launch_floor_ms: Option<f64>,
    /// The times of the product's parts, if they were requested and there are any.
    pub stages: Vec<Stage>,
}

impl Measurement {
    /// `launch_ms` is the minimum time of a launch.
    pub fn of<T, V: ?Sized>(ready: Ready<T, V>, show_stages: bool, launch_ms: Option<f64>) -> Self {
        let late_ms = 1e3 * ready.late_setup().as_secs_f64();
        let Parts { stages, launches, note } = ready.parts.unwrap_or_default();
        let Prepared { picked, notes, grown_bytes: grown, .. } = ready.prepared;
        let (summary, noise) = ready.attempts.result();
        let mut remarks: Vec<_> = note.map(Remark::Text).into_iter().collect();
        remarks.extend(picked.iter().cloned().map(Remark::Picked));
        remarks.extend(notes.into_iter().map(Remark::Text));
        remarks.extend(grown.filter(|&bytes| bytes > 0).map(|_| Remark::MemoryOfProcess));
        let times = ready.likely_ratio;
        remarks.extend((times > LIKELY_FACTOR).then_some(Remark::LessAccurate { times }));
        remarks.extend((late_ms > 0.0).then_some(Remark::LateSetup { ms: late_ms }));
        remarks.extend(noise);
        remarks.extend(ready.power.remark());
        remarks.extend(ready.remarks);
        let counts = stages.iter().filter_map(|stage| Some((stage.ms, stage.counts.as_ref()?)));
        Self {
            setup_ms: ready.setup_ms + late_ms,
            summary,
            watts: ready.power.watts(),
            extra_bytes: ready.prepared.extra_bytes.or(grown),
            matrix_bytes: ready.matrix_bytes,
            error_ratio: ready.error_ratio,
            likely_ratio: ready.likely_ratio,
            distinct_results: ready.hashes.into(),
            library_version: ready.prepared.library_version,
            picked,
            remarks: remarks.into_iter().collect(),
            occupancy: occupancy(&stages),
            profile: Profile::of(counts),
            launches,
            launch_floor_ms: launches.zip(launch_ms).map(|(count, ms)| count as f64 * ms),
            stages: if show_stages { stages } else { Vec::new() },
        }
    }
}

fn occupancy(stages: &[Stage]) -> Option<f64> {
    let kernels = stages.iter().filter(|stage| stage.occupancy.is_some());
    kernels.max_by(|a, b| a.ms.total_cmp(&b.ms))?.occupancy
}

/// All measurements of one matrix in one precision on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The peak bandwidth at the matrix's footprint.
    pub peak: Peak,
    /// The time spent compiling kernels, in milliseconds; `None` on the host.
    pub compile_ms: Option<f64>,
    /// The GPU's clocks under load, before the first round and after all rounds, where they can be read.
    pub clocks: Vec<Clocks>,
    /// The outcomes in the order of the requested methods; after an interrupt only of the methods that have one.
    pub outcomes: Vec<Outcome>,
    pub interrupted: bool,
}

impl Results {
    /// Reports the same outcome for each method.
    pub fn of_all(bench: &Bench, choices: &[Choice], outcome: &Outcome) -> Self {
        (0..choices.len()).for_each(|place| (bench.report)(News::Final(place, outcome)));
        Self { outcomes: vec![outcome.clone(); choices.len()], ..Self::default() }
    }
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
