//! Whether B is slower than a limit allows. A noisy machine must not look like a fast program: if an interval contains
//! the limit, nothing is decided.

use super::comparison::Comparison;
use crate::statistics::estimate::Estimate;

/// A mean or a pair that a limit is about.
pub struct Judged {
    /// The method, with the matrix if it is a pair.
    pub label: String,
    /// How many times as long B takes as A.
    pub ratio: Estimate,
    /// By how many percent B may be slower.
    pub percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The whole interval is below the limit.
    Passed,
    /// The whole interval is above it.
    Failed,
    /// The interval contains the limit, or is not known.
    Undecided,
}

impl Judged {
    fn limit(&self) -> f64 {
        1.0 + self.percent / 100.0
    }

    pub fn end(&self) -> End {
        match self.ratio.interval() {
            Some((_, high)) if high <= self.limit() => End::Passed,
            Some((low, _)) if low > self.limit() => End::Failed,
            _ => End::Undecided,
        }
    }

    /// Returns the number of runs of each side, or of processes, that would decide, if the ratio and its spread stay as
    /// they are.
    pub fn needed(&self) -> Option<usize> {
        self.ratio.processes_to_exclude(self.limit())
    }
}

impl Comparison<'_> {
    /// Returns what limits are about, in percent: of the means, and of the pairs.
    pub fn judged(&self, means: Option<f64>, pairs: Option<f64>) -> Vec<Judged> {
        let means = means.into_iter().flat_map(|percent| {
            self.means()
                .map(move |(label, mean)| Judged { label: label.to_owned(), ratio: mean.ratio, percent })
        });
        let pairs = pairs.into_iter().flat_map(|percent| {
            self.pairs.iter().filter_map(move |pair| {
                let label = format!("{} on {}", pair.key.label(&self.keys), pair.key.matrix);
                Some(Judged { label, ratio: pair.change.as_ref()?.ratio, percent })
            })
        });
        means.chain(pairs).collect()
    }
}

#[cfg(test)]
mod tests;
