//! Compares two result files row by row: which rows became faster, slower, or wrong.

mod gate;
mod pair;
mod printed;
mod sides;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use anyhow::{Error, Result};
use serde::Serialize;

pub use gate::{End, Judged};
pub use pair::Compared;
use pair::{Key, Pair, pairs};
pub use sides::{check_once, of_runs, relative};

use super::grouped;
use crate::files::read::RecordedRow;
use crate::statistics::estimate::Estimate;
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

impl<'a> Comparison<'a> {
    /// Compares runs that are independent of each other. Returns an error if the files were measured in different ways,
    /// or if no rows can be paired.
    pub fn of(a: Compared<'a>, b: Compared<'a>) -> Result<Self> {
        Self::with(a, b, false)
    }

    /// Compares the rows of several runs of each side, of which the first of A was followed by the first of B, and so
    /// on: the machine's drift from one turn to the next cancels.
    pub fn of_turns(a: Compared<'a>, b: Compared<'a>) -> Result<Self> {
        Self::with(a, b, true)
    }

    fn with(a: Compared<'a>, b: Compared<'a>, in_turns: bool) -> Result<Self> {
        let pairs = pairs(&a, &b, in_turns).map_err(Error::msg)?;
        let keys: BTreeSet<_> = pairs.iter().map(|pair| pair.key.without_matrix()).collect();
        let changed: Vec<_> =
            pairs.iter().filter_map(|pair| Some((pair.key, pair.change.clone()?))).collect();
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
    /// The 95 % interval of the ratio B/A lies below 1.
    Faster,
    Same,
    /// It lies above 1.
    Slower,
    /// One of the rows has no interval, because its time has too few samples.
    Unknown,
}

impl Judgement {
    fn of(ratio: &Estimate) -> Self {
        match ratio.interval() {
            None => Self::Unknown,
            Some((_, high)) if high < 1.0 => Self::Faster,
            Some((low, _)) if low > 1.0 => Self::Slower,
            Some(_) => Self::Same,
        }
    }
}

#[derive(Clone, Debug)]
struct Change {
    /// The median time per product of B divided by that of A; above 1, B is slower.
    ratio: Estimate,
    /// The ratios of the turns, if there are any.
    turns: Vec<f64>,
    judgement: Judgement,
    values_repeat: Option<bool>,
}

impl Change {
    /// Returns the change, or `None` unless both rows are ok. Rows that are ok have times.
    fn of(a: &RecordedRow, b: &RecordedRow, in_turns: bool) -> Option<Self> {
        let timing = |line: &RecordedRow| line.row.timing(None).filter(|_| line.is_ok());
        let (time_a, time_b) = (timing(a)?, timing(b)?);
        let turns = if in_turns { time_b.each_over(&time_a) } else { Vec::new() };
        let ratio = Estimate::of(&turns).unwrap_or_else(|| time_b.of_other_run_over(&time_a));
        let values_repeat = a.row.values_repeat().or(b.row.values_repeat());
        Some(Self { judgement: Judgement::of(&ratio), ratio, turns, values_repeat })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Mean<'a> {
    /// With turns, its interval is that of their means. Else it is exp(ln ratio ± √Σh²/n), where h is half the 95 %
    /// interval of the logarithm of a ratio, and the sum is over the n pairs: it covers only the spread within each
    /// run, not what makes a whole run slower, such as drift of the machine. It is unknown if that of a pair is.
    pub ratio: Estimate,
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
        let named = || changes.iter().map(|(key, change)| (key.matrix, change.ratio.value));
        let changes: Vec<_> = changes.iter().map(|(_, change)| change).collect();
        let ratios = changes.iter().map(|change| (change.values_repeat, change.ratio.value));
        let mut counts = [0; 4];
        changes.iter().for_each(|change| counts[change.judgement as usize] += 1);
        Some(Self {
            ratio: of_turns(&changes).or_else(|| of_pairs(&changes))?,
            counts,
            ratios: ratios.collect(),
            lowest: named().min_by(|a, b| a.1.total_cmp(&b.1))?,
            highest: named().max_by(|a, b| a.1.total_cmp(&b.1))?,
        })
    }
}

/// Returns the mean over the turns of the means over pairs, which a turn that was slow in all of them does not make
/// narrower; `None` unless all pairs have as many turns.
fn of_turns(changes: &[&Change]) -> Option<Estimate> {
    let turns = changes.first()?.turns.len();
    let is_complete = changes.iter().all(|change| change.turns.len() == turns);
    let mean = |turn: usize| geometric_mean(changes.iter().map(|change| change.turns[turn]));
    let means: Vec<f64> = (0..turns).filter(|_| is_complete).filter_map(mean).collect();
    Estimate::of(means)
}

fn of_pairs(changes: &[&Change]) -> Option<Estimate> {
    let ratios = || changes.iter().map(|change| change.ratio);
    let squares: Option<f64> = ratios().map(|ratio| Some(ratio.half?.powi(2))).sum();
    Some(Estimate {
        value: geometric_mean(ratios().map(|ratio| ratio.value))?,
        half: squares.map(|sum| sum.sqrt() / changes.len() as f64),
        processes: ratios().map(|ratio| ratio.processes).min()?,
    })
}
