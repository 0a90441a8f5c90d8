//! Statistics of the samples of one method on one matrix.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use spmv_results::statistics::interval::{Interval, median_interval};
use spmv_results::statistics::{median, sorted, variance};

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

/// Statistics of the times per product, in milliseconds. All but the mean are computed over the samples. Each sample
/// is the mean of its batch, so the spread of single products is larger than that of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The total time divided by the total number of products: `avg_spmv_ms`.
    pub mean_ms: f64,
    pub min_ms: f64,
    pub median_ms: f64,
    pub max_ms: f64,
    /// The sample standard deviation (n − 1); `None` for a single sample.
    pub std_dev_ms: Option<f64>,
    /// The 95 % confidence interval of the median, see [`median_interval`]; `None` for fewer than six samples.
    pub ci95_ms: Option<Interval>,
    /// The median of the host's times to enqueue a product, in milliseconds; `None` without such times.
    pub host_launch_ms: Option<f64>,
    /// The median of the times of products that all multiply the same x, in milliseconds, if those of samples form
    /// chains.
    pub independent_ms: Option<f64>,
    pub samples: usize,
    pub iterations: usize,
}

impl Summary {
    /// Computes the statistics; `None` if there are no samples.
    pub fn of(samples: &[Sample]) -> Option<Self> {
        let ms = sorted(samples.iter().map(|s| 1e3 * s.seconds / s.products as f64));
        let launch = |s: &Sample| Some(1e3 * s.host_launch?.as_secs_f64());
        let independent = |s: &Sample| Some(1e3 * s.independent?.as_secs_f64() / s.products as f64);
        let (&min_ms, &max_ms) = (ms.first()?, ms.last()?);
        let iterations = samples.iter().map(|s| s.products).sum::<usize>();
        let mean_ms = 1e3 * samples.iter().map(|s| s.seconds).sum::<f64>() / iterations as f64;
        Some(Self {
            mean_ms,
            min_ms,
            median_ms: median(&ms)?,
            max_ms,
            std_dev_ms: variance(&ms).map(f64::sqrt),
            ci95_ms: median_interval(&ms),
            host_launch_ms: median(samples.iter().filter_map(launch)),
            independent_ms: median(samples.iter().filter_map(independent)),
            samples: ms.len(),
            iterations,
        })
    }

    /// Returns the statistics with another median. Its interval is moved with it.
    pub fn with_median(self, median_ms: f64) -> Self {
        let moved = |end: f64| end * median_ms / self.median_ms;
        let ci95_ms = self.ci95_ms.map(|(low, high)| (moved(low), moved(high)));
        Self { median_ms, ci95_ms, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers() {
        // Per product: 1, 2, 3 and 6 ms. The batch of two products has twice the weight in the mean only.
        let of = |products, ms: f64, us| Sample {
            products,
            seconds: ms * 1e-3,
            host_launch: Some(Duration::from_micros(us)),
            independent: Some(Duration::from_micros(us)),
            ..Sample::default()
        };
        let samples = [of(1, 3.0, 9), of(2, 2.0, 2), of(1, 6.0, 4), of(1, 2.0, 1)];
        let summary = Summary::of(&samples).unwrap();
        // The second time is that of all products of a sample: 9, 1, 4 and 1 us for one.
        let others = [summary.host_launch_ms, summary.independent_ms];
        assert_eq!(others, [Some(0.003), Some(0.0025)]);
        assert_eq!((summary.samples, summary.iterations), (4, 5));
        assert!((summary.mean_ms - 2.6).abs() < 1e-12);
        let expected = [1.0, 2.5, 6.0, (14.0f64 / 3.0).sqrt()];
        let got = [summary.min_ms, summary.median_ms, summary.max_ms, summary.std_dev_ms.unwrap()];
        for (got, expected) in got.into_iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{summary:?}");
        }
        assert_eq!(summary.ci95_ms, None, "four samples are too few");
    }

    #[test]
    fn one_sample_has_no_spread_and_none_has_no_summary() {
        let sample = Sample { products: 4, seconds: 2e-3, ..Sample::default() };
        let summary = Summary::of(&[sample]).unwrap();
        assert_eq!((summary.host_launch_ms, summary.independent_ms), (None, None));
        assert_eq!((summary.mean_ms, summary.std_dev_ms, summary.ci95_ms), (0.5, None, None));
        assert_eq!(Summary::of(&[]), None);
    }
}
