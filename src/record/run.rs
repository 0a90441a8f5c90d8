//! What does not change within a run: the companion of a result file.

use serde::Serialize;

use crate::bench::peak::Peak;
use crate::bench::plan::Settings;
use crate::system::System;

/// The facts of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunRecord {
    /// The rows' `run_id`.
    pub run_id: String,
    /// When the run began, UTC.
    pub date: String,
    /// This program's version.
    pub version: &'static str,
    /// The source revision it was built from, with `-modified` if it was changed since.
    pub revision: &'static str,
    /// The command line.
    pub command: Vec<String>,
    /// The machine.
    pub system: System,
    /// The CPU of each thread.
    pub pinned_to: Vec<usize>,
    /// How each method was measured.
    pub settings: Settings,
    /// Vendors' libraries, or why they are absent.
    pub libraries: Vec<Library>,
    /// Bandwidth at the start of the run, all threads.
    pub bandwidth: Vec<Bandwidth>,
}

/// A vendor's library.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Library {
    /// For example `MKL 2025.3.1`.
    pub name: String,
    /// Where it was found, or how to get it.
    pub place: String,
}

/// A measured bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Threads that swept.
    pub threads: usize,
    /// Bytes of the three arrays together.
    pub bytes: usize,
    /// The rates.
    #[serde(flatten)]
    pub peak: Peak,
}

/// The revision that this program was built from.
pub const REVISION: &str = git_version::git_version!(
    args = ["--always", "--abbrev=12", "--dirty=-modified"],
    fallback = "unknown"
);
