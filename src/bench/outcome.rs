//! Why a method has no times.

use std::time::Duration;

use spmv_matrix::memory::{self, Available};
use spmv_methods::method::{Failed, Unavailable, Unprepared};
use spmv_results::settings::Settings;

/// Why a method has no times.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
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
