//! How many CPUs a method uses while it is timed.

use std::time::Duration;

use spmv_results::row::Remark;

/// How many CPUs more than its threads a method may use.
const MORE: f64 = 0.25;
/// A method that uses less than this share of the CPUs of its threads has fewer of them than it states.
const FEWER: f64 = 0.75;

/// The time of samples after which the CPUs that were used are known.
const LEAST: Duration = Duration::from_millis(10);

/// The time of samples, and the CPU time that the threads of the process used meanwhile, as
/// [`Clock::used`](crate::bench::clock::Clock::used) counts it.
#[derive(Clone, Copy, Default)]
pub struct Cpus {
    used: [Duration; 2],
    time: Duration,
}

/// The CPU time up to a moment, if it is known, and that moment.
pub type Moment = (Option<[Duration; 2]>, Duration);

impl Cpus {
    /// Adds what was used between two moments, if it is known.
    pub fn add(&mut self, begin: Moment, end: Moment) {
        if let (Some(before), Some(after)) = (begin.0, end.0) {
            for place in 0..2 {
                self.used[place] += after[place].saturating_sub(before[place]);
            }
            self.time += end.1.saturating_sub(begin.1);
        }
    }

    /// Returns how many CPUs were used at least: neither count sees all.
    fn used(&self) -> Option<f64> {
        let most = self.used[0].max(self.used[1]).as_secs_f64();
        (self.time > LEAST).then(|| most / self.time.as_secs_f64())
    }

    /// Returns a remark if far fewer CPUs were used than there are threads, which waited for CPUs for this share of the
    /// time.
    pub fn remark(&self, threads: Option<usize>, waited: f64) -> Option<Remark> {
        let (used, threads) = (self.used()?, threads.filter(|threads| *threads > 1)?);
        let had = threads as f64 * (1.0 - waited);
        (used < FEWER * had).then_some(Remark::FewerCpus { used, threads })
    }

    /// Returns what is wrong if more CPUs were used than there are threads.
    pub fn excess(&self, threads: Option<usize>) -> Option<String> {
        let (used, threads) = (self.used()?, threads?);
        let is_excess = used > threads as f64 + MORE;
        is_excess.then(|| format!("it uses {used:.1} CPUs, but its number of threads is {threads}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_fewer_cpus_than_threads_are_remarked_upon() {
        let ms = Duration::from_millis;
        for (used, time, threads, waited, expected) in [
            ([100, 10], 100, Some(2), 0.0, Some(1.0)),
            ([10, 100], 100, Some(2), 0.3, Some(1.0)),
            ([10, 100], 100, Some(2), 0.4, None),
            ([10, 151], 100, Some(2), 0.0, None),
            ([100, 100], 100, Some(1), 0.0, None),
            ([100, 100], 100, None, 0.0, None),
            ([9, 9], 9, Some(2), 0.0, None),
        ] {
            let mut cpus = Cpus::default();
            cpus.add((None, ms(0)), (Some([ms(7); 2]), ms(50)));
            cpus.add((Some([ms(1); 2]), ms(5)), (Some(used.map(|used| ms(1 + used))), ms(5 + time)));
            let remark = expected.map(|used| Remark::FewerCpus { used, threads: 2 });
            assert_eq!(cpus.remark(threads, waited), remark, "{used:?} {time} {threads:?}");
        }
    }
}
