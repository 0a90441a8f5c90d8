//! What machine this is, read from Linux's own files. Unknown is `None`, never a guess.

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;

use serde::Serialize;

const CPU: &str = "/sys/devices/system/cpu";

/// The machine's unchanging facts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct System {
    /// As the processor names itself.
    pub cpu: Option<String>,
    /// CPUs this process may run on, one thread per core first.
    pub cpus: Vec<usize>,
    /// How many of `cpus` are on cores of their own.
    pub cores: usize,
    /// Caches of the first CPU.
    pub caches: Vec<CacheLevel>,
    /// CPUs of each NUMA node, as the kernel lists them.
    pub numa_nodes: Vec<String>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CacheLevel {
    /// 1, 2, 3.
    pub level: u32,
    /// Data, Instruction or Unified.
    pub kind: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The CPUs that share it.
    pub shared_by: String,
}

impl System {
    /// Reads the facts; call it before the process's threads are pinned.
    pub fn detect() -> Self {
        let (cpus, cores) = cpus();
        Self {
            cpu: cpu_name(),
            cpus,
            cores,
            caches: caches().to_vec(),
            numa_nodes: numa_nodes(),
            memory_bytes: memory(),
        }
    }
}

/// CPUs this process may run on, those that are first on their core before their siblings; and how
/// many are first.
fn cpus() -> (Vec<usize>, usize) {
    let allowed =
        field("/proc/self/status", "Cpus_allowed_list").map_or(vec![0], |l| parse_list(&l));
    let mut cores = BTreeSet::new();
    let (mut first, siblings): (Vec<_>, Vec<_>) = allowed.into_iter().partition(|cpu| {
        let core = read(&format!("{CPU}/cpu{cpu}/topology/thread_siblings_list"));
        cores.insert(core.unwrap_or_else(|| cpu.to_string()))
    });
    let cores = first.len();
    first.extend(siblings);
    (first, cores)
}

/// `0-2,5` as 0, 1, 2, 5.
fn parse_list(list: &str) -> Vec<usize> {
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

fn cpu_name() -> Option<String> {
    field("/proc/cpuinfo", "model name")
}

fn memory() -> Option<u64> {
    let kib = field("/proc/meminfo", "MemTotal")?;
    Some(kib.strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Read once: methods ask at each preparation, which is timed.
fn caches() -> &'static [CacheLevel] {
    static CACHES: OnceLock<Vec<CacheLevel>> = OnceLock::new();
    let cache = |index| {
        let of = |fact: &str| read(&format!("{CPU}/cpu0/cache/index{index}/{fact}"));
        Some(CacheLevel {
            level: of("level")?.parse().ok()?,
            kind: of("type")?,
            bytes: of("size")?.strip_suffix('K')?.parse::<u64>().ok()? * 1024,
            shared_by: of("shared_cpu_list")?,
        })
    };
    CACHES.get_or_init(|| (0..).map_while(cache).collect())
}

/// The size of the largest cache.
pub fn last_level_cache_bytes() -> Option<u64> {
    caches().iter().map(|cache| cache.bytes).max()
}

fn numa_nodes() -> Vec<String> {
    let node = |node| read(&format!("/sys/devices/system/node/node{node}/cpulist"));
    (0..).map_while(node).collect()
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The value after the first `name … :` of a file.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_list("7"), [7]);
        assert_eq!(parse_list(""), [0usize; 0]);
    }

    #[test]
    fn this_machine_has_a_cpu_and_as_many_cores_at_most() {
        let system = System::detect();
        assert!((1..=system.cpus.len()).contains(&system.cores), "{system:?}");
    }
}
