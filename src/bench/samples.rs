//! The samples of a method, which of them count (those in which no thread had to wait for a CPU), and their statistics.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use spmv_results::row::{Processes, Remark, Row};
use spmv_results::settings::Round;
use spmv_results::statistics::interval::median_interval;
use spmv_results::statistics::{median, sorted, variance};

/// A sample is disturbed if a thread waited for a CPU for more than this share of its time.
pub const DISTURBED: f64 = 0.01;
/// If fewer samples are undisturbed, others count, too. An interval of the median needs six.
const FEWEST: usize = 6;

/// A batch of products that was timed as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The number of the round among those of all processes, from 1; 0 in a duel.
    pub round: usize,
    /// The number of the pair in the duel, from 1; 0 in a turn.
    pub pair: usize,
    pub products: usize,
    pub seconds: f64,
    /// The longest time that a thread of the process waited for a CPU meanwhile.
    pub waited: Duration,
    /// Whether elements of x were new to the method.
    pub is_changed: bool,
    /// Whether it counts: usually if no thread waited.
    pub counts: bool,
    /// The host's time to enqueue a product of the batch; `None` on the host and on models.
    pub host_launch: Option<Duration>,
    /// If the products form chains: the time of as many products that all multiply the same x, just before.
    pub independent: Option<Duration>,
}

impl Sample {
    /// Returns the time of a product in milliseconds: the mean of the batch.
    pub fn product_ms(&self) -> f64 {
        1e3 * self.seconds / self.products as f64
    }

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
    let counted = samples.iter().filter(|sample| sample.counts);
    Some(Duration::from_secs_f64(1e-3 * median(counted.map(Sample::product_ms))?))
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

    /// Sets the statistics of the samples that count, of which there must be one. All but the mean are computed over
    /// the samples, each of which is the mean of its batch, so the spread of single products is larger. The mean is the
    /// total time divided by the total number of products. After a duel its time is the median, with which the
    /// interval moves.
    pub fn in_row(&self, row: Row) -> Row {
        let ms = sorted(self.counted().map(Sample::product_ms));
        let median_of_turns = median(&ms).expect("a turn has a sample that counts");
        let median_ms = self.duel_ms.unwrap_or(median_of_turns);
        let ci95_ms = median_interval(&ms);
        let moved = |end: f64| end * median_ms / median_of_turns;
        let seconds = self.counted().map(|sample| sample.seconds).sum::<f64>();
        let iterations = self.counted().map(|sample| sample.products).sum::<usize>();
        let launches = self.counted().filter_map(|sample| sample.host_launch);
        let independent = self
            .counted()
            .filter_map(|sample| Some(1e3 * sample.independent?.as_secs_f64() / sample.products as f64));
        Row {
            min_ms: ms.first().copied(),
            median_ms: Some(median_ms),
            max_ms: ms.last().copied(),
            std_dev_ms: variance(&ms).map(f64::sqrt),
            ci95_low_ms: ci95_ms.map(|(low, _)| moved(low)),
            ci95_high_ms: ci95_ms.map(|(_, high)| moved(high)),
            samples: Some(ms.len()),
            iterations: Some(iterations),
            process_ms: Some(Processes::of(median_ms)),
            host_launch_ms: median(launches.map(|time| 1e3 * time.as_secs_f64())),
            independent_ms: median(independent),
            ..row.with_mean(1e3 * seconds / iterations as f64)
        }
    }

    fn counted(&self) -> impl Iterator<Item = &Sample> {
        self.all().filter(|sample| sample.counts)
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
        self.counted().map(Sample::disturbance).fold(0.0, f64::max).min(1.0)
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
        let found =
            [[0.5, 0.0, 0.0].repeat(4), disturbed.repeat(2)].map(|shares| choose_pairs(&shares, |share| *share).len());
        assert_eq!(found, [8, 6]);
    }

    /// Per product: 1, 2, 3 and 6 ms. The batch of two products has twice the weight in the mean only.
    #[test]
    fn statistics_are_by_hand() {
        let of = |products, ms: f64, us| Sample {
            products,
            seconds: ms * 1e-3,
            counts: true,
            host_launch: Some(Duration::from_micros(us)),
            independent: Some(Duration::from_micros(us)),
            ..Sample::default()
        };
        let ignored = Sample { counts: false, ..of(1, 99.0, 99) };
        let turns = vec![of(1, 3.0, 9), of(2, 2.0, 2), ignored, of(1, 6.0, 4), of(1, 2.0, 1)];
        let mut samples = Samples { turns, ..Samples::default() };
        let row = samples.in_row(Row::default());
        // The second time is that of all products of a sample: 9, 1, 4 and 1 us for one.
        assert_eq!([row.host_launch_ms, row.independent_ms], [Some(0.003), Some(0.0025)]);
        assert_eq!((row.samples, row.iterations), (Some(4), Some(5)));
        let got = [row.avg_spmv_ms, row.min_ms, row.median_ms, row.max_ms, row.std_dev_ms];
        for (got, expected) in got.into_iter().zip([2.6, 1.0, 2.5, 6.0, (14.0f64 / 3.0).sqrt()]) {
            assert!((got.unwrap() - expected).abs() < 1e-12, "{row:?}");
        }
        assert_eq!(row.ci95_low_ms, None, "four samples are too few");
        // Six samples have an interval, which moves with the median that a duel shows.
        samples.turns.extend([of(1, 3.0, 1), of(1, 2.0, 1)]);
        let [own, of_duel] = [None, Some(5.0)].map(|duel_ms| {
            samples.duel_ms = duel_ms;
            let row = samples.in_row(Row::default());
            [row.ci95_low_ms, row.median_ms, row.ci95_high_ms].map(Option::unwrap)
        });
        assert_eq!((own, of_duel), ([1.0, 2.5, 6.0], [2.0, 5.0, 12.0]));
        samples.turns.truncate(1);
        let row = samples.in_row(Row::default());
        assert_eq!((row.median_ms, row.std_dev_ms), (Some(5.0), None), "one has no spread");
    }
}
