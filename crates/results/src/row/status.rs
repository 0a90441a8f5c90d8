//! How the measurement of a method ended.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The method was verified and timed.
    Ok,
    /// The method does not support this matrix or is not available on this machine.
    Skipped,
    /// A result exceeded its error bound, or a check of the times failed.
    Wrong,
    /// The method ended with an error.
    Failed,
    /// The method exceeded its time limit.
    Timeout,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Wrong => "wrong",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
        }
    }
}
