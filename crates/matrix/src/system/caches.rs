//! The caches of this machine. There may be several of the last level, each for a group of cores.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::files::{kib, parse_list, read};

pub const CPU: &str = "/sys/devices/system/cpu";
/// The assumed size of caches that are not known.
const UNKNOWN_BYTES: u64 = 32 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheLevel {
    pub level: u32,
    /// The kind: Data, Instruction or Unified.
    pub kind: String,
    pub bytes: u64,
    /// The CPUs that share it, in the kernel's list format.
    pub shared_by: String,
}

/// A cache of data, and the CPUs that share it.
#[derive(Clone, Debug, PartialEq)]
pub struct DataCache {
    pub bytes: u64,
    pub cpus: Vec<usize>,
}

/// Returns the caches of the first CPU. They are read once, because methods use them in each preparation, which is
/// timed.
pub(super) fn of_first_cpu() -> &'static [CacheLevel] {
    static CACHES: OnceLock<Vec<CacheLevel>> = OnceLock::new();
    CACHES.get_or_init(|| of_cpu(Path::new(CPU), 0))
}

pub fn last_level_cache_bytes() -> Option<u64> {
    of_first_cpu().iter().map(|cache| cache.bytes).max()
}

/// Returns the size of the largest cache in bytes, or 32 MiB if it is unknown.
pub fn cache_bytes() -> u64 {
    last_level_cache_bytes().unwrap_or(UNKNOWN_BYTES)
}

/// Returns the caches of a CPU, as a folder such as `/sys/devices/system/cpu` lists them.
fn of_cpu(folder: &Path, cpu: usize) -> Vec<CacheLevel> {
    let folder = folder.join(format!("cpu{cpu}/cache"));
    (0..).map_while(|index| level(&folder.join(format!("index{index}")))).collect()
}

fn level(folder: &Path) -> Option<CacheLevel> {
    let of = |fact: &str| read(folder.join(fact));
    Some(CacheLevel {
        level: of("level")?.parse().ok()?,
        kind: of("type")?,
        bytes: kib(&of("size")?, "K")?,
        shared_by: of("shared_cpu_list")?,
    })
}

/// Returns every cache of data of every level, once. They are read when they are needed first.
pub fn all() -> &'static [DataCache] {
    static ALL: OnceLock<Vec<DataCache>> = OnceLock::new();
    ALL.get_or_init(|| all_in(Path::new(CPU)))
}

fn all_in(folder: &Path) -> Vec<DataCache> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let cpus = names.filter_map(|name| name.to_str()?.strip_prefix("cpu")?.parse().ok());
    let caches = cpus.flat_map(|cpu| of_cpu(folder, cpu));
    let of_data = caches.filter(|cache| cache.kind != "Instruction");
    let distinct: BTreeMap<(u32, String), u64> =
        of_data.map(|cache| ((cache.level, cache.shared_by), cache.bytes)).collect();
    let distinct = distinct.into_iter();
    distinct.map(|((_, cpus), bytes)| DataCache { bytes, cpus: parse_list(&cpus) }).collect()
}

/// Returns the size of all these caches together, or 32 MiB if none is known.
pub fn total_bytes(caches: &[DataCache]) -> u64 {
    let bytes = caches.iter().map(|cache| cache.bytes).sum();
    if bytes == 0 { UNKNOWN_BYTES } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::groups::tests::write;

    /// Writes caches as the kernel lists them: the CPUs that share each, its level, its type and its size.
    fn machine(caches: &[(&str, u32, &str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("cpufreq")).unwrap();
        for &(cpus, level, kind, size) in caches {
            for cpu in parse_list(cpus) {
                let index = of_cpu(folder.path(), cpu).len();
                let cache = format!("cpu{cpu}/cache/index{index}");
                let files = format!(
                    "{cache}/level {level}; {cache}/type {kind}; {cache}/size {size}; \
                     {cache}/shared_cpu_list {cpus}"
                );
                write(folder.path(), &files);
            }
        }
        folder
    }

    #[test]
    fn each_cache_of_data_is_counted_once() {
        let groups = ["0-3", "4-7", "8-11", "12-15", "16-19", "20-23", "24-27", "28,29-31"];
        let several = machine(&groups.map(|cpus| (cpus, 3, "Unified", "32768K")));
        let found = all_in(several.path());
        assert_eq!((found.len(), total_bytes(&found)), (8, 256 << 20));
        assert!(found.iter().any(|cache| cache.cpus == [28, 29, 30, 31]), "{found:?}");
        let one = machine(&[
            ("0", 1, "Data", "32K"),
            ("0", 1, "Instruction", "64K"),
            ("1", 1, "Data", "32K"),
            ("0-1", 3, "Unified", "1024K"),
        ]);
        let found = all_in(one.path());
        assert_eq!((found.len(), total_bytes(&found)), (3, 1088 << 10), "{found:?}");
        let of_first = of_cpu(one.path(), 0).into_iter().map(|cache| cache.bytes >> 10);
        assert_eq!(of_first.collect::<Vec<_>>(), [32, 64, 1024]);
        for none in [machine(&[]).path(), Path::new("/no/such/folder")] {
            assert_eq!((all_in(none), total_bytes(&all_in(none))), (vec![], UNKNOWN_BYTES));
        }
    }
}
