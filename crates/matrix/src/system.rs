//! The properties of this machine, read from Linux's `/proc` and `/sys`. An unknown property is `None`, never a guess.

pub mod allocated;
pub mod caches;
pub mod clock;
pub mod energy;
pub(crate) mod files;
pub mod groups;
pub mod huge;
pub mod isa;
pub mod noise;
pub mod openmp;
pub mod pages;
pub mod processes;
pub mod threads;
pub mod usage;
pub mod waits;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use nix::sys::statvfs::statvfs;
use serde::{Deserialize, Serialize};

pub use caches::{CacheLevel, cache_bytes, last_level_cache_bytes};
use files::{bytes, field, parse_list, read};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct System {
    pub cpu: Option<String>,
    /// The CPUs on which this process may run, ordered so that the first CPU of every core precedes all other CPUs.
    pub cpus: Vec<usize>,
    /// The number of cores: so many of the first `cpus` are on different cores.
    pub cores: usize,
    /// The CPU quota of the control group, in CPUs; `None` if there is no limit.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
    pub caches: Vec<CacheLevel>,
    /// The CPUs of each NUMA node, in the kernel's list format.
    pub numa_nodes: Vec<String>,
    pub memory_bytes: Option<u64>,
    /// When the kernel uses transparent huge pages: always, madvise (on request of a program) or never.
    pub huge_pages: Option<String>,
    /// The value of `GLIBC_TUNABLES`. `glibc.malloc.hugetlb=1` requests huge pages in `malloc`, which changes the
    /// times of products larger than the caches by tens of per cent.
    pub glibc_tunables: Option<String>,
    /// Whether large arrays get huge pages in the process that measures; `None` if it is not known.
    #[serde(default)]
    pub huge_arrays: Option<bool>,
    /// The variables that OpenMP libraries read, as the process that measures got them.
    #[serde(default)]
    pub openmp: Option<String>,
}

impl System {
    /// Reads the properties. Must be called before the process's threads are pinned.
    pub fn detect() -> Self {
        let (cpus, cores) = cpus();
        Self {
            cpu: cpu(),
            cpus,
            cores,
            cpu_quota: groups::cpu_quota(),
            caches: caches::of_first_cpu().to_vec(),
            numa_nodes: numa_nodes(),
            memory_bytes: bytes("/proc/meminfo", "MemTotal"),
            huge_pages: huge::mode(),
            glibc_tunables: std::env::var(huge::VARIABLE).ok(),
            huge_arrays: None,
            openmp: openmp::variables(),
        }
    }

    /// Returns the reason why large arrays are not in huge pages, if they are not although this was requested.
    pub fn refusal_of_huge_pages(&self) -> Option<&'static str> {
        let settings = self.glibc_tunables.as_deref().unwrap_or_default();
        (self.huge_arrays == Some(false)).then(|| huge::refusal(self.huge_pages.as_deref(), settings))
    }

    /// Returns the default number of threads: one per core, limited by the CPU quota.
    pub fn threads(&self) -> usize {
        let quota = self.cpu_quota.map_or(usize::MAX, |quota| quota as usize);
        self.cores.min(quota).max(1)
    }
}

/// Returns the name of the CPU. A virtual machine may hide the number in it ("AMD EPYC", "Intel Xeon Processor"), which
/// generations with different instructions then share: such a name gets the family and the model.
fn cpu() -> Option<String> {
    let fact = |name| field("/proc/cpuinfo", name);
    let name = fact("model name")?;
    match (fact("cpu family"), fact("model")) {
        (Some(family), Some(model)) if !name.contains(|c: char| c.is_ascii_digit()) => {
            Some(format!("{name} (family {family}, model {model})"))
        }
        _ => Some(name),
    }
}

/// Returns the CPUs on which this process may run, the first CPU of every core before all siblings, and the number of
/// cores.
fn cpus() -> (Vec<usize>, usize) {
    let allowed = field("/proc/self/status", "Cpus_allowed_list").map_or(vec![0], |l| parse_list(&l));
    let mut cores = BTreeSet::new();
    let (mut first, siblings): (Vec<_>, Vec<_>) = allowed.into_iter().partition(|cpu| {
        let core = read(format!("{}/cpu{cpu}/topology/thread_siblings_list", caches::CPU));
        cores.insert(core.unwrap_or_else(|| cpu.to_string()))
    });
    let cores = first.len();
    first.extend(siblings);
    (first, cores)
}

/// Returns the NUMA node of each CPU; `None` if the machine has only one node. The nodes are read once.
pub fn nodes_of(cpus: &[usize]) -> Option<Vec<usize>> {
    static NODES: OnceLock<Vec<String>> = OnceLock::new();
    nodes_among(NODES.get_or_init(numa_nodes), cpus)
}

fn nodes_among(nodes: &[String], cpus: &[usize]) -> Option<Vec<usize>> {
    let lists: Vec<_> = nodes.iter().map(|list| parse_list(list)).collect();
    let node_of = |cpu| lists.iter().position(|list| list.contains(cpu));
    if lists.len() < 2 { None } else { cpus.iter().map(node_of).collect() }
}

fn numa_nodes() -> Vec<String> {
    let node = |node| read(format!("/sys/devices/system/node/node{node}/cpulist"));
    (0..).map_while(node).collect()
}

/// Returns the length that names of files in a folder may have, in bytes: mostly 255, and 143 in eCryptfs.
pub fn longest_name(folder: &Path) -> usize {
    let stated = statvfs(folder).map_or(0, |system| system.name_max() as usize);
    if stated == 0 { 255 } else { stated }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_cpus() {
        let nodes = ["0-1,4".to_owned(), "2-3".to_owned()];
        assert_eq!(nodes_among(&nodes, &[4, 2, 0]), Some(vec![0, 1, 0]));
        assert_eq!(nodes_among(&nodes, &[4, 7]), None, "a CPU without a node");
        assert_eq!(nodes_among(&nodes[..1], &[0]), None);
    }

    #[test]
    fn this_machine_has_a_core_and_not_more_cores_than_cpus() {
        let system = System::detect();
        assert!((1..=system.cpus.len()).contains(&system.cores), "{system:?}");
    }
}
