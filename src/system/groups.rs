//! Control groups, with which containers and batch systems limit a process, in both versions of the kernel interface.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder where control groups are mounted.
pub const MOUNTED: &str = "/sys/fs/cgroup";

/// The version of the kernel's control group interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 1: a tree of groups for each controller.
    First,
    /// Version 2: one tree for all controllers.
    Second,
}

/// Returns the folders of the process's groups for `controller` and of all their ancestors. `groups` is the text of
/// `/proc/self/cgroup`. Not all of the folders need exist.
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
        // In a container the path may be outside the mounted tree, but its ancestors exist.
        let path = path.strip_prefix("/").unwrap_or(path);
        Some(path.ancestors().map(|path| (version, root.join(path))).collect::<Vec<_>>())
    };
    groups.lines().filter_map(of_line).flatten().collect()
}

/// Returns the list of the process's groups: the text of `/proc/self/cgroup`.
pub fn of_process() -> String {
    fs::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

/// Returns the CPU quota of the process in CPUs, which may be a fraction; `None` without a limit.
pub fn cpu_quota() -> Option<f64> {
    least_quota(Path::new(MOUNTED), &of_process())
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
        // `max` or −1 means that there is no limit.
        let (quota, period) = text.trim().split_once(' ')?;
        let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    });
    quotas.min_by(f64::total_cmp)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes files with these texts, in the layout of a control group.
    pub fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn the_smallest_quota_of_a_group_and_its_ancestors_applies() {
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
