//! The mean change of several pairs.

use super::change::Change;
use super::pair::Key;
use crate::statistics::estimate::Estimate;
use crate::statistics::geometric_mean;

#[derive(Clone, Debug, PartialEq)]
pub struct Mean<'a> {
    /// With turns, its interval is that of their means. Else it is exp(ln ratio ± √Σh²/n), where h is half the 95 %
    /// interval of the logarithm of a ratio, and the sum is over the n pairs: it covers only the spread within each
    /// run, not what makes a whole run slower, such as drift of the machine. It is unknown if that of a pair is.
    pub ratio: Estimate,
    /// The numbers of pairs that are faster, the same, slower and unknown.
    pub counts: [usize; 4],
    /// The ratio of each pair, with whether the values of its matrix repeat.
    pub ratios: Vec<(Option<bool>, f64)>,
    /// The matrices with the lowest and the highest ratio.
    pub lowest: (&'a str, f64),
    pub highest: (&'a str, f64),
}

impl<'a> Mean<'a> {
    pub fn of(changes: &[(Key<'a>, Change)]) -> Option<Self> {
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
