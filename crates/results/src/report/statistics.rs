//! Statistics that reduce many numbers to one, quantiles and correlations.
//!
//! A mean is also given separately for the matrices whose values repeat and for the others. Where values repeat, a
//! method may store codes instead of values, or no values at all, and so read far fewer bytes. A mean over both kinds
//! of matrices describes neither.

use std::fmt::Display;

use serde::Deserialize;

use crate::files::read::RecordedRow;
use crate::statistics::fit;
use crate::table::Columns;

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
        let count = values.len() as f64;
        let mean = |sum: f64| (!values.is_empty()).then(|| sum / count);
        let is_any_negative = !values.iter().all(|&value| value >= 0.0);
        match self {
            Self::Min => values.iter().copied().min_by(f64::total_cmp),
            Self::Max => values.iter().copied().max_by(f64::total_cmp),
            Self::Mean => mean(values.iter().sum()),
            Self::HarmonicMean | Self::GeometricMean if is_any_negative => None,
            Self::HarmonicMean => {
                mean(values.iter().map(|value| 1.0 / value).sum()).map(|mean| 1.0 / mean)
            }
            Self::GeometricMean => fit::geometric_mean(values.iter().copied()),
            Self::Median => quantile(values, 0.5),
            Self::Count => Some(count),
        }
    }

    /// Returns the statistic of numbers that each belong to something, such as a row.
    pub fn over<R>(self, numbers: &[(R, f64)]) -> Option<f64> {
        self.of(&numbers.iter().map(|number| number.1).collect::<Vec<_>>())
    }
}

pub fn percentage<R>(numbers: &[(R, f64)], counts: impl Fn(f64) -> bool) -> Option<f64> {
    let met = numbers.iter().filter(|number| counts(number.1)).count();
    (!numbers.is_empty()).then(|| 100.0 * met as f64 / numbers.len() as f64)
}

/// Returns the q-quantile, q = `share`, interpolated linearly between neighbouring values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    // Avoids the difference of two infinities, which is NaN.
    Some(if low == high { low } else { low + (high - low) * place.fract() })
}

/// Returns Spearman's rank correlation of pairs, if both numbers vary; equal numbers share the mean of their ranks.
pub fn spearman(points: &[(f64, f64)]) -> Option<f64> {
    let ranks = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let numbers: Vec<_> = points.iter().map(of).collect();
        let rank = |number: &f64| {
            let below = numbers.iter().filter(|&other| other < number).count();
            let equal = numbers.iter().filter(|&other| other == number).count();
            below as f64 + (equal as f64 - 1.0) / 2.0
        };
        numbers.iter().map(rank).collect()
    };
    let pairs = ranks(|point| point.0).into_iter().zip(ranks(|point| point.1));
    pearson(&pairs.collect::<Vec<_>>())
}

/// Returns Pearson's correlation of pairs, if both numbers vary.
pub fn pearson(points: &[(f64, f64)]) -> Option<f64> {
    let (_, [xx, xy, yy]) = fit::moments(points);
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx.sqrt() * yy.sqrt()))
}

/// The kinds of matrices that a table has columns for: only all together if they are of one kind or it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kinds {
    shown: &'static [(Option<bool>, &'static str)],
    /// Whether there are matrices of both kinds.
    both: bool,
}

/// All matrices, those whose values repeat, and the others, each with the end of the headings.
const KINDS: [(Option<bool>, &str); 3] =
    [(None, ""), (Some(true), ", values repeat"), (Some(false), ", values differ")];

impl Kinds {
    pub fn of(repeat: impl Iterator<Item = Option<bool>> + Clone) -> Self {
        let is_there = |kind| repeat.clone().any(|other| other == kind);
        let both = is_there(Some(true)) && is_there(Some(false));
        Self { shown: if both { &KINDS } else { &KINDS[..1] }, both }
    }

    /// Returns kinds without columns of their own, which a note replaces.
    pub fn together(self) -> Self {
        Self { shown: &KINDS[..1], ..self }
    }

    pub fn of_lines(lines: &[&RecordedRow]) -> Self {
        Self::of(lines.iter().map(|line| line.row.values_repeat()))
    }

    pub fn note(self) -> Option<String> {
        let meaning = "Values repeat on matrices with at most 256 different ones, which a method can store as codes or \
                       not at all.";
        let apart = match self.shown.len() {
            1 => " There are such matrices and others here: `--by-values` shows their means apart.",
            _ => "",
        };
        self.both.then(|| format!("{meaning}{apart}"))
    }

    pub fn columns(self, name: impl Display) -> impl Iterator<Item = String> {
        self.shown.iter().map(move |(_, kind)| format!("{name}{kind}"))
    }

    pub fn means<M: OfMatrix>(
        self,
        numbers: &[(M, f64)],
        statistic: Statistic,
    ) -> Vec<Option<f64>> {
        let mean = |&(kind, _): &(Option<bool>, _)| {
            let met = |(of, _): &&(M, f64)| kind.is_none() || of.values_repeat() == kind;
            statistic.of(&numbers.iter().filter(met).map(|number| number.1).collect::<Vec<_>>())
        };
        self.shown.iter().map(mean).collect()
    }
}

pub trait OfMatrix {
    fn values_repeat(&self) -> Option<bool>;
}

impl OfMatrix for Option<bool> {
    fn values_repeat(&self) -> Option<bool> {
        *self
    }
}

impl OfMatrix for &RecordedRow {
    fn values_repeat(&self) -> Option<bool> {
        self.row.values_repeat()
    }
}

impl OfMatrix for (&RecordedRow, &str) {
    fn values_repeat(&self) -> Option<bool> {
        self.0.values_repeat()
    }
}

impl<'a, T> Columns<'a, T> {
    /// Adds a column per kind with the statistic of an item's numbers.
    pub fn means<M: OfMatrix, N: AsRef<[(M, f64)]>>(
        self,
        kinds: Kinds,
        (name, statistic): (&str, Statistic),
        numbers: impl Fn(&'a T) -> N,
    ) -> Self {
        self.columns(kinds.columns(name), |item| kinds.means(numbers(item).as_ref(), statistic))
    }
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
        assert_eq!(Statistic::Median.of(&[5.0, 1.0, 2.0]), Some(2.0));
        let in_toml: Statistic = serde_json::from_str("\"harmonic-mean\"").unwrap();
        assert_eq!(in_toml, Statistic::HarmonicMean);
        assert_eq!(Statistic::HarmonicMean.of(&[1.0, -1.0]), None);
        assert_eq!(Statistic::GeometricMean.of(&[1.0, -1.0]), None);
    }

    /// Five numbers are at 0, 1/4, 1/2, 3/4 and 1; 0.9 is 3/5 of the way from the fourth to the fifth.
    #[test]
    fn quantiles_lie_between_neighbours() {
        let values = [50.0, 10.0, 20.0, 40.0, 30.0];
        assert!((quantile(&values, 0.9).unwrap() - 46.0).abs() < 1e-12);
        assert_eq!(quantile(&[f64::INFINITY; 2], 0.5), Some(f64::INFINITY));
    }

    #[test]
    fn ranks_correlate_whatever_the_distances() {
        let alike = [(1.0, 10.0), (2.0, 11.0), (1e9, 12.0)];
        let opposite = alike.map(|(x, y)| (x, -y));
        // Ranks 0, 1.5 and 1.5 against 0, 1 and 2: minus their means, -1, 0.5, 0.5 against -1, 0, 1.
        let equal = [(1.0, 1.0), (2.0, 2.0), (2.0, 3.0)];
        let of_equal = 1.5 / (1.5f64.sqrt() * 2f64.sqrt());
        for (points, expected) in [(alike, 1.0), (opposite, -1.0), (equal, of_equal)] {
            let found = spearman(&points).unwrap();
            assert!((found - expected).abs() < 1e-12, "{points:?}: {found}");
        }
    }

    #[test]
    fn one_point_or_a_constant_has_no_correlation() {
        for points in [&[(1.0, 1.0)][..], &[(1.0, 1.0), (1.0, 2.0)], &[(1.0, 2.0), (2.0, 2.0)]] {
            assert_eq!((pearson(points), spearman(points)), (None, None));
        }
    }
}
