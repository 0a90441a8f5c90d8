//! Decides which methods are measured again because their times were too noisy.

use std::time::Duration;

use super::statistics::{Sample, Summary};
use spmv_results::row::Remark;
use spmv_results::settings::WIDEST_INTERVAL;

/// The maximum number of measurements after the first.
const MAX_REPEATS: usize = 2;

#[derive(Default)]
pub struct Attempts {
    /// The samples of the current measurement.
    samples: Vec<Sample>,
    /// The summary with the narrowest interval so far.
    steadiest: Option<Summary>,
    repeats: usize,
}

impl Attempts {
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// Returns the median time of a product in the current measurement, or else in the steadiest one.
    pub fn typical(&self) -> Option<Duration> {
        let summary = Summary::of(&self.samples).or(self.steadiest)?;
        Some(Duration::from_secs_f64(1e-3 * summary.median_ms))
    }

    /// Ends the current measurement, which must have at least one sample. If all measurements so far were too noisy,
    /// and another one is allowed and `affordable`, begins it and returns true.
    pub fn again(&mut self, affordable: bool) -> bool {
        let candidates = [self.steadiest, Summary::of(&std::mem::take(&mut self.samples))];
        let candidates = candidates.into_iter().flatten();
        self.steadiest = candidates.min_by(|a, b| width(a).total_cmp(&width(b)));
        let again = affordable && self.is_noisy() && self.repeats < MAX_REPEATS;
        self.repeats += usize::from(again);
        again
    }

    /// Ends the current measurement early. It is used only if it is the first. Returns whether there is a measurement.
    pub fn cut_short(&mut self) -> bool {
        match self.steadiest {
            Some(_) => self.repeats -= 1,
            None => self.steadiest = Summary::of(&self.samples),
        }
        self.steadiest.is_some()
    }

    /// Returns the steadiest measurement, and a remark if that is still too noisy.
    pub fn result(&self) -> (Summary, Option<Remark>) {
        let steadiest = self.steadiest.expect("a measurement was ended");
        let percent = 100.0 * width(&steadiest);
        let noise = Remark::Noisy { percent, repeats: self.repeats };
        (steadiest, self.is_noisy().then_some(noise))
    }

    fn is_noisy(&self) -> bool {
        self.steadiest.is_some_and(|summary| width(&summary) > WIDEST_INTERVAL)
    }
}

/// Returns the width of the 95 % interval divided by the median; 0 if there are too few samples for an interval.
fn width(summary: &Summary) -> f64 {
    summary.ci95_ms.map_or(0.0, |(low, high)| (high - low) / summary.median_ms)
}
