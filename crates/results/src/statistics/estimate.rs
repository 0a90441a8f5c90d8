//! What several processes together say about a time or a ratio of times: its geometric mean, and how far off that may
//! be.
//!
//! Times differ between processes by factors, because each process has its own pages of memory and its own share of the
//! machine. Therefore their logarithms are averaged, and the interval is that of Student's t. Each method is judged by
//! its own spread alone: a common spread would make the intervals of noisy methods too narrow.

use super::interval::{Interval, NORMAL, OUTSIDE, student};
use super::{Numbers, collected, mean, variance};

/// A time, or how many times as long one thing takes as another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Half the 95 % interval of the logarithm of the value; `None` if it is not known.
    pub half: Option<f64>,
    /// The number of processes, or of runs, whose spread the interval is of; 1 if it is that of the samples of one.
    pub processes: usize,
}

impl Estimate {
    /// Returns the geometric mean of the numbers of processes; `None` unless all of them are above 0 and finite.
    pub fn of(numbers: impl Numbers) -> Option<Self> {
        let logs: Vec<_> = collected(numbers).into_iter().map(f64::ln).collect();
        let processes = logs.len();
        let middle = mean(&logs).filter(|mean| mean.is_finite())?;
        let half = |variance: f64| student(processes - 1, OUTSIDE) * (variance / processes as f64).sqrt();
        Some(Self { value: middle.exp(), half: variance(&logs).map(half), processes })
    }

    /// Returns how many times as long one thing takes as another that was measured in the same processes: what makes a
    /// whole process slower cancels. Processes that measured only one of them, which are the last, are left out. `None`
    /// for fewer than two pairs.
    pub fn of_pairs(ms: &[f64], over: &[f64]) -> Option<Self> {
        let ratios = ms.iter().zip(over).map(|(ms, over)| ms / over);
        Self::of(ratios.collect::<Vec<_>>()).filter(|it| it.processes > 1)
    }

    /// Returns how many times as long this takes as something that was measured independently of it.
    pub fn over(self, other: Self) -> Self {
        let half = self.half.zip(other.half).map(|(one, other)| one.hypot(other));
        let processes = self.processes.min(other.processes);
        Self { value: self.value / other.value, half, processes }
    }

    pub fn interval(&self) -> Option<Interval> {
        let factor = self.half?.exp();
        Some((self.value / factor, self.value * factor))
    }

    /// Returns the number of processes from which on the interval excludes a number, if the value and the spread stay
    /// as they are; `None` for more than a thousand.
    pub fn processes_to_exclude(&self, number: f64) -> Option<usize> {
        let distance = (self.value / number).ln().abs();
        let deviation = match self.processes {
            1 => self.half? / NORMAL,
            many => self.half? * (many as f64).sqrt() / student(many - 1, OUTSIDE),
        };
        let half = |many: usize| student(many - 1, OUTSIDE) * deviation / (many as f64).sqrt();
        (2..=1000).find(|many| half(*many) < distance)
    }

    /// Returns half the width of the interval, 0 if it is not known.
    pub fn half_width(&self) -> f64 {
        self.value * self.half.unwrap_or(0.0).sinh()
    }

    /// Whether the interval of a ratio shows which of the two is faster; `None` if it is not known.
    pub fn is_apart(&self) -> Option<bool> {
        self.interval().map(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// The number of processes after which a run first asks whether they are [enough](is_enough), and the largest number.
pub const PROCESSES: [usize; 2] = [6, 15];
/// The share that the interval of a look leaves out at each end: it is one of 99.9 %. Looks at intervals of 95 % would
/// call equal methods different in 11 % of runs, and of 99 % in 6 %. With these it stays 5 %.
const LOOK_OUTSIDE: f64 = 0.0005;
/// Half the interval of a ratio below which two methods that are not told apart are alike enough.
const ALIKE: f64 = 0.02;
/// Half the interval of a ratio below which it is known well by how much two methods differ.
const NARROW: f64 = 0.03;

/// Returns whether the ratio of two methods is known so well that no further process is needed: they surely differ, and
/// by how much is known, or they are not told apart although the interval is narrow. An interval that is narrow and
/// excludes 1 is not enough, because a narrow one may be so by chance.
pub fn is_enough(ratio: &Estimate) -> bool {
    let [first, last] = PROCESSES;
    let freedom = ratio.processes.max(2) - 1;
    let wider = student(freedom, LOOK_OUTSIDE) / student(freedom, OUTSIDE);
    let is_narrow = ratio.half.is_some_and(|half| half < NARROW);
    let surely_differ = ratio.half.is_some_and(|half| wider * half < ratio.value.ln().abs());
    let are_alike = ratio.half.is_some_and(|half| half < ALIKE) && ratio.is_apart() == Some(false);
    ratio.processes >= last || ratio.processes >= first && (is_narrow && surely_differ || are_alike)
}

#[cfg(test)]
mod tests;
