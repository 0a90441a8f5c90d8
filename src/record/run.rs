//! What does not change within a run: the companion of a result file.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::bench::peak::Peak;
use crate::bench::plan::Settings;
use crate::device::facts::{Clocks, Facts};
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
    /// Whether the mirrored half of symmetric files was stored too.
    pub expand: bool,
    /// The GPU, if a method of the run needed one and it is there.
    pub gpu: Option<GpuRecord>,
    /// Vendors' libraries, or why they are absent.
    pub libraries: Vec<Library>,
    /// Bandwidth at the start of the run, all threads.
    pub bandwidth: Vec<Bandwidth>,
}

/// A GPU in a run.
#[derive(Clone, Debug, Serialize)]
pub struct GpuRecord {
    /// What it is.
    #[serde(flatten)]
    pub facts: Facts,
    /// Its bandwidth on paper.
    pub nominal_gbs: f64,
    /// What its clocks were; `None` until the run ends, or when nobody tells.
    pub clocks: Option<ClockRange>,
}

/// The clocks that were read before and after each matrix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockRange {
    /// Lowest and highest of the multiprocessors.
    pub multiprocessor_mhz: [u32; 2],
    /// Lowest and highest of the memory.
    pub memory_mhz: [u32; 2],
    /// Highest temperature in degrees Celsius.
    pub temperature: Option<u32>,
    /// See [`Clocks::throttled_by`]; from all readings.
    pub throttled_by: BTreeSet<String>,
}

impl ClockRange {
    /// Of all readings; `None` when there is none.
    pub fn of<'a>(readings: impl Iterator<Item = &'a Clocks> + Clone) -> Option<Self> {
        let range = |clock: fn(&Clocks) -> u32| {
            let clocks = readings.clone().map(clock);
            Some([clocks.clone().min()?, clocks.max()?])
        };
        Some(Self {
            multiprocessor_mhz: range(|clocks| clocks.multiprocessor_mhz)?,
            memory_mhz: range(|clocks| clocks.memory_mhz)?,
            temperature: readings.clone().filter_map(|clocks| clocks.temperature).max(),
            throttled_by: readings.flat_map(|clocks| clocks.throttled_by.clone()).collect(),
        })
    }
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
