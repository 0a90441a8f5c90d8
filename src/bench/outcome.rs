//! Why a method has no times.

use std::time::Duration;

use spmv_matrix::memory::{self, Available};
use spmv_methods::method::{Failed, Unavailable, Unprepared};
use spmv_results::row::{Row, Status};
use spmv_results::settings::Settings;

/// How a method ended that has no times.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub status: Status,
    pub reason: String,
    /// See [`Verdict::error_ratio`](spmv_matrix::verify::Verdict::error_ratio); `None` unless a result was wrong.
    pub error_ratio: Option<f64>,
}

/// Formats a time in seconds with three significant digits, without an exponent.
fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let digits = (2.0 - seconds.max(1e-9).log10().floor()).max(0.0);
    format!("{seconds:.*}", digits as usize)
}

impl Outcome {
    pub fn new(status: Status, reason: String) -> Self {
        Self { status, reason, error_ratio: None }
    }

    /// Returns the outcome of a method of which a result was wrong, or a check of its times failed.
    pub fn wrong(reason: String, error_ratio: f64) -> Self {
        Self { error_ratio: Some(error_ratio), ..Self::new(Status::Wrong, reason) }
    }

    /// Returns the outcome of a method that has taken `spent`.
    pub fn overdue(settings: &Settings, spent: Duration) -> Self {
        let (spent, limit) = (seconds(spent), settings.timeout.as_secs_f64());
        let reason = format!("took {spent} s, longer than the {limit} s of --timeout");
        Self::new(Status::Timeout, reason)
    }

    /// Returns the outcome of a method that needs `need` bytes, more than are available.
    pub fn refused(need: u64, available: Available) -> Self {
        let refusal = memory::refusal("for its format", need, available);
        Self::new(Status::Skipped, refusal.unwrap_or_default())
    }

    /// Returns the row with this result, but without what follows from other rows: see `Group::complete`.
    pub fn in_row(&self, row: Row) -> Row {
        Row { error_ratio: self.error_ratio, ..row.ended(self.status, self.reason.clone()) }
    }
}

impl From<Failed> for Outcome {
    fn from(Failed(reason): Failed) -> Self {
        Self::new(Status::Failed, reason)
    }
}

impl From<Unavailable> for Outcome {
    fn from(Unavailable(reason): Unavailable) -> Self {
        Self::new(Status::Skipped, reason)
    }
}

impl From<Unprepared> for Outcome {
    fn from(unprepared: Unprepared) -> Self {
        match unprepared {
            Unprepared::Unavailable(unavailable) => unavailable.into(),
            Unprepared::Failed(failed) => failed.into(),
        }
    }
}
