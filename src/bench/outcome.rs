//! What a measurement yields: a value for every method, whatever became of it.

use std::time::Duration;

use super::peak::Peak;
use super::plan::Settings;
use super::statistics::Summary;
use crate::device::Stage;
use crate::device::counts::Profile;
use crate::device::facts::Clocks;
use crate::memory::{self, Available};

/// What became of one method.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Right, and timed.
    Ok(Box<Measurement>),
    /// It does not take this matrix or is not on this machine.
    Skipped(String),
    /// It computed something else.
    Wrong {
        /// The worst row in words.
        reason: String,
        /// See [`Verdict::error_ratio`](crate::verify::Verdict::error_ratio).
        error_ratio: f64,
    },
    /// It ended in an error.
    Failed(String),
    /// It took longer than it may.
    Timeout(String),
}

/// A time with three significant digits, without an exponent.
fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let digits = (2.0 - seconds.max(1e-9).log10().floor()).max(0.0);
    format!("{seconds:.*}", digits as usize)
}

impl Outcome {
    /// [`Timeout`](Self::Timeout) after all that time.
    pub fn overdue(settings: &Settings, spent: Duration) -> Self {
        let (spent, limit) = (seconds(spent), settings.timeout.as_secs_f64());
        Self::Timeout(format!("took {spent} s, longer than the {limit} s of --timeout"))
    }

    /// For a method that needs more memory than there is.
    pub fn refused(need: u64, room: Available) -> Self {
        Self::Skipped(memory::refusal("for its format", need, room).unwrap_or_default())
    }

    /// The same of a method that was ready with some of the others only, for want of memory.
    pub fn noting_part(mut self, number: usize, parts: usize) -> Self {
        if let Self::Ok(measurement) = &mut self {
            let note = format!("with part {number} of {parts} of the methods, as memory allows");
            measurement.note = Some(match &measurement.note {
                Some(before) => format!("{before}; {note}"),
                None => note,
            });
        }
        self
    }
}

/// The costs of one method on one matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Time of `prepare`, in milliseconds.
    pub setup_ms: f64,
    /// Times of the products.
    pub summary: Summary,
    /// See [`Prepared::extra_bytes`](crate::method::Prepared::extra_bytes).
    pub extra_bytes: Option<u64>,
    /// See [`Method::matrix_bytes`](crate::method::Method::matrix_bytes).
    pub matrix_bytes: Option<u64>,
    /// See [`Verdict::error_ratio`](crate::verify::Verdict::error_ratio); the worst of all
    /// verifications whose x is the same.
    pub error_ratio: f64,
    /// How many bitwise different y the verifications saw, after the first product and in each round, of those
    /// whose x is the same.
    pub distinct_results: usize,
    /// See [`Prepared::library_version`](crate::method::Prepared::library_version).
    pub library_version: Option<String>,
    /// See [`Prepared::note`](crate::method::Prepared::note), and whether the times stayed noisy.
    pub note: Option<String>,
    /// See [`Stage::occupancy`]: that of the kernel that takes most of the product's time.
    pub occupancy: Option<f64>,
    /// What a profiler would say, of a product on a modelled device.
    pub profile: Option<Profile>,
    /// Kernels, fills, copies, graphs and library calls that a product enqueues on a device.
    pub launches: Option<u64>,
    /// Times of the product's parts, when they were asked for and it has any.
    pub stages: Vec<Stage>,
}

/// All that was measured on one matrix in one precision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The ceiling at the matrix's footprint.
    pub peak: Peak,
    /// Time spent compiling kernels, in milliseconds; `None` where there are none.
    pub compile_ms: Option<f64>,
    /// The GPU's clocks under load, before the first round and after each, where it tells.
    pub clocks: Vec<Clocks>,
    /// The least time of a launch on the GPU, in milliseconds.
    pub launch_ms: Option<f64>,
    /// In the order of the methods asked for.
    pub outcomes: Vec<Outcome>,
    /// When it was interrupted: the places, among the methods asked for, of those that have an outcome all the
    /// same.
    pub interrupted: Option<Vec<usize>>,
}
