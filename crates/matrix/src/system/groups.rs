//! Control groups, with which containers and batch systems limit a process, in both versions of the kernel interface.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::read;

const MOUNTED: &str = "/sys/fs/cgroup";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 1: a tree of groups for each controller.
    First,
    /// Version 2: one tree for all controllers.
    Second,
}

/// A control group of the process, or an ancestor of one. Its folder need not exist.
pub type Group = (Version, PathBuf);

/// Returns the process's groups for `controller` and all their ancestors.
pub fn of_process(controller: &str) -> Vec<Group> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    listed(Path::new(MOUNTED), &groups, controller)
}

/// Returns the groups for `controller` in the text of `/proc/self/cgroup`, and all their ancestors.
pub fn listed(mounted: &Path, groups: &str, controller: &str) -> Vec<Group> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        let path = Path::new(fields.next()?);
        let (version, root) = match controllers {
            "" => (Version::Second, mounted.to_owned()),
            _ if controllers.split(',').any(|name| name == controller) => (Version::First, mounted.join(controller)),
            _ => return None,
        };
        // In a container the path may be outside the mounted tree, but its ancestors exist.
        let path = path.strip_prefix("/").unwrap_or(path);
        Some(path.ancestors().map(|path| (version, root.join(path))).collect::<Vec<_>>())
    };
    groups.lines().filter_map(of_line).flatten().collect()
}

/// Returns the CPU quota of the process in CPUs, which may be a fraction; `None` without a limit.
pub fn cpu_quota() -> Option<f64> {
    tightest(of_process("cpu")).map(|(quota, _)| quota)
}

/// Returns the smallest CPU quota of some groups, and the group that has it.
fn tightest(groups: Vec<Group>) -> Option<(f64, Group)> {
    let quotas = groups.into_iter().filter_map(|group| Some((quota(&group)?, group)));
    quotas.min_by(|(a, _), (b, _)| a.total_cmp(b))
}

fn quota((version, folder): &Group) -> Option<f64> {
    let read = |name| read(folder.join(name));
    let text = match version {
        Version::First => format!("{} {}", read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
        Version::Second => read("cpu.max")?,
    };
    // `max` or −1 means that there is no limit.
    let (quota, period) = text.split_once(' ')?;
    let quota: f64 = quota.parse().ok()?;
    let period: f64 = period.parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// How often a control group's CPU quota has stopped its threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throttling {
    pub group: PathBuf,
    /// The periods in which its threads ran. At the end of each, the quota is renewed.
    pub periods: u64,
    /// The periods in which the quota was used up, so that all threads waited.
    pub throttled: u64,
    /// The time that the threads have waited, in seconds, summed over CPUs.
    pub seconds: f64,
}

impl Throttling {
    /// Returns the throttling of the group with the smallest CPU quota so far; `None` without a quota.
    pub fn now() -> Option<Self> {
        Self::of(of_process("cpu"))
    }

    fn of(groups: Vec<Group>) -> Option<Self> {
        let (_, (version, group)) = tightest(groups)?;
        let text = fs::read_to_string(group.join("cpu.stat")).ok()?;
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let (time, per_second) = match version {
            Version::First => ("throttled_time ", 1e9),
            Version::Second => ("throttled_usec ", 1e6),
        };
        let periods = value("nr_periods ")?;
        let throttled = value("nr_throttled ")?;
        Some(Self { periods, throttled, seconds: value(time)? as f64 / per_second, group })
    }

    /// Returns the throttling of the same group since `begin`; `None` if there was none.
    pub fn since(&self, begin: &Self) -> Option<Self> {
        let throttled = self.throttled.checked_sub(begin.throttled).filter(|&count| count > 0)?;
        (self.group == begin.group).then(|| Self {
            throttled,
            periods: self.periods.saturating_sub(begin.periods),
            seconds: self.seconds - begin.seconds,
            group: self.group.clone(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes files in the layout of a control group, given as `NAME TEXT; …`, with `|` for a line end within a text.
    pub fn write(folder: &Path, files: &str) {
        for file in files.split("; ") {
            let (name, text) = file.split_once(' ').unwrap();
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace('|', "\n") + "\n").unwrap();
        }
    }

    #[test]
    fn the_smallest_quota_of_a_group_and_its_ancestors_applies() {
        let dir = tempfile::tempdir().unwrap();
        let quota = |groups| tightest(listed(dir.path(), groups, "cpu")).map(|(quota, _)| quota);
        write(dir.path(), "a/b/cpu.max max 100000; a/cpu.max 150000 100000");
        assert_eq!(quota("0::/a/b\n"), Some(1.5));
        write(dir.path(), "a/b/cpu.max 50000 100000");
        assert_eq!(quota("0::/a/b\n"), Some(0.5));
        assert_eq!((quota("0::/elsewhere\n"), quota("")), (None, None));
        write(dir.path(), "cpu/x/cpu.cfs_quota_us 200000; cpu/x/cpu.cfs_period_us 100000");
        assert_eq!(quota("3:cpu,cpuacct:/x\n0::/\n"), Some(2.0));
        write(dir.path(), "cpu/x/cpu.cfs_quota_us -1");
        assert_eq!(quota("3:cpu,cpuacct:/x\n"), None);
        assert_eq!(quota("3:cpuset:/x\n"), None, "another controller");
    }

    #[test]
    fn the_throttling_of_the_group_with_the_smallest_quota_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let files = "a/cpu.max 50000 100000; \
            a/cpu.stat usage_usec 9|nr_periods 113|nr_throttled 40|throttled_usec 1500000; \
            a/b/cpu.max 150000 100000; a/b/cpu.stat nr_periods 9|nr_throttled 0|throttled_usec 0; \
            cpu/x/cpu.cfs_quota_us 50000; cpu/x/cpu.cfs_period_us 100000; \
            cpu/x/cpu.stat nr_periods 113|nr_throttled 40|throttled_time 1500000000";
        write(dir.path(), files);
        let (throttled, seconds) = (40, 1.5);
        for (groups, folder) in [("0::/a/b\n", "a"), ("3:cpu:/x\n", "cpu/x")] {
            let group = dir.path().join(folder);
            let expected = Throttling { group, periods: 113, throttled, seconds };
            let read = Throttling::of(listed(dir.path(), groups, "cpu")).unwrap();
            assert_eq!(read, expected, "{groups}");
            assert_eq!(read.since(&expected), None, "no further period");
            let begin = Throttling { periods: 100, throttled: 30, seconds: 1.0, ..read.clone() };
            let since = read.since(&begin).unwrap();
            assert_eq!((since.periods, since.throttled, since.seconds), (13, 10, 0.5));
            assert_eq!(read.since(&Throttling { group: "b".into(), ..begin }), None);
        }
        let without = listed(dir.path(), "0::/elsewhere\n", "cpu");
        assert_eq!(Throttling::of(without), None, "no quota");
    }
}
