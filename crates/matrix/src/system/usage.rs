//! How much of the CPUs other programs use.

use std::time::Instant;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

use super::files::{field, read};
use super::noise::{TICKS, ticks};

/// The time of the CPUs that was used up to a moment, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct CpuUsage {
    /// The number of CPUs of the machine.
    pub cpus: usize,
    now: Instant,
    all: f64,
    /// That of this process, and of its children that have ended.
    own: f64,
}

impl CpuUsage {
    /// Returns `None` where the system does not tell it.
    pub fn now() -> Option<Self> {
        let of = |who| getrusage(who).ok().map(|usage| seconds(&usage));
        let own = of(UsageWho::RUSAGE_SELF)? + of(UsageWho::RUSAGE_CHILDREN)?;
        let stat = read("/proc/stat")?;
        let now = Instant::now();
        // The first line that begins so is the sum.
        let cpus = stat.lines().skip(1).filter(|line| line.starts_with("cpu")).count();
        Some(Self { cpus, now, all: used(&stat)?, own })
    }

    /// Returns how many CPUs other programs used on average since `begin`.
    pub fn of_others_since(&self, begin: &Self) -> f64 {
        let others = (self.all - begin.all) - (self.own - begin.own);
        others.max(0.0) / (self.now - begin.now).as_secs_f64()
    }
}

/// Returns the bytes that this process has read from files or written to them, but not those of files that it has
/// mapped; 0 where the system does not tell it.
pub fn transferred() -> u64 {
    let number = |name| field("/proc/self/io", name)?.parse::<u64>().ok();
    ["rchar", "wchar"].into_iter().filter_map(number).sum()
}

fn seconds(usage: &Usage) -> f64 {
    let of = |time: TimeVal| time.tv_sec() as f64 + 1e-6 * time.tv_usec() as f64;
    of(usage.user_time()) + of(usage.system_time())
}

/// Returns the seconds in which the CPUs ran programs: user, nice and system, without idle and waiting for disks.
fn used(stat: &str) -> Option<f64> {
    let [user, nice, system, ..] = ticks(stat)?;
    Some((user + nice + system) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_uses_is_not_that_of_others() {
        assert_eq!(used("cpu  100 50 25 800 10 5 5 5 7 0\n"), Some(1.75));
        assert_eq!(used(""), None);
        let at = |seconds: f64, all, own| CpuUsage {
            cpus: 2,
            now: Instant::now() + std::time::Duration::from_secs_f64(seconds),
            all,
            own,
        };
        let begin = at(0.0, 100.0, 3.0);
        for (all, own, expected) in [(120.0, 13.0, 1.0), (110.0, 13.5, 0.0)] {
            let others = at(10.0, all, own).of_others_since(&begin);
            assert!((others - expected).abs() < 1e-3, "{others}");
        }
    }
}
