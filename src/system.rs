//! What machine this is, read from Linux's own files. Unknown is `None`, never a guess.

pub mod groups;
pub mod noise;

use std::collections::BTreeSet;
use std::fs;
use std::ptr::null;
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::libc::{SYS_move_pages, c_int, syscall};
use serde::{Deserialize, Serialize};

const CPU: &str = "/sys/devices/system/cpu";
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// The machine's unchanging facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// As the processor names itself.
    pub cpu: Option<String>,
    /// CPUs this process may run on, one thread per core first.
    pub cpus: Vec<usize>,
    /// How many of `cpus` are on cores of their own.
    pub cores: usize,
    /// How many CPUs' time this process may use, where a control group bounds that.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
    /// Caches of the first CPU.
    pub caches: Vec<CacheLevel>,
    /// CPUs of each NUMA node, as the kernel lists them.
    pub numa_nodes: Vec<String>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// When the kernel gives memory in huge pages: always, madvise (where a program asks) or never.
    pub huge_pages: Option<String>,
    /// What `GLIBC_TUNABLES` says: `glibc.malloc.hugetlb=1` asks for huge pages in `malloc`, which
    /// moves products beyond the caches by tens of per cent.
    pub glibc_tunables: Option<String>,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
            cpu_quota: groups::cpu_quota(),
            caches: caches().to_vec(),
            numa_nodes: numa_nodes(),
            memory_bytes: memory(),
            huge_pages: read(HUGE_PAGES).and_then(|modes| Some(chosen(&modes)?.to_owned())),
            glibc_tunables: std::env::var("GLIBC_TUNABLES").ok(),
        }
    }
}

impl System {
    /// Threads that can run at the same time: one per core, as far as the quota lets them.
    pub fn threads(&self) -> usize {
        let quota = self.cpu_quota.map_or(usize::MAX, |quota| quota as usize);
        self.cores.min(quota).max(1)
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

/// The same, or 32 MiB where it is unknown.
pub fn cache_bytes() -> u64 {
    last_level_cache_bytes().unwrap_or(32 << 20)
}

/// The NUMA node of each CPU; `None` where all of the machine is one node. Read once, as the caches.
pub fn nodes_of(cpus: &[usize]) -> Option<Vec<usize>> {
    static NODES: OnceLock<Vec<String>> = OnceLock::new();
    nodes_among(NODES.get_or_init(numa_nodes), cpus)
}

/// The same with the nodes' lists of CPUs given.
fn nodes_among(nodes: &[String], cpus: &[usize]) -> Option<Vec<usize>> {
    let lists: Vec<_> = nodes.iter().map(|list| parse_list(list)).collect();
    let node_of = |cpu| lists.iter().position(|list| list.contains(cpu));
    if lists.len() < 2 { None } else { cpus.iter().map(node_of).collect() }
}

/// The node of each page that these addresses lie in, as far as the system has one for it.
///
/// # Errors
/// When the system does not tell.
pub fn nodes_of_pages(pages: &[usize]) -> nix::Result<Vec<Option<usize>>> {
    move_pages(pages, None)
}

/// Moves the pages to a node as far as the system can; returns where they are then.
///
/// # Errors
/// When the system does not do so, or has no such node.
pub fn move_pages_to(node: usize, pages: &[usize]) -> nix::Result<Vec<Option<usize>>> {
    move_pages(pages, Some(&vec![node as c_int; pages.len()]))
}

fn move_pages(pages: &[usize], nodes: Option<&[c_int]>) -> nix::Result<Vec<Option<usize>>> {
    /// MPOL_MF_MOVE: pages of this process alone.
    const MOVE: c_int = 2;
    let mut status = vec![-1 as c_int; pages.len()];
    let nodes = nodes.map_or(null(), <[c_int]>::as_ptr);
    // SAFETY: the arrays are of the length given; an address is not accessed, only looked up.
    let outcome = unsafe {
        syscall(SYS_move_pages, 0, pages.len(), pages.as_ptr(), nodes, status.as_mut_ptr(), MOVE)
    };
    Errno::result(outcome)?;
    // A negative status is the error of that page.
    Ok(status.into_iter().map(|node| usize::try_from(node).ok()).collect())
}

fn numa_nodes() -> Vec<String> {
    let node = |node| read(&format!("/sys/devices/system/node/node{node}/cpulist"));
    (0..).map_while(node).collect()
}

/// The word in brackets.
fn chosen(modes: &str) -> Option<&str> {
    Some(modes.split_once('[')?.1.split_once(']')?.0)
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
    fn the_mode_in_brackets_is_chosen() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("always"), None);
    }

    #[test]
    fn nodes_of_cpus() {
        let nodes = ["0-1,4".to_owned(), "2-3".to_owned()];
        assert_eq!(nodes_among(&nodes, &[4, 2, 0]), Some(vec![0, 1, 0]));
        assert_eq!(nodes_among(&nodes, &[4, 7]), None, "a CPU of no node");
        assert_eq!(nodes_among(&nodes[..1], &[0]), None);
    }

    /// A sandbox may refuse the call, which is what `Err` is for.
    #[test]
    fn pages_have_nodes() {
        let memory = vec![1u8; 1 << 20];
        let pages: Vec<_> = (0..4).map(|k| memory.as_ptr().addr() + k * 100_000).collect();
        if let Ok(nodes) = nodes_of_pages(&pages) {
            assert!(nodes.iter().all(Option::is_some), "{nodes:?}");
            let node = nodes[0].unwrap();
            assert_eq!(move_pages_to(node, &pages).unwrap(), [Some(node); 4]);
        }
        assert!(move_pages_to(1 << 20, &pages).is_err(), "there is no such node");
    }

    #[test]
    fn this_machine_has_a_cpu_and_as_many_cores_at_most() {
        let system = System::detect();
        assert!((1..=system.cpus.len()).contains(&system.cores), "{system:?}");
    }
}
