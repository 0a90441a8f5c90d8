//! Means, medians, intervals and fits.

pub mod fit;
pub mod interval;

use serde::Deserialize;

/// What reduces many numbers to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    Min,
    Max,
    Mean,
    /// The count divided by the sum of the inverses: the mean of speed-ups that the papers use.
    HarmonicMean,
    GeometricMean,
    Median,
    Count,
}

impl Statistic {
    /// Returns `None` for no values (0 for `Count`), and for a harmonic or geometric mean of a negative value.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let numbers = || values.iter().copied();
        let is_any_negative = !values.iter().all(|&value| value >= 0.0);
        match self {
            Self::Min => numbers().min_by(f64::total_cmp),
            Self::Max => numbers().max_by(f64::total_cmp),
            Self::Mean => mean(values),
            Self::HarmonicMean | Self::GeometricMean if is_any_negative => None,
            Self::HarmonicMean => {
                let inverses: Vec<_> = numbers().map(f64::recip).collect();
                mean(&inverses).map(f64::recip)
            }
            Self::GeometricMean => geometric_mean(numbers()),
            Self::Median => median(numbers()),
            Self::Count => Some(values.len() as f64),
        }
    }

    /// Returns the statistic of numbers that each belong to something, such as a row.
    pub fn over<R>(self, numbers: &[(R, f64)]) -> Option<f64> {
        self.of(&numbers.iter().map(|number| number.1).collect::<Vec<_>>())
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the geometric mean of numbers above 0; `None` without numbers.
pub fn geometric_mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<_> = numbers.into_iter().map(f64::ln).collect();
    mean(&logarithms).map(f64::exp)
}

/// Returns the sample variance (n − 1); `None` for fewer than two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (values.len() as f64 - 1.0))
}

/// Returns the numbers from the least to the greatest.
pub fn sorted(numbers: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// Returns the median, of an even count the mean of the two in the middle; `None` without numbers.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let sorted = sorted(numbers);
    let last = sorted.len().checked_sub(1)?;
    Some(f64::midpoint(sorted[last / 2], sorted[sorted.len() / 2]))
}

/// Returns the q-quantile, q = `share`, interpolated linearly between neighbouring numbers; `None` without numbers.
pub fn quantile(numbers: impl IntoIterator<Item = f64>, share: f64) -> Option<f64> {
    let sorted = sorted(numbers);
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    // Avoids the difference of two infinities, which is NaN.
    Some(if low == high { low } else { low + (high - low) * place.fract() })
}

/// Returns the percentage of numbers that count; `None` without numbers.
pub fn percentage<R>(numbers: &[(R, f64)], counts: impl Fn(f64) -> bool) -> Option<f64> {
    let met = numbers.iter().filter(|number| counts(number.1)).count();
    (!numbers.is_empty()).then(|| 100.0 * met as f64 / numbers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For 1, 2, 4, 8: sum 15, product 64, sum of the inverses 8/8 + 4/8 + 2/8 + 1/8 = 15/8.
    #[test]
    fn every_statistic() {
        for (statistic, expected) in [
            (Statistic::Min, 1.0),
            (Statistic::Max, 8.0),
            (Statistic::Mean, 3.75),
            (Statistic::HarmonicMean, 4.0 * 8.0 / 15.0),
            (Statistic::GeometricMean, 64f64.sqrt().sqrt()),
            (Statistic::Median, 3.0),
            (Statistic::Count, 4.0),
        ] {
            let of = statistic.of(&[8.0, 1.0, 4.0, 2.0]).unwrap();
            assert!((of - expected).abs() < 1e-12, "{statistic:?}: {of}");
            let of_none = statistic.of(&[]);
            assert_eq!(of_none, (statistic == Statistic::Count).then_some(0.0), "{statistic:?}");
        }
        let in_toml: Statistic = serde_json::from_str("\"harmonic-mean\"").unwrap();
        assert_eq!(in_toml, Statistic::HarmonicMean);
        assert_eq!(Statistic::HarmonicMean.of(&[1.0, -1.0]), None);
        assert_eq!(Statistic::GeometricMean.of(&[1.0, -1.0]), None);
        assert_eq!(variance(&[1.0, 2.0, 6.0]), Some((4.0 + 1.0 + 9.0) / 2.0));
        assert_eq!((variance(&[1.0]), variance(&[])), (None, None));
    }

    #[test]
    fn a_median_has_as_many_numbers_below_as_above() {
        let infinite = [f64::INFINITY, 1.0, f64::INFINITY, f64::INFINITY];
        for (numbers, expected) in [
            (&[5.0, 1.0, 2.0][..], Some(2.0)),
            (&[5.0, 1.0, 2.0, 4.0], Some(3.0)),
            (&infinite, Some(f64::INFINITY)),
            (&[], None),
        ] {
            assert_eq!(median(numbers.iter().copied()), expected, "{numbers:?}");
        }
    }

    /// Five numbers are at 0, 1/4, 1/2, 3/4 and 1; 0.9 is 3/5 of the way from the fourth to the fifth.
    #[test]
    fn quantiles_lie_between_neighbours() {
        let numbers = [50.0, 10.0, 20.0, 40.0, 30.0];
        assert!((quantile(numbers, 0.9).unwrap() - 46.0).abs() < 1e-12);
        assert_eq!(quantile([f64::INFINITY; 2], 0.5), Some(f64::INFINITY));
        assert_eq!(quantile([], 0.5), None);
    }
}
