//! Compares rows. Rows of the same run are compared in pairs: each process measured both, so what makes a whole process
//! slower cancels. Rows of different runs, and of a single process, are independent.

use super::{Processes, Row};
use crate::statistics::estimate::Estimate;

/// The time of a row, as it is compared with those of others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    pub ms: f64,
    /// Half the 95 % interval of its logarithm, which contains what makes whole processes slower.
    half: Option<f64>,
    run_id: String,
    /// The time in each process, if that is known.
    processes: Vec<f64>,
}

impl Timing {
    /// Returns how many times as long this takes as the other one.
    pub fn over(&self, other: &Self) -> Estimate {
        let is_same_run = self.run_id == other.run_id;
        let pairs = || Estimate::of_pairs(&self.processes, &other.processes);
        is_same_run.then(pairs).flatten().unwrap_or_else(|| self.of_other_run_over(other))
    }

    /// Returns the number of processes whose times are known.
    pub fn processes(&self) -> usize {
        self.processes.len()
    }

    /// Returns how many times as long this takes as the other one, which another run measured.
    pub fn of_other_run_over(&self, other: &Self) -> Estimate {
        let of = |it: &Self| Estimate { value: it.ms, half: it.half, processes: it.processes.len().max(1) };
        of(self).over(of(other))
    }

    /// Returns the ratios of both in each process; none unless both have as many, and several.
    pub fn each_over(&self, other: &Self) -> Vec<f64> {
        let is_paired = self.processes.len() == other.processes.len() && self.processes.len() > 1;
        let pairs = self.processes.iter().zip(&other.processes).filter(|_| is_paired);
        pairs.map(|(one, other)| one / other).collect()
    }
}

/// Returns the item that is the fastest in pairs. Its time need not be the least: if the machine became slower, a method
/// that later processes measured as well looks slower than one that they left out.
pub fn fastest<T>(items: &[T], time: impl Fn(&T) -> &Timing) -> Option<&T> {
    let least = items.iter().min_by(|a, b| time(a).ms.total_cmp(&time(b).ms))?;
    let faster = |best, item| if time(item).over(time(best)).value < 1.0 { item } else { best };
    Some(items.iter().fold(least, faster))
}

impl Row {
    /// Returns the row with times relative to that of another row of its run, whose drift cancels.
    pub fn relative_to(self, reference: &Timing) -> Self {
        let Some(time) = self.timing(None) else { return self };
        let over = time.over(reference);
        let each = time.processes.iter().zip(&reference.processes).map(|(ms, of)| ms / of);
        let [ci95_low_ms, ci95_high_ms] = over.interval().map_or([None; 2], |(a, b)| [Some(a), Some(b)]);
        let ms = Some(over.value);
        let process_ms = (over.processes > 1).then(|| Processes(each.collect()));
        Self { median_ms: ms, avg_spmv_ms: ms, ci95_low_ms, ci95_high_ms, process_ms, ..self }
    }

    /// Returns the time of a product, or of so many `planned` ones with what is done once, if it is known.
    pub fn timing(&self, planned: Option<u32>) -> Option<Timing> {
        let ms = planned.map_or(self.typical_ms(), |products| self.total_ms(products))?;
        let processes = self.process_times(planned).unwrap_or_default();
        let between = planned.and_then(|_| Estimate::of(&processes)?.half);
        let within = || {
            let share = f64::from(planned.unwrap_or(1)) * self.typical_ms()? / ms;
            Some((share * self.uncertainty()? / 100.0).asinh())
        };
        let half = between.or_else(within);
        Some(Timing { ms, half, run_id: self.run_id.clone(), processes })
    }

    /// Returns the time of a product in each process, or that of `planned` ones and of what is done once. A setup that
    /// does nothing is the shortest of the processes in all of them: what it took longer was not confirmed.
    fn process_times(&self, planned: Option<u32>) -> Option<Vec<f64>> {
        let times = self.process_ms.as_ref()?.0.clone();
        let Some(planned) = planned else { return Some(times) };
        let once = self.once_ms()?;
        let setup = self.setup_ms?;
        let setups = if self.prepares_nothing() {
            vec![setup; times.len()]
        } else {
            self.process_setup_ms.as_ref()?.0.clone()
        };
        let total = |(ms, own)| once - setup + own + f64::from(planned) * ms;
        (setups.len() == times.len()).then(|| times.into_iter().zip(setups).map(total).collect())
    }

    /// Returns half the 95 % interval of the setup, in percent of it, if several processes prepared something.
    pub fn setup_uncertainty(&self) -> Option<f64> {
        let setups = self.process_setup_ms.as_ref().filter(|_| !self.prepares_nothing())?;
        Some(100.0 * Estimate::of(&setups.0)?.half?.sinh())
    }

    /// Returns the row with times that include what is done once, spread over this number of products, in place of a
    /// setup. A row without the time of its setup has no times.
    pub fn with_setup(self, products: u32) -> Self {
        let share = self.once_ms().map(|once| once / f64::from(products));
        let slower = self.avg_spmv_ms.zip(share).map(|(alone, share)| alone / (alone + share));
        let totals = self.process_times(Some(products));
        let times = totals.map(|all| all.iter().map(|ms| ms / f64::from(products)).collect());
        let half = times.as_ref().and_then(|times: &Vec<f64>| Estimate::of(times)?.half);
        let row = Self { setup_ms: share.map(|_| 0.0), ..self.spread(share, slower) };
        let row = Self { process_ms: times.map(Processes), ..row };
        match row.median_ms.zip(half) {
            Some((ms, half)) => row.with_median(ms, (ms * (-half).exp(), ms * half.exp())),
            None => row,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that drifts by a factor of two, and the second method takes 1.5 times as long in each process.
    fn rows() -> [Row; 2] {
        let row = |times: &[f64], setups: &[f64]| {
            let [process_ms, process_setup_ms] = [times, setups].map(|all| Some(Processes(all.to_vec())));
            Row {
                setup_ms: Some(setups[0]),
                process_ms,
                process_setup_ms,
                ..Row::default().with_median(times[0], (0.9 * times[0], 1.1 * times[0]))
            }
        };
        [row(&[2.0, 3.0, 4.0, 9.0], &[6.0, 6.0, 6.0, 6.0]), row(&[3.0, 4.5, 6.0], &[9.0; 3])]
    }

    #[test]
    fn a_drift_cancels_in_pairs_and_only_there() {
        let [a, b] = rows();
        let other_run = Row { run_id: "other".into(), ..b.clone() };
        let old = Row { process_ms: None, ..b.clone() };
        let once = Row { ci95_low_ms: None, ..old.clone() };
        let independent = Some(2f64.sqrt() * 0.1f64.asinh());
        for (other, planned, half, processes) in [
            (&b, None, Some(0.0), 3),
            (&other_run, None, independent, 3),
            (&old, None, independent, 1),
            (&once, None, None, 1),
            (&b, Some(3), Some(0.0), 3),
        ] {
            let [a, other] = [&a, other].map(|row| row.timing(planned).unwrap());
            let found = other.over(&a);
            let [of_found, expected] = [found.half, half].map(|half| half.unwrap_or(-1.0));
            assert!((found.value - 1.5).abs() < 1e-12, "{found:?}");
            assert!((of_found - expected).abs() < 1e-9, "{found:?} and not {expected}");
            assert_eq!(found.processes, processes);
        }
        assert_eq!(Row::default().timing(None), None);
    }

    /// 2 + 6 / 2, 3 + 6 / 2 and so on. Without the setups of the processes, only the interval of a product is known.
    #[test]
    fn a_setup_is_spread_over_the_products_of_its_process() {
        let [a, b] = rows().map(|row| row.with_setup(2));
        assert_eq!(a.process_ms, Some(Processes(vec![5.0, 6.0, 7.0, 12.0])));
        let [low, high] = [a.ci95_low_ms, a.ci95_high_ms].map(Option::unwrap);
        let half = Estimate::of([5.0, 6.0, 7.0, 12.0]).unwrap().half.unwrap();
        assert!(((high / low).ln() / 2.0 - half).abs() < 1e-12);
        assert_eq!(rows().map(|row| row.setup_uncertainty()), [Some(0.0); 2]);
        assert!((b.timing(None).unwrap().over(&a.timing(None).unwrap()).value - 1.5).abs() < 1e-12);
        let old = Row { process_setup_ms: None, ..rows()[0].clone() };
        assert!((old.timing(Some(2)).unwrap().half.unwrap() - 0.04f64.asinh()).abs() < 1e-12);
        let old = old.with_setup(2);
        assert_eq!((old.process_ms, old.ci95_high_ms), (None, Some(5.2)));
    }
}
