//! The memory that this process may still allocate: the smallest of the limits that apply to it.

use nix::sys::resource::{Resource, getrlimit};

use crate::system::files::{bytes, read};
use crate::system::groups::{self, Group, Version};

const MAX_MEMORY: &str = "--max-memory";

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Available {
    pub bytes: u64,
    pub by: &'static str,
}

impl Available {
    /// Returns the memory available to this process now. `most` is the limit that the user has set, of which `held`
    /// bytes are used already. Limits that the system does not report are ignored.
    pub fn now(most: Option<u64>, held: u64) -> Self {
        Self::shared(most, held, 1)
    }

    /// Returns the memory available now to one of `processes` processes of this machine, which need equal amounts. They
    /// share every limit except that of the address space, which each process has for itself.
    pub fn shared(most: Option<u64>, held: u64, processes: u64) -> Self {
        let part = |bytes: Option<u64>| bytes.map(|bytes| bytes / processes);
        let of_machine = bytes("/proc/meminfo", "MemAvailable");
        let of_groups = left_by_groups(&groups::of_process("memory"));
        Self::least([
            (part(most.map(|most| most.saturating_sub(held))), MAX_MEMORY),
            (part(of_machine), "MemAvailable in /proc/meminfo"),
            (part(of_groups), "the control group's limit"),
            (left_of_address_space(), "the limit of address space, ulimit -v"),
        ])
    }

    /// Returns advice for the user if the memory is too small for a matrix.
    pub fn advice(self) -> &'static str {
        match self.by {
            MAX_MEMORY => "raise --max-memory, or take a smaller matrix",
            _ => "take a smaller matrix, or a machine with more memory",
        }
    }

    fn least(bounds: [(Option<u64>, &'static str); 4]) -> Self {
        let bounds = bounds.into_iter().filter_map(|(bytes, by)| Some(Self { bytes: bytes?, by }));
        let unbounded = Self { bytes: u64::MAX, by: "no limit is known" };
        bounds.min_by_key(|bound| bound.bytes).unwrap_or(unbounded)
    }
}

/// Returns the limit of the address space less the size of the process's mappings, in bytes.
fn left_of_address_space() -> Option<u64> {
    let (limit, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    let left = limit.saturating_sub(bytes("/proc/self/status", "VmSize").unwrap_or(0));
    (limit != nix::libc::RLIM_INFINITY).then_some(left)
}

/// Returns the memory that the limits of control groups leave.
fn left_by_groups(groups: &[Group]) -> Option<u64> {
    groups.iter().filter_map(left_by_group).min()
}

/// Returns the limit of one group less its usage. Cached file pages do not count, because the kernel reclaims them if
/// memory is short. Returns `None` without a limit.
fn left_by_group((version, folder): &Group) -> Option<u64> {
    let (limit, usage, prefix) = match version {
        Version::First => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
        Version::Second => ("memory.max", "memory.current", ""),
    };
    let read = |name| read(folder.join(name));
    let number = |name| read(name)?.parse::<u64>().ok();
    let limit = number(limit)?;
    let usage = number(usage)?;
    let stat = read("memory.stat").unwrap_or_default();
    // The pages of a file that was read twice are active, and reclaimed as well.
    let files = ["inactive_file ", "active_file "].map(|name| {
        let value = |line: &str| line.strip_prefix(prefix)?.strip_prefix(name)?.trim().parse().ok();
        stat.lines().find_map(value).unwrap_or(0)
    });
    Some(limit.saturating_sub(usage.saturating_sub(files.iter().sum::<u64>())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::groups::{listed, tests::write};

    #[test]
    fn the_smallest_limit_is_named() {
        let bounds = [(None, "a"), (Some(7), "b"), (Some(3), "c"), (Some(9), "d")];
        assert_eq!(Available::least(bounds), Available { bytes: 3, by: "c" });
        assert_eq!(Available::least([(None, "a"); 4]).bytes, u64::MAX);
        let asked = Available::now(Some(100), 40);
        assert_eq!(asked, Available { bytes: 60, by: "--max-memory" });
        assert!(asked.advice().starts_with("raise --max-memory"));
        assert_eq!(Available::now(Some(100), 101).bytes, 0);
        assert_eq!(Available::shared(Some(100), 40, 4).bytes, 15);
        assert!(Available::now(None, 0).bytes > 1 << 20, "this machine has memory");
    }

    #[test]
    fn a_group_and_its_ancestors_limit_memory() {
        let dir = tempfile::tempdir().unwrap();
        let files = "a/b/memory.max 1000; a/b/memory.current 300; \
            a/b/memory.stat anon 5|inactive_file 60|active_file 40; \
            a/memory.max max; a/memory.current 5000; memory.max 2000; memory.current 1300";
        write(dir.path(), files);
        let left = |groups| left_by_groups(&listed(dir.path(), groups, "memory"));
        assert_eq!(left("0::/a/b\n"), Some(700), "the limit of the root group");
        write(dir.path(), "memory.max 3000");
        assert_eq!(left("0::/a/b\n"), Some(800), "cached file pages are reclaimed");
        assert_eq!(left("0::/elsewhere\n"), Some(1700), "a path outside the container");
        assert_eq!(left("1:cpu:/a/b\n"), None);
        assert_eq!(left(""), None);
    }

    #[test]
    fn version_1_has_a_folder_per_controller_and_other_names() {
        let dir = tempfile::tempdir().unwrap();
        let files = "memory/x/memory.limit_in_bytes 5000; memory/x/memory.usage_in_bytes 6000; memory/x/memory.stat \
            inactive_file 1|active_file 2|total_inactive_file 1500|total_active_file 500";
        write(dir.path(), files);
        for groups in ["7:memory:/x\n3:cpu,cpuacct:/y\n0::/\n", "7:cpuset,memory:/x\n"] {
            assert_eq!(left_by_groups(&listed(dir.path(), groups, "memory")), Some(1000));
        }
    }
}
