//! Means told apart by the matrices' values: where they repeat, a method may store codes for them, or nothing, and
//! read far fewer bytes than others. A mean over both kinds of matrices says little of either.

use super::lines::RecordedRow;
use super::statistics::Statistic;
use super::table::Cell;

/// Which matrices a mean is over: all, those whose values repeat, and the others.
const KINDS: [(Option<bool>, &str); 3] =
    [(None, ""), (Some(true), ", values repeat"), (Some(false), ", values differ")];

/// What values that repeat are, in a sentence.
pub const MEANING: &str = "Values repeat on matrices with at most 256 different ones, which a method can store as codes \
                           or not at all.";

/// The kinds that are shown: one column where all matrices are of one kind, or it is not known.
#[derive(Clone, Copy, Debug)]
pub struct Kinds(&'static [(Option<bool>, &'static str)]);

impl Kinds {
    /// Of matrices whose values repeat or not.
    pub fn of(repeat: impl Iterator<Item = Option<bool>> + Clone) -> Self {
        let is_there = |kind| repeat.clone().any(|other| other == kind);
        let both = is_there(Some(true)) && is_there(Some(false));
        Self(if both { &KINDS } else { &KINDS[..1] })
    }

    /// Of the matrices of these rows.
    pub fn of_lines(lines: &[&RecordedRow]) -> Self {
        Self::of(lines.iter().map(|line| line.row.values_repeat()))
    }

    /// The sentence that the table needs, if it tells kinds apart.
    pub fn note(self) -> Option<String> {
        (self.0.len() > 1).then(|| MEANING.to_owned())
    }

    /// The heading of a mean's columns.
    pub fn columns(self, name: String) -> impl Iterator<Item = String> {
        self.0.iter().map(move |(_, kind)| format!("{name}{kind}"))
    }

    /// The means of numbers, each with whether the values of its matrix repeat.
    pub fn means(self, numbers: &[(Option<bool>, f64)], statistic: Statistic) -> Vec<Option<f64>> {
        let mean = |&(kind, _): &(Option<bool>, _)| {
            let met = numbers.iter().filter(|(repeat, _)| kind.is_none() || *repeat == kind);
            statistic.of(&met.map(|number| number.1).collect::<Vec<_>>())
        };
        self.0.iter().map(mean).collect()
    }

    /// The means of numbers of rows, as cells.
    pub fn cells(
        self,
        numbers: &[(&RecordedRow, f64)],
        statistic: Statistic,
    ) -> impl Iterator<Item = Cell> {
        let numbers = numbers.iter().map(|(line, number)| (line.row.values_repeat(), *number));
        self.means(&numbers.collect::<Vec<_>>(), statistic).into_iter().map(Cell::from)
    }
}
