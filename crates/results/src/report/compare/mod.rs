//! Compares two result files row by row: which rows became faster, slower, or wrong.

mod pair;
mod printed;
mod sides;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use anyhow::{Error, Result};
use serde::Serialize;

pub use pair::Compared;
use pair::{Key, Pair, pairs};
pub use sides::{of_runs, relative};

use super::grouped;
use super::matched::time;
use crate::files::read::RecordedRow;
use crate::statistics::geometric_mean;

#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    a: Compared<'a>,
    b: Compared<'a>,
    /// The pairs, in the order of A, followed by the rows that only B has, in the order of B.
    pairs: Vec<Pair<'a>>,
    /// The mean of each method that is ok in both files, in the order of the pairs, with the label of the method.
    methods: Vec<(String, Mean<'a>)>,
    overall: Option<Mean<'a>>,
    keys: BTreeSet<Key<'a>>,
    /// Whether the tables have means over matrices whose values repeat and over others apart.
    pub by_values: bool,
}

/// The key of a row that is ok in one file, and its row in the other file, which is not ok.
type Loss<'a> = (Key<'a>, Option<&'a RecordedRow>);

/// What is slower, B/A, and its 95 % interval.
type Slow = (String, f64, (f64, f64));

impl<'a> Comparison<'a> {
    /// Returns an error if the files were measured in different ways, or if no rows can be paired.
    pub fn of(a: Compared<'a>, b: Compared<'a>) -> Result<Self> {
        let pairs = pairs(&a, &b).map_err(Error::msg)?;
        let keys: BTreeSet<_> = pairs.iter().map(|pair| pair.key.without_matrix()).collect();
        let changed: Vec<_> =
            pairs.iter().filter_map(|pair| Some((pair.key, pair.change?))).collect();
        let overall = Mean::of(&changed);
        let methods = grouped(changed, |(key, _)| key.without_matrix()).into_iter();
        let mean =
            |(method, changed): (Key, Vec<_>)| Some((method.label(&keys), Mean::of(&changed)?));
        let methods = methods.filter_map(mean).collect();
        Ok(Self { a, b, pairs, methods, overall, keys, by_values: false })
    }

    pub fn lost(&self) -> Vec<Loss<'a>> {
        self.losses(|pair| [pair.a, pair.b])
    }

    /// Returns the losses from the first to the second of two sides.
    fn losses(&self, sides: fn(&Pair<'a>) -> [Option<&'a RecordedRow>; 2]) -> Vec<Loss<'a>> {
        let loss = |pair: &Pair<'a>| {
            let sides = sides(pair);
            let is_lost = sides.map(|line| line.is_some_and(RecordedRow::is_ok)) == [true, false];
            is_lost.then_some((pair.key, sides[1]))
        };
        self.pairs.iter().filter_map(loss).collect()
    }

    /// Returns the means whose whole interval is above a slow-down of B by `percent`.
    pub fn slower_by(&self, percent: f64) -> impl Iterator<Item = Slow> {
        let bound = 1.0 + percent / 100.0;
        let slow = move |(label, mean): (&str, &Mean)| {
            let interval = mean.interval.filter(|(low, _)| *low > bound)?;
            Some((label.to_owned(), mean.ratio, interval))
        };
        self.means().filter_map(slow)
    }

    /// Returns the slower pairs whose whole interval is above a slow-down of B by `percent`, labelled by method and
    /// matrix.
    pub fn pairs_slower_by(&self, percent: f64) -> impl Iterator<Item = Slow> {
        let bound = 1.0 + percent / 100.0;
        self.pairs.iter().filter_map(move |pair| {
            let change = pair.change.filter(|change| change.judgement == Judgement::Slower)?;
            let (ratio, half) = (change.ratio, change.square?.sqrt());
            let interval = (ratio * (-half).exp(), ratio * half.exp());
            let label = || format!("{} on {}", pair.key.label(&self.keys), pair.key.matrix);
            (interval.0 > bound).then(|| (label(), ratio, interval))
        })
    }

    /// Returns the mean that may be the slowest within its interval, and the end of that.
    pub fn most_possible(&self) -> Option<(&str, f64)> {
        let ends = self.means().filter_map(|(label, mean)| Some((label, mean.interval?.1)));
        ends.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    pub fn unjudged(&self) -> Vec<&str> {
        self.means().filter(|(_, mean)| mean.interval.is_none()).map(|(label, _)| label).collect()
    }

    /// Returns how many of the pairs are faster, the same, slower, or not known to be either; `None` without pairs.
    pub fn counts(&self) -> Option<[usize; 4]> {
        Some(self.overall.as_ref()?.counts)
    }

    fn means(&self) -> impl Iterator<Item = (&str, &Mean<'a>)> {
        let overall = self.overall.iter().map(|mean| ("over all", mean));
        self.methods.iter().map(|(label, mean)| (&label[..], mean)).chain(overall)
    }
}

/// How the time of a row of B compares with that of its row of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Judgement {
    /// B's 95 % confidence interval lies below A's.
    Faster,
    Same,
    /// B's 95 % confidence interval lies above A's.
    Slower,
    /// One of the rows has no interval, because its time has too few samples.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    /// The median time per product of B divided by that of A; above 1, B is slower.
    ratio: f64,
    judgement: Judgement,
    values_repeat: Option<bool>,
    /// The square of half the 95 % interval of ln(ratio).
    square: Option<f64>,
}

impl Change {
    /// Returns the change, or `None` unless both rows are ok. Rows that are ok have times.
    fn of(a: &RecordedRow, b: &RecordedRow) -> Option<Self> {
        let judgement = match (a.row.interval_ms(), b.row.interval_ms()) {
            (Some(a), Some(b)) if b.1 < a.0 => Judgement::Faster,
            (Some(a), Some(b)) if b.0 > a.1 => Judgement::Slower,
            (Some(_), Some(_)) => Judgement::Same,
            _ => Judgement::Unknown,
        };
        let square = |line: &RecordedRow| Some((line.row.uncertainty()? / 100.0).powi(2));
        let square = square(a).zip(square(b)).map(|(a, b)| a + b);
        let values_repeat = a.row.values_repeat().or(b.row.values_repeat());
        Some(Self { ratio: time(b)? / time(a)?, judgement, values_repeat, square })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Mean<'a> {
    pub ratio: f64,
    /// Its 95 % confidence interval: exp(ln ratio ± √Σh²/n), where h is half the 95 % interval of a row relative
    /// to its median, and the sum is over both rows of all n pairs. It covers only the spread within each run,
    /// not effects that make a whole run slower, such as drift of the machine. `None` if a row has no interval.
    pub interval: Option<(f64, f64)>,
    /// The numbers of pairs that are faster, the same, slower and unknown.
    counts: [usize; 4],
    /// The ratio of each pair, with whether the values of its matrix repeat.
    ratios: Vec<(Option<bool>, f64)>,
    /// The matrices with the lowest and the highest ratio.
    lowest: (&'a str, f64),
    highest: (&'a str, f64),
}

impl<'a> Mean<'a> {
    fn of(changes: &[(Key<'a>, Change)]) -> Option<Self> {
        let named = || changes.iter().map(|(key, change)| (key.matrix, change.ratio));
        let changes = || changes.iter().map(|(_, change)| change);
        let ratios: Vec<_> = changes().map(|change| (change.values_repeat, change.ratio)).collect();
        let ratio = geometric_mean(ratios.iter().map(|(_, ratio)| *ratio))?;
        let squares: Option<f64> = changes().map(|change| change.square).sum();
        let factor = squares.map(|sum| (sum.sqrt() / ratios.len() as f64).exp());
        let mut counts = [0; 4];
        changes().for_each(|change| counts[change.judgement as usize] += 1);
        Some(Self {
            ratio,
            interval: factor.map(|factor| (ratio / factor, ratio * factor)),
            counts,
            ratios,
            lowest: named().min_by(|a, b| a.1.total_cmp(&b.1))?,
            highest: named().max_by(|a, b| a.1.total_cmp(&b.1))?,
        })
    }
}
