//! Readings of what else runs on the machine and of its limits: stolen and throttled CPU time, load and clock rates. An
//! unknown reading is `None`.

use serde::{Deserialize, Serialize};

use super::files::read;
use super::groups::Throttling;

/// The ticks of `/proc/stat` per second. Linux fixes them independently of the kernel's timer rate.
pub(super) const TICKS: f64 = 100.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// The time of all CPUs since the machine's start, in seconds.
    pub cpu_s: Option<f64>,
    /// The part of it, in seconds, in which a CPU had work but the hypervisor ran something else.
    pub steal_s: Option<f64>,
    /// The load average: the mean number of runnable threads in the last 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// The clock rates of the slowest and the fastest CPU, in MHz.
    pub cpu_mhz: Option<[f64; 2]>,
    /// How often the CPU quota of the control group has stopped the threads.
    #[serde(default)]
    pub throttling: Option<Throttling>,
}

impl Readings {
    pub fn now() -> Self {
        let text = |path: &str| read(path).unwrap_or_default();
        let [stat, loadavg, cpuinfo] = ["/proc/stat", "/proc/loadavg", "/proc/cpuinfo"].map(text);
        Self { throttling: Throttling::now(), ..Self::of(&stat, &loadavg, &cpuinfo) }
    }

    fn of(stat: &str, loadavg: &str, cpuinfo: &str) -> Self {
        let ticks = ticks(stat);
        Self {
            cpu_s: ticks.map(|ticks| ticks.iter().sum::<f64>() / TICKS),
            steal_s: ticks.map(|ticks| ticks[7] / TICKS),
            load_average: numbers(loadavg),
            cpu_mhz: clocks(cpuinfo),
            throttling: None,
        }
    }

    /// Returns how often the CPU quota of the control group has stopped the threads since `begin`; `None` if it has
    /// not.
    pub fn throttled_since(&self, begin: &Self) -> Option<Throttling> {
        self.throttling.as_ref()?.since(begin.throttling.as_ref()?)
    }

    /// Returns the share of the CPU time since `begin` that the hypervisor gave to other guests.
    pub fn stolen_since(&self, begin: &Self) -> Option<f64> {
        let all = self.cpu_s? - begin.cpu_s?;
        let stolen = self.steal_s? - begin.steal_s?;
        (all > 0.0).then(|| (stolen / all).max(0.0))
    }
}

/// Returns the time of all CPUs in [`TICKS`], from the text of `/proc/stat`: user, nice, system, idle, iowait, irq,
/// softirq, steal. The time of guests is part of the user time.
pub(super) fn ticks(stat: &str) -> Option<[f64; 8]> {
    let cpu = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    numbers(cpu)
}

/// Returns the first words of a text as numbers.
fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let numbers = text.split_whitespace().take(N).map(|word| word.parse().ok());
    numbers.collect::<Option<Vec<_>>>()?.try_into().ok()
}

fn clocks(cpuinfo: &str) -> Option<[f64; 2]> {
    let clock = |line: &str| line.strip_prefix("cpu MHz")?.split_once(':')?.1.trim().parse().ok();
    let clocks = cpuinfo.lines().filter_map(clock);
    let range = |[low, high]: [f64; 2], clock: f64| [low.min(clock), high.max(clock)];
    clocks.fold(None, |seen, clock| Some(range(seen.unwrap_or([clock; 2]), clock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_parsed() {
        let stat = "cpu  100 50 25 800 10 5 5 5 7 0\ncpu0 1 1 1 1 1 1 1 1\n";
        let cpuinfo = "processor : 0\ncpu MHz\t\t: 2596.1\nprocessor : 1\ncpu MHz\t\t: 3100.5\n";
        let readings = Readings::of(stat, "0.50 1.25 2.00 3/99 1234\n", cpuinfo);
        let expected = Readings {
            cpu_s: Some(10.0),
            steal_s: Some(0.05),
            load_average: Some([0.5, 1.25, 2.0]),
            cpu_mhz: Some([2596.1, 3100.5]),
            throttling: None,
        };
        assert_eq!(readings, expected);
        let later = Readings { cpu_s: Some(14.0), steal_s: Some(1.05), ..readings.clone() };
        assert_eq!(later.stolen_since(&readings), Some(0.25));
        assert_eq!(readings.stolen_since(&readings), None, "no time has passed");
    }

    #[test]
    fn readings_that_are_missing_are_unknown() {
        assert_eq!(Readings::of("", "", "model name : a CPU"), Readings::default());
        assert_eq!(Readings::of("cpu  1 2 3", "a b c", "").cpu_s, None);
        assert_eq!(Readings::default().stolen_since(&Readings::default()), None);
    }
}
