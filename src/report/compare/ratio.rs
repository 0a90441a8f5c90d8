//! The ratio of two times and its uncertainty.

use super::key::Key;
use crate::record::read::RecordedRow;
use crate::record::regression::geometric_mean;
use crate::report::matched::time;

/// How the time of a row of B compares with that of its row of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// B's 95 % confidence interval lies below A's.
    Faster,
    /// The intervals overlap.
    Same,
    /// The 95 % confidence interval of B is above that of A.
    Slower,
    /// One of the rows has no interval, because its time has too few samples.
    Unknown,
}

impl Judgement {
    /// Returns the name in the output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Slower => "slower",
            Self::Unknown => "unknown",
        }
    }
}

/// The change between two rows that are ok.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The median time per product of B divided by that of A; above 1, B is slower.
    pub ratio: f64,
    /// Whether the change is larger than the uncertainty of the two times.
    pub judgement: Judgement,
    /// Whether the values of the matrix repeat.
    values_repeat: Option<bool>,
    /// The square of half the 95 % interval of ln(ratio).
    square: Option<f64>,
}

impl Change {
    /// Returns the change, or `None` unless both rows are ok. Rows that are ok have times.
    pub(super) fn of(a: &RecordedRow, b: &RecordedRow) -> Option<Self> {
        let judgement = match (a.row.interval_ms(), b.row.interval_ms()) {
            (Some(a), Some(b)) if b.1 < a.0 => Judgement::Faster,
            (Some(a), Some(b)) if b.0 > a.1 => Judgement::Slower,
            (Some(_), Some(_)) => Judgement::Same,
            _ => Judgement::Unknown,
        };
        let square = square(a).zip(square(b)).map(|(a, b)| a + b);
        let values_repeat = a.row.values_repeat().or(b.row.values_repeat());
        Some(Self { ratio: time(b)? / time(a)?, judgement, values_repeat, square })
    }
}

/// Returns the square of half the interval of a row relative to its median.
fn square(line: &RecordedRow) -> Option<f64> {
    Some((line.row.uncertainty()? / 100.0).powi(2))
}

/// A geometric mean of ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean<'a> {
    /// The geometric mean of B's times divided by A's.
    pub ratio: f64,
    /// Its 95 % confidence interval: exp(ln ratio ± √Σh²/n), where h is half the 95 % interval of a row relative
    /// to its median, and the sum is over both rows of all n pairs. It covers only the spread within each run,
    /// not effects that make a whole run slower, such as drift of the machine. `None` if a row has no interval.
    pub interval: Option<(f64, f64)>,
    /// The numbers of pairs that are faster, the same, slower and unknown.
    pub counts: [usize; 4],
    /// The ratio of each pair, with whether the values of its matrix repeat.
    pub ratios: Vec<(Option<bool>, f64)>,
    /// The pair with the lowest ratio.
    pub lowest: (Key<'a>, f64),
    /// The pair with the highest ratio.
    pub highest: (Key<'a>, f64),
}

impl<'a> Mean<'a> {
    /// Returns the mean, or `None` if there are no changes.
    pub fn of(changes: &[(Key<'a>, Change)]) -> Option<Self> {
        let ratios = || changes.iter().map(|(key, change)| (*key, change.ratio));
        let of_changes = || changes.iter().map(|(_, change)| change);
        let ratio = geometric_mean(ratios().map(|(_, ratio)| ratio))?;
        let mut counts = [0; 4];
        of_changes().for_each(|change| counts[change.judgement as usize] += 1);
        let squares: Option<f64> = of_changes().map(|change| change.square).sum();
        let factor = squares.map(|sum| (sum.sqrt() / changes.len() as f64).exp());
        Some(Self {
            ratio,
            interval: factor.map(|factor| (ratio / factor, ratio * factor)),
            counts,
            ratios: of_changes().map(|change| (change.values_repeat, change.ratio)).collect(),
            lowest: ratios().min_by(|a, b| a.1.total_cmp(&b.1))?,
            highest: ratios().max_by(|a, b| a.1.total_cmp(&b.1))?,
        })
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns the number of pairs with this judgement.
    pub fn count(&self, judgement: Judgement) -> usize {
        self.counts[judgement as usize]
    }
}
