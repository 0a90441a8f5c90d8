//! Means, medians, intervals and fits.

pub mod estimate;
pub mod fit;
pub mod interval;

use std::borrow::Borrow;

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
    /// Returns `None` without numbers (0 for `Count`), and for a harmonic or geometric mean of a negative one.
    pub fn of(self, numbers: impl Numbers) -> Option<f64> {
        let numbers = collected(numbers);
        let is_any_negative = !numbers.iter().all(|&number| number >= 0.0);
        match self {
            Self::Min => numbers.into_iter().min_by(f64::total_cmp),
            Self::Max => numbers.into_iter().max_by(f64::total_cmp),
            Self::Mean => mean(numbers),
            Self::HarmonicMean | Self::GeometricMean if is_any_negative => None,
            Self::HarmonicMean => mean(numbers.into_iter().map(f64::recip)).map(f64::recip),
            Self::GeometricMean => geometric_mean(numbers),
            Self::Median => median(numbers),
            Self::Count => Some(numbers.len() as f64),
        }
    }

    /// Returns the statistic of numbers that each belong to something, such as a row.
    pub fn over<R>(self, numbers: &[(R, f64)]) -> Option<f64> {
        self.of(numbers.iter().map(|number| number.1))
    }
}

/// Numbers, or references to numbers.
pub trait Numbers: IntoIterator<Item: Borrow<f64>> {}

impl<I: IntoIterator<Item: Borrow<f64>>> Numbers for I {}

fn collected(numbers: impl Numbers) -> Vec<f64> {
    numbers.into_iter().map(|number| *number.borrow()).collect()
}

fn mean(numbers: impl Numbers) -> Option<f64> {
    let numbers = collected(numbers);
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Returns the geometric mean of numbers above 0; `None` without numbers.
pub fn geometric_mean(numbers: impl Numbers) -> Option<f64> {
    mean(numbers.into_iter().map(|number| number.borrow().ln())).map(f64::exp)
}

/// Returns the sample variance (n − 1); `None` for fewer than two numbers.
pub fn variance(numbers: &[f64]) -> Option<f64> {
    let mean = mean(numbers)?;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (numbers.len() > 1).then(|| squares / (numbers.len() as f64 - 1.0))
}

pub fn sorted(numbers: impl Numbers) -> Vec<f64> {
    let mut numbers = collected(numbers);
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// Returns the median, of an even count the mean of the two in the middle; `None` without numbers.
pub fn median(numbers: impl Numbers) -> Option<f64> {
    let sorted = sorted(numbers);
    let last = sorted.len().checked_sub(1)?;
    Some(f64::midpoint(sorted[last / 2], sorted[sorted.len() / 2]))
}

/// Returns the q-quantile, q = `share`, interpolated linearly between neighbouring numbers; `None` without numbers.
pub fn quantile(numbers: impl Numbers, share: f64) -> Option<f64> {
    let sorted = sorted(numbers);
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    // Avoids the difference of two infinities, which is NaN.
    Some(if low == high { low } else { low + (high - low) * place.fract() })
}

/// Returns the percentage of what is `true`; `None` without anything.
pub fn percentage(are: impl IntoIterator<Item = bool>) -> Option<f64> {
    mean(are.into_iter().map(|is| if is { 100.0 } else { 0.0 }))
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
            let of = statistic.of([8.0, 1.0, 4.0, 2.0]).unwrap();
            assert!((of - expected).abs() < 1e-12, "{statistic:?}: {of}");
            let of_none = statistic.of([0.0; 0]);
            assert_eq!(of_none, (statistic == Statistic::Count).then_some(0.0), "{statistic:?}");
        }
        assert_eq!(Statistic::Median.of([5.0, 1.0, 2.0]), Some(2.0));
        let in_toml: Statistic = serde_json::from_str("\"harmonic-mean\"").unwrap();
        assert_eq!(in_toml, Statistic::HarmonicMean);
        assert_eq!(Statistic::HarmonicMean.of([1.0, -1.0]), None);
        assert_eq!(Statistic::GeometricMean.of([1.0, -1.0]), None);
        assert_eq!(variance(&[1.0, 2.0, 6.0]), Some((4.0 + 1.0 + 9.0) / 2.0));
        assert_eq!((variance(&[1.0]), variance(&[])), (None, None));
    }

    /// Five numbers are at 0, 1/4, 1/2, 3/4 and 1; 0.9 is 3/5 of the way from the fourth to the fifth.
    #[test]
    fn quantiles_lie_between_neighbours() {
        let numbers = [50.0, 10.0, 20.0, 40.0, 30.0];
        assert!((quantile(numbers, 0.9).unwrap() - 46.0).abs() < 1e-12);
        assert_eq!(quantile([f64::INFINITY; 2], 0.5), Some(f64::INFINITY));
    }
}
