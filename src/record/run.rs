//! What does not change within a run: the companion of a result file.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::bench::peak::Peak;
use crate::bench::plan::{CacheState, Settings};
use crate::device::facts::{Clocks, Facts};
use crate::matrix::order::Order;
use crate::method::Device;
use crate::scalar::Precision;
use crate::system::System;
use crate::system::noise::Readings;

/// The facts of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// The rows' `run_id`.
    pub run_id: String,
    /// When the run began, UTC.
    pub date: String,
    /// This program's version.
    pub version: String,
    /// The source revision it was built from, with `-modified` if it was changed since.
    pub revision: String,
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
    /// The order that matrices were brought into. Of several it is the first, as the kind of caches in the settings
    /// is; each cell tells its own.
    pub order: Order,
    /// What each matrix has rows of, in their order.
    pub cells: Vec<RowKey>,
    /// The GPU, if a method of the run needed one and it is there.
    pub gpu: Option<GpuRecord>,
    /// Vendors' libraries that methods asked for, or why they are absent. Each is opened when the first method
    /// that needs it is prepared.
    pub libraries: Vec<Library>,
    /// Bandwidth at the start of the run, all threads.
    pub bandwidth: Vec<Bandwidth>,
    /// The matrices, if there are several.
    pub corpus: Option<Corpus>,
    /// The times at which the run was begun, and gone on with.
    pub sessions: Vec<Session>,
    /// The `run_id` of the runs that `merge` joined, if it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<String>,
}

impl RunRecord {
    /// Whether a row with that `run_id` can be the run's.
    pub fn has_row_of(&self, run_id: &str) -> bool {
        self.run_id == run_id || self.joined.iter().any(|joined| joined == run_id)
    }
}

/// What has a row of its own for each matrix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RowKey {
    /// The precision.
    pub precision: Precision,
    /// Where the method runs.
    pub device: Device,
    /// The method, with the parameters given.
    pub method: String,
    /// Threads of a method of the CPU.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Hot or cold.
    #[serde(default)]
    pub cache: Option<CacheState>,
    /// The order of the matrix.
    #[serde(default)]
    pub order: Option<Order>,
}

impl RowKey {
    /// Whether a row belongs to this cell. The record of an older version does not tell threads, caches and order; then
    /// these are not compared.
    pub fn has(&self, row: &Self) -> bool {
        let Self { threads, cache, order, .. } = self;
        let told =
            Self { threads: threads.and(row.threads), cache: cache.and(row.cache), ..row.clone() };
        *self == Self { order: order.and(row.order), ..told }
    }
}

/// A cell that has its row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The cell.
    pub cell: RowKey,
    /// Median time of a product in milliseconds, if there is one.
    pub median_ms: Option<f64>,
}

/// The matrices of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corpus {
    /// Which share of all matrices.
    pub shard: Shard,
    /// How many matrices all shards have.
    pub matrices: usize,
    /// A hash of all their names and sizes: shards of one corpus have the same.
    pub hash: String,
    /// Those of this run: the place among all, and the name as in rows.
    pub files: Vec<(usize, String)>,
}

/// One of several shares of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

/// A stretch of a run: from its beginning, or a resumption, to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// When it began, UTC.
    pub date: String,
    /// What else the machine did then.
    pub begin: Readings,
    /// The same at its end; `None` if it did not come to an end of its own.
    pub end: Option<Readings>,
}

/// A GPU in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GpuRecord {
    /// What it is.
    #[serde(flatten)]
    pub facts: Facts,
    /// Its bandwidth on paper.
    pub nominal_gbs: f64,
    /// Bandwidth at the start of the run.
    #[serde(default)]
    pub bandwidth: Vec<DeviceBandwidth>,
    /// The least time of a launch, in microseconds: that of a kernel that does nothing, of many in a row.
    #[serde(default)]
    pub launch_us: Option<f64>,
    /// What its clocks were under load; `None` until the run ends, or when nobody tells.
    pub clocks: Option<ClockRange>,
}

/// The clocks that were read while products ran, several times per matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

    /// Of both.
    pub fn join(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        let (Some(a), Some(b)) = (&a, &b) else { return a.or(b) };
        let range = |a: [u32; 2], b: [u32; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        Some(Self {
            multiprocessor_mhz: range(a.multiprocessor_mhz, b.multiprocessor_mhz),
            memory_mhz: range(a.memory_mhz, b.memory_mhz),
            temperature: a.temperature.max(b.temperature),
            throttled_by: &a.throttled_by | &b.throttled_by,
        })
    }
}

/// A vendor's library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Library {
    /// For example `MKL 2025.3.1`.
    pub name: String,
    /// Where it was found, or how to get it.
    pub place: String,
}

/// A measured bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Threads that swept.
    pub threads: usize,
    /// Bytes of the three arrays together.
    pub bytes: usize,
    /// The rates.
    #[serde(flatten)]
    pub peak: Peak,
}

/// A measured bandwidth of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceBandwidth {
    /// Bytes that were swept.
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
