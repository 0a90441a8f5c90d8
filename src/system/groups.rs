//! Control groups: what containers and batch systems bound a process by, in both of the kernel's versions.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the groups are mounted.
pub const MOUNTED: &str = "/sys/fs/cgroup";

/// The kernel's two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A tree of groups for each controller.
    First,
    /// One tree for all.
    Second,
}

/// The folders of the groups that `/proc/self/cgroup`, whose text is `groups`, says the process is in as
/// far as `controller` goes, and of those above them. Not all need exist.
pub fn folders(mounted: &Path, groups: &str, controller: &str) -> Vec<(Version, PathBuf)> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, Path::new(fields.next()?));
        let (version, root) = match controllers {
            "" => (Version::Second, mounted.to_owned()),
            _ if controllers.split(',').any(|name| name == controller) => {
                (Version::First, mounted.join(controller))
            }
            _ => return None,
        };
        // In a container the path may be one outside; the groups above it are there at least.
        let path = path.strip_prefix("/").unwrap_or(path);
        Some(path.ancestors().map(|path| (version, root.join(path))).collect::<Vec<_>>())
    };
    groups.lines().filter_map(of_line).flatten().collect()
}

/// How many CPUs' time the process may use, if that is bounded; may be a fraction.
pub fn cpu_quota() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    least_quota(Path::new(MOUNTED), &groups)
}

fn least_quota(mounted: &Path, groups: &str) -> Option<f64> {
    let quotas = folders(mounted, groups, "cpu").into_iter().filter_map(|(version, folder)| {
        let read = |name| fs::read_to_string(folder.join(name)).ok();
        let text = match version {
            Version::First => {
                format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?)
            }
            Version::Second => read("cpu.max")?,
        };
        // No bound is `max` or −1.
        let (quota, period) = text.trim().split_once(' ')?;
        let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    });
    quotas.min_by(f64::total_cmp)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Files with these texts, as the system shows a group.
    pub fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn the_least_quota_of_a_group_and_those_above_counts() {
        let dir = tempfile::tempdir().unwrap();
        let quota = |groups| least_quota(dir.path(), groups);
        write(dir.path(), &[("a/b/cpu.max", "max 100000\n"), ("a/cpu.max", "150000 100000\n")]);
        assert_eq!(quota("0::/a/b\n"), Some(1.5));
        write(dir.path(), &[("a/b/cpu.max", "50000 100000\n")]);
        assert_eq!(quota("0::/a/b\n"), Some(0.5));
        assert_eq!((quota("0::/elsewhere\n"), quota("")), (None, None));
        let first =
            [("cpu/x/cpu.cfs_quota_us", "200000\n"), ("cpu/x/cpu.cfs_period_us", "100000\n")];
        write(dir.path(), &first);
        assert_eq!(quota("3:cpu,cpuacct:/x\n0::/\n"), Some(2.0));
        write(dir.path(), &[("cpu/x/cpu.cfs_quota_us", "-1\n")]);
        assert_eq!(quota("3:cpu,cpuacct:/x\n"), None);
        assert_eq!(quota("3:cpuset:/x\n"), None, "another controller");
    }
}
