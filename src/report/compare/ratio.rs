//! How much slower, and how surely.

use super::pair::Key;
use crate::bench::statistics::student_t_975;
use crate::report::lines::Line;

/// What a row of B is beside its row of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// B's 95 % confidence interval lies below A's.
    Faster,
    /// The intervals overlap.
    Same,
    /// B's lies above A's.
    Slower,
    /// One of them has no interval: its time is of a single sample.
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
    /// Time per product of B over that of A; above 1, B is slower.
    pub ratio: f64,
    /// Whether that is more than the rows' own spread.
    pub judgement: Judgement,
    /// Of ln ratio: squares of standard errors with their degrees of freedom, A's and B's.
    errors: Option<[(f64, f64); 2]>,
}

impl Change {
    /// `None` unless both are ok; they have times then.
    pub(super) fn of(a: &Line, b: &Line) -> Option<Self> {
        let ms = |line: &Line| line.row.avg_spmv_ms.filter(|_| line.is_ok());
        let judgement = match (interval(a), interval(b)) {
            (Some(a), Some(b)) if b.1 < a.0 => Judgement::Faster,
            (Some(a), Some(b)) if b.0 > a.1 => Judgement::Slower,
            (Some(_), Some(_)) => Judgement::Same,
            _ => Judgement::Unknown,
        };
        let errors = error(a).zip(error(b)).map(|(a, b)| [a, b]);
        Some(Self { ratio: ms(b)? / ms(a)?, judgement, errors })
    }
}

/// The 95 % confidence interval of a row's mean, in ms.
fn interval(line: &Line) -> Option<(f64, f64)> {
    let (low, high) = (line.row.ci95_low_ms?, line.row.ci95_high_ms?);
    (low.is_finite() && high.is_finite() && low <= high).then_some((low, high))
}

/// The square of the standard error of a mean's logarithm, (high − low) / (2·t·mean), and its degrees
/// of freedom, samples − 1.
fn error(line: &Line) -> Option<(f64, f64)> {
    let (low, high) = interval(line)?;
    let freedom = line.row.samples?.checked_sub(1).filter(|&freedom| freedom > 0)?;
    let error = (high - low) / (2.0 * student_t_975(freedom) * line.row.avg_spmv_ms?);
    Some((error * error, freedom as f64))
}

/// The geometric mean of ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean<'a> {
    /// Of B's times over A's.
    pub ratio: f64,
    /// Its 95 % confidence interval: with e the standard errors of the n rows' logarithms on both
    /// sides, exp(ln ratio ± t·√Σe²/n), where t has the degrees of freedom of Welch and Satterthwaite,
    /// (Σe²)² / Σ(e⁴/(samples − 1)). It knows only the spread within either run: of what makes all of
    /// a run slower than another, the machine's drift, it knows nothing. `None` when a row has no
    /// interval of its own.
    pub interval: Option<(f64, f64)>,
    /// How many are faster, the same, slower and unknown.
    pub counts: [usize; 4],
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
        let errors: Option<Vec<_>> = changes.clone().map(|(_, change)| change.errors).collect();
        let half = errors.map(|errors| half_width(errors.as_flattened()) / n);
        Some(Self {
            ratio: log.exp(),
            interval: half.map(|half| ((log - half).exp(), (log + half).exp())),
            counts,
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

/// Of the 95 % confidence interval of a sum, from the squared standard errors of its terms.
fn half_width(errors: &[(f64, f64)]) -> f64 {
    let sum: f64 = errors.iter().map(|error| error.0).sum();
    let freedom = sum * sum / errors.iter().map(|error| error.0 * error.0 / error.1).sum::<f64>();
    // Where nothing varies there is no freedom, and the product is 0.
    student_t_975((freedom as usize).max(1)) * sum.sqrt()
}
