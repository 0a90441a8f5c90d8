//! Statistics of the samples of one method on one matrix.

use serde::Serialize;

/// A batch of products timed as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Products in the batch.
    pub products: usize,
    /// Time of the whole batch, in seconds.
    pub seconds: f64,
}

/// Times in milliseconds per product. All but the mean are taken over the samples, each of which is
/// a batch's mean, so they understate the spread of single products.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Total time over total products: `avg_spmv_ms`.
    pub mean_ms: f64,
    /// The fastest sample.
    pub min_ms: f64,
    /// The middle sample, or the mean of the two.
    pub median_ms: f64,
    /// The slowest sample.
    pub max_ms: f64,
    /// Sample standard deviation (n − 1); `None` for a single sample.
    pub std_dev_ms: Option<f64>,
    /// 95 % confidence interval of the mean by Student's t, samples taken as independent.
    pub ci95_ms: Option<(f64, f64)>,
    /// Number of samples.
    pub samples: usize,
    /// Number of products.
    pub iterations: usize,
}

impl Summary {
    /// `None` when there are no samples.
    pub fn of(samples: &[Sample]) -> Option<Self> {
        let mut ms: Vec<f64> =
            samples.iter().map(|s| 1e3 * s.seconds / s.products as f64).collect();
        ms.sort_by(f64::total_cmp);
        let (&min_ms, &max_ms) = (ms.first()?, ms.last()?);
        let iterations = samples.iter().map(|s| s.products).sum::<usize>();
        let mean_ms = 1e3 * samples.iter().map(|s| s.seconds).sum::<f64>() / iterations as f64;
        let std_dev_ms = std_dev(&ms);
        let half_width =
            |deviation: f64| student_t_975(ms.len() - 1) * deviation / (ms.len() as f64).sqrt();
        Some(Self {
            mean_ms,
            min_ms,
            median_ms: (ms[(ms.len() - 1) / 2] + ms[ms.len() / 2]) / 2.0,
            max_ms,
            std_dev_ms,
            ci95_ms: std_dev_ms.map(half_width).map(|half| (mean_ms - half, mean_ms + half)),
            samples: ms.len(),
            iterations,
        })
    }
}

fn std_dev(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

/// The 97.5 % quantile of Student's t with `df` ≥ 1 degrees of freedom: exact for 1 and 2, else the
/// expansion about the normal quantile (Abramowitz & Stegun 26.7.5), within 0.2 %.
pub fn student_t_975(df: usize) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let n = df as f64;
    match df {
        1 => 12.706_204_736_432_095,
        2 => 4.302_652_729_696_142,
        _ => {
            let z = |power| Z.powi(power);
            Z + (z(3) + Z) / (4.0 * n)
                + (5.0 * z(5) + 16.0 * z(3) + 3.0 * Z) / (96.0 * n.powi(2))
                + (3.0 * z(7) + 19.0 * z(5) + 17.0 * z(3) - 15.0 * Z) / (384.0 * n.powi(3))
                + (79.0 * z(9) + 776.0 * z(7) + 1482.0 * z(5) - 1920.0 * z(3) - 945.0 * Z)
                    / (92160.0 * n.powi(4))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers() {
        // Per product: 1, 2, 3 and 6 ms; the batch of two counts twice in the mean only.
        let of = |products, ms: f64| Sample { products, seconds: ms * 1e-3 };
        let summary = Summary::of(&[of(1, 3.0), of(2, 2.0), of(1, 6.0), of(1, 2.0)]).unwrap();
        assert_eq!((summary.samples, summary.iterations), (4, 5));
        assert!((summary.mean_ms - 2.6).abs() < 1e-12);
        let expected = [1.0, 2.5, 6.0, (14.0f64 / 3.0).sqrt()];
        let got = [summary.min_ms, summary.median_ms, summary.max_ms, summary.std_dev_ms.unwrap()];
        for (got, expected) in got.into_iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{summary:?}");
        }
        let (low, high) = summary.ci95_ms.unwrap();
        assert!((high - low - 2.0 * 3.182 * expected[3] / 2.0).abs() < 0.01, "{low} {high}");
    }

    #[test]
    fn one_sample_has_no_spread_and_none_has_no_summary() {
        let summary = Summary::of(&[Sample { products: 4, seconds: 2e-3 }]).unwrap();
        assert_eq!((summary.mean_ms, summary.std_dev_ms, summary.ci95_ms), (0.5, None, None));
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn student_t_equals_the_tables() {
        for (df, expected) in [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (30, 2.042)] {
            assert!((student_t_975(df) / expected - 1.0).abs() < 2e-3, "{df}");
        }
    }
}
