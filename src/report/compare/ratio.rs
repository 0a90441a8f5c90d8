//! How much slower, and how surely.

use super::pair::Key;
use crate::report::lines::RecordedRow;
use crate::report::matched::time;

/// What a row of B is beside its row of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// B's 95 % confidence interval lies below A's.
    Faster,
    /// The intervals overlap.
    Same,
    /// B's lies above A's.
    Slower,
    /// One of them has no interval: its time is of too few samples.
    Unknown,
}

impl Judgement {
    /// As in the output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Slower => "slower",
            Self::Unknown => "unknown",
        }
    }
}

/// Two rows that are ok.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Median time per product of B over that of A; above 1, B is slower.
    pub ratio: f64,
    /// Whether that is more than the rows' own spread.
    pub judgement: Judgement,
    /// Whether the values of the matrix repeat.
    values_repeat: Option<bool>,
    /// Of ln ratio: the square of half its 95 % interval.
    square: Option<f64>,
}

impl Change {
    /// `None` unless both are ok; they have times then.
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

/// The square of half a row's interval over its median.
fn square(line: &RecordedRow) -> Option<f64> {
    Some((line.row.uncertainty()? / 100.0).powi(2))
}

/// The geometric mean of ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean<'a> {
    /// Of B's times over A's.
    pub ratio: f64,
    /// Its 95 % confidence interval: exp(ln ratio ± √Σh²/n), with h half of each row's 95 % interval over its
    /// median, on both sides of the n pairs. It knows only the spread within either run: of what makes all of
    /// a run slower than another, the machine's drift, it knows nothing. `None` when a row has no
    /// interval of its own.
    pub interval: Option<(f64, f64)>,
    /// How many are faster, the same, slower and unknown.
    pub counts: [usize; 4],
    /// Of each pair, whether the values of its matrix repeat.
    pub ratios: Vec<(Option<bool>, f64)>,
    /// The pair with the lowest ratio.
    pub lowest: (Key<'a>, f64),
    /// The pair with the highest.
    pub highest: (Key<'a>, f64),
}

impl<'a> Mean<'a> {
    /// `None` of nothing.
    pub fn of(changes: impl Iterator<Item = (Key<'a>, Change)> + Clone) -> Option<Self> {
        let ratios = || changes.clone().map(|(key, change)| (key, change.ratio));
        let n = ratios().count() as f64;
        let log = ratios().map(|(_, ratio)| ratio.ln()).sum::<f64>() / n;
        let mut counts = [0; 4];
        changes.clone().for_each(|(_, change)| counts[change.judgement as usize] += 1);
        let squares: Option<f64> = changes.clone().map(|(_, change)| change.square).sum();
        let half = squares.map(|sum| sum.sqrt() / n);
        Some(Self {
            ratio: log.exp(),
            interval: half.map(|half| ((log - half).exp(), (log + half).exp())),
            counts,
            ratios: changes
                .clone()
                .map(|(_, change)| (change.values_repeat, change.ratio))
                .collect(),
            lowest: ratios().min_by(|a, b| a.1.total_cmp(&b.1))?,
            highest: ratios().max_by(|a, b| a.1.total_cmp(&b.1))?,
        })
    }

    /// Pairs.
    pub fn pairs(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many of that kind.
    pub fn count(&self, judgement: Judgement) -> usize {
        self.counts[judgement as usize]
    }
}
