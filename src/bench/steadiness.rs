//! Measures again what was too noisy to tell anything.

use super::statistics::{Sample, Summary};

/// A 95 % interval wider than this share of the median is too noisy.
pub const WIDEST: f64 = 0.1;
/// Measurements beyond the first.
const REPEATS: usize = 2;

/// The samples of one method, and the steadiest of the measurements that it took.
#[derive(Default)]
pub struct Attempts {
    /// Of the measurement at hand.
    samples: Vec<Sample>,
    /// The summary with the narrowest interval so far.
    steadiest: Option<Summary>,
    repeats: usize,
}

impl Attempts {
    /// Takes a sample into the measurement at hand.
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// Ends the measurement at hand, of one sample at least. If all so far were too noisy and another is
    /// allowed and `affordable`, begins it and returns true.
    pub fn again(&mut self, affordable: bool) -> bool {
        let candidates = [self.steadiest, Summary::of(&std::mem::take(&mut self.samples))];
        let candidates = candidates.into_iter().flatten();
        self.steadiest = candidates.min_by(|a, b| width(a).total_cmp(&width(b)));
        let again = affordable && self.is_noisy() && self.repeats < REPEATS;
        self.repeats += usize::from(again);
        again
    }

    /// Ends the measurement at hand before its end. It counts only if it is the first; whether there is any.
    pub fn cut_short(&mut self) -> bool {
        match self.steadiest {
            Some(_) => self.repeats -= 1,
            None => self.steadiest = Summary::of(&self.samples),
        }
        self.steadiest.is_some()
    }

    /// The steadiest measurement, and a word to the reader if that is noisy as well.
    ///
    /// # Panics
    /// Before a measurement was ended.
    pub fn result(&self) -> (Summary, Option<String>) {
        let steadiest = self.steadiest.expect("a measurement was ended");
        let percent = 100.0 * width(&steadiest);
        let repeats = self.repeats;
        let noise = format!("95 % interval {percent:.0} % wide after {repeats} re-measurements");
        (steadiest, self.is_noisy().then_some(noise))
    }

    fn is_noisy(&self) -> bool {
        self.steadiest.is_some_and(|summary| width(&summary) > WIDEST)
    }
}

/// Of the 95 % interval, over the median; 0 for a few samples, which have none.
fn width(summary: &Summary) -> f64 {
    summary.ci95_ms.map_or(0.0, |(low, high)| (high - low) / summary.median_ms)
}
