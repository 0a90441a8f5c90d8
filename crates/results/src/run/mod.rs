//! The run record: everything that does not change within a run, stored next to the result file.
//! `docs/schema/run.schema.json` describes its fields.

pub mod corpus;
pub mod facts;

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use corpus::{Corpus, Shard, StoredFile};

use crate::metrics::Peak;
use crate::row::RowKey;
use crate::settings::Settings;
use spmv_matrix::device::facts::{Activity, Clocks, Facts};
use spmv_matrix::order::Order;
use spmv_matrix::reader::Edges;
use spmv_matrix::system::System;
use spmv_matrix::system::energy::Rapl;
use spmv_matrix::system::noise::Readings;
use spmv_matrix::system::waits::Source;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    pub run_id: String,
    pub date: String,
    pub version: String,
    pub revision: String,
    pub command: Vec<String>,
    pub system: System,
    pub pinned_to: Vec<usize>,
    pub settings: Settings,
    pub expand: bool,
    /// What edge lists mean, if it was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Edges>,
    pub order: Order,
    pub cells: Vec<RowKey>,
    pub gpu: Option<GpuRecord>,
    #[serde(default)]
    pub energy: Option<HostEnergy>,
    pub libraries: Vec<Library>,
    pub bandwidth: Vec<Bandwidth>,
    pub corpus: Option<Corpus>,
    pub sessions: Vec<Session>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<String>,
}

impl RunRecord {
    pub fn has_row_of(&self, run_id: &str) -> bool {
        self.run_id == run_id || self.joined.iter().any(|joined| joined == run_id)
    }
}

/// A session of a run, from its start or a resumption to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub date: String,
    pub begin: Readings,
    pub end: Option<Readings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
}

/// What other programs did while a session measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Others {
    /// The number of CPUs that they used on average, and that the machine has; `None` where the system does not tell it.
    pub cpus: Option<(f64, usize)>,
    /// The share of the samples in which a thread waited for a CPU; `None` without samples of the CPU.
    pub disturbed: Option<f64>,
    /// How waiting threads were noticed.
    pub by: Source,
}

/// The number of CPUs and the share of samples from which on a run says what others did.
const NOTICEABLE: [f64; 2] = [0.05, 0.01];

impl Others {
    /// Describes what may have changed times; `None` if that is too little.
    pub fn describe(&self) -> Option<String> {
        let cpus = self.cpus.filter(|&(cpus, _)| cpus >= NOTICEABLE[0]);
        let cpus = cpus.map(|(cpus, of)| format!("other programs used {cpus:.1} of {of} CPUs"));
        let disturbed = self.disturbed.filter(|&share| share >= NOTICEABLE[1]);
        let percent = |share: f64| format!("{:.0} % of the samples were disturbed", 100.0 * share);
        let disturbed = disturbed.map(|share| percent(share) + " and taken again");
        let parts: Vec<_> = cpus.into_iter().chain(disturbed).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// What the counters of energy of the host count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostEnergy {
    pub domains: Vec<String>,
    pub idle_watts: Option<f64>,
}

impl HostEnergy {
    pub fn new(rapl: &Rapl, idle_watts: Option<f64>) -> Self {
        Self { domains: rapl.domains(), idle_watts }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GpuRecord {
    #[serde(flatten)]
    pub facts: Facts,
    pub nominal_gbs: f64,
    #[serde(default)]
    pub bandwidth: Vec<DeviceBandwidth>,
    #[serde(default)]
    pub launch_us: Option<f64>,
    #[serde(default)]
    pub activity: Option<Activity>,
    #[serde(default)]
    pub idle_watts: Option<f64>,
    pub clocks: Option<ClockRange>,
}

/// The range of the clocks that were read while products ran, several times per matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockRange {
    pub multiprocessor_mhz: [u32; 2],
    pub memory_mhz: [u32; 2],
    pub temperature: Option<u32>,
    pub throttled_by: BTreeSet<String>,
}

impl ClockRange {
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Library {
    pub name: String,
    pub place: String,
}

impl Library {
    pub fn in_file(name: String, file: &Path) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let place = file.strip_prefix(&here).unwrap_or(file).display().to_string();
        Self { name, place }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    pub threads: usize,
    pub bytes: usize,
    #[serde(flatten)]
    pub peak: Peak,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceBandwidth {
    pub bytes: usize,
    #[serde(flatten)]
    pub peak: Peak,
}
