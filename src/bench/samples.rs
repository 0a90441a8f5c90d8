//! Which samples count: those in which no thread had to wait for a CPU.

use std::time::Duration;

use super::statistics::{Sample, Summary};
use spmv_results::row::Remark;
use spmv_results::settings::Round;

/// A sample is disturbed if a thread waited for a CPU for more than this share of its time.
pub const DISTURBED: f64 = 0.01;
/// If fewer samples are undisturbed, others count, too. An interval of the median needs six.
const FEWEST: usize = 6;

impl Sample {
    /// Returns what a thread waited for a CPU, as a share of the time of the sample.
    pub fn disturbance(&self) -> f64 {
        if self.waited.is_zero() { 0.0 } else { self.waited.as_secs_f64() / self.seconds }
    }

    pub fn is_disturbed(&self) -> bool {
        self.disturbance() > DISTURBED
    }
}

/// Chooses the samples of a turn that count: the undisturbed ones. If those are too few, further ones fill the turn,
/// the least disturbed first. If the number of products `is_fixed`, it is filled with these, and no more count.
pub fn choose(samples: &mut [Sample], round: &Round, is_fixed: bool) {
    let calm = samples.iter().filter(|sample| !sample.is_disturbed()).count();
    let is_filled = is_fixed || calm < FEWEST;
    let (mut products, mut time) = (0, Duration::ZERO);
    for place in least_disturbed(samples, Sample::disturbance) {
        let sample = &mut samples[place];
        let fits = is_filled && round.continues(products, time);
        sample.counts = fits || !is_fixed && !sample.is_disturbed();
        products += sample.products;
        time += Duration::from_secs_f64(sample.seconds);
    }
}

/// Returns the pairs of a duel that count: the undisturbed ones, or else the least disturbed.
pub fn choose_pairs<T: Copy>(pairs: &[T], disturbance: impl Fn(&T) -> f64) -> Vec<T> {
    let calm = pairs.iter().filter(|pair| disturbance(pair) <= DISTURBED).count();
    let mut places = least_disturbed(pairs, disturbance);
    places.truncate(calm.max(FEWEST));
    places.into_iter().map(|place| pairs[place]).collect()
}

/// Returns the places of all, the least disturbed first.
pub fn least_disturbed<T>(all: &[T], disturbance: impl Fn(&T) -> f64) -> Vec<usize> {
    let mut places: Vec<_> = (0..all.len()).collect();
    places.sort_by(|&a, &b| disturbance(&all[a]).total_cmp(&disturbance(&all[b])));
    places
}

/// Returns the median time of a product in the samples that count.
pub fn typical(samples: &[Sample]) -> Option<Duration> {
    let counted: Vec<_> = samples.iter().filter(|sample| sample.counts).copied().collect();
    Some(Duration::from_secs_f64(1e-3 * Summary::of(&counted)?.median_ms))
}

/// The samples of a method in this process.
#[derive(Default)]
pub struct Samples {
    /// Those of its turns.
    pub turns: Vec<Sample>,
    /// Those of the duel with other methods.
    pub duel: Vec<Sample>,
    /// The time of a product as its turns and the duel show it; `None` without a duel.
    pub duel_ms: Option<f64>,
}

impl Samples {
    /// Returns the median time of a product in the turns.
    pub fn typical(&self) -> Option<Duration> {
        typical(&self.turns)
    }

    /// Returns the statistics of all samples that count, of which there must be one.
    pub fn summary(&self) -> Summary {
        let summary = Summary::of(&self.counted()).expect("a turn has a sample that counts");
        match self.duel_ms {
            Some(ms) => summary.with_median(ms),
            None => summary,
        }
    }

    fn counted(&self) -> Vec<Sample> {
        self.all().filter(|sample| sample.counts).copied().collect()
    }

    pub fn all(&self) -> impl Iterator<Item = &Sample> {
        self.turns.iter().chain(&self.duel)
    }

    /// Returns the share of the samples that were disturbed.
    pub fn disturbed(&self) -> f64 {
        let disturbed = self.all().filter(|sample| sample.is_disturbed()).count();
        disturbed as f64 / self.all().count() as f64
    }

    /// Returns the largest share of the time of a sample that counts for which a thread waited for a CPU.
    pub fn waited(&self) -> f64 {
        self.counted().iter().map(Sample::disturbance).fold(0.0, f64::max).min(1.0)
    }

    /// Returns a remark if too few samples were undisturbed.
    pub fn remark(&self) -> Option<Remark> {
        let most = self.waited();
        (most > DISTURBED).then_some(Remark::Disturbed { percent: 100.0 * most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_methods::method::Device;
    use spmv_results::settings::{Protocol, Settings};

    /// Samples of one product of a second, of which these parts were waiting. Ten products are needed.
    #[test]
    fn undisturbed_samples_count_and_else_the_least_disturbed() {
        let calm = [0.0, 0.0, 0.01, 0.0, 0.0, 0.0];
        let disturbed = [0.5, 0.4, 0.3, 0.2, 0.1, 0.6];
        let mut settings = Settings::new(Protocol::MergeSpmv);
        (settings.iterations, settings.max_time) = (Some(60), Duration::MAX);
        let round = settings.round(1, Device::Cpu);
        for (shares, is_fixed, expected) in [
            ([calm, disturbed].concat(), false, 6),
            ([calm, disturbed].concat(), true, 10),
            ([&calm[..5], &disturbed].concat(), false, 10),
            (disturbed.to_vec(), false, 6),
        ] {
            let sample = |share: &f64| Sample {
                products: 1,
                seconds: 1.0,
                waited: Duration::from_secs_f64(*share),
                ..Sample::default()
            };
            let mut samples: Vec<_> = shares.iter().map(sample).collect();
            choose(&mut samples, &round, is_fixed);
            let [counted, left] = [true, false].map(|counts| {
                let those = samples.iter().filter(|sample| sample.counts == counts);
                those.map(Sample::disturbance).collect::<Vec<_>>()
            });
            assert_eq!(counted.len(), expected, "{shares:?}");
            let most = counted.iter().copied().fold(0.0, f64::max);
            assert!(left.iter().all(|share| *share >= most), "{shares:?}");
        }
        let found = [[0.5, 0.0, 0.0].repeat(4), disturbed.repeat(2)]
            .map(|shares| choose_pairs(&shares, |share| *share).len());
        assert_eq!(found, [8, 6]);
    }
}
