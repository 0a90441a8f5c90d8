//! Means that are also given separately for matrices whose values repeat and for the others. Where values repeat,
//! a method may store codes instead of values, or no values at all, and so read far fewer bytes. A mean over both
//! kinds of matrices describes neither.

use std::fmt::Display;

use super::statistics::Statistic;
use crate::record::read::RecordedRow;
use crate::record::table::Columns;

/// The kinds of matrices that a mean is over: all, those whose values repeat, and the others; with the heading of
/// each.
const KINDS: [(Option<bool>, &str); 3] =
    [(None, ""), (Some(true), ", values repeat"), (Some(false), ", values differ")];

/// A sentence that explains which values repeat.
pub const MEANING: &str = "Values repeat on matrices with at most 256 different ones, which a method can store as codes \
                           or not at all.";

/// The kinds of matrices that a table has columns for: all three, or only the first (all matrices) if the
/// matrices are of one kind or their kind is unknown.
#[derive(Clone, Copy, Debug)]
pub struct Kinds(&'static [(Option<bool>, &'static str)]);

impl Kinds {
    /// Returns the kinds for matrices, given for each whether its values repeat.
    pub fn of(repeat: impl Iterator<Item = Option<bool>> + Clone) -> Self {
        let is_there = |kind| repeat.clone().any(|other| other == kind);
        let both = is_there(Some(true)) && is_there(Some(false));
        Self(if both { &KINDS } else { &KINDS[..1] })
    }

    /// Returns the kinds for the matrices of these rows.
    pub fn of_lines(lines: &[&RecordedRow]) -> Self {
        Self::of(lines.iter().map(|line| line.row.values_repeat()))
    }

    /// Returns the sentence that explains the columns, if there are several kinds.
    pub fn note(self) -> Option<String> {
        (self.0.len() > 1).then(|| MEANING.to_owned())
    }

    /// Returns the headings of the columns of a mean, one per kind.
    pub fn columns(self, name: impl Display) -> impl Iterator<Item = String> {
        self.0.iter().map(move |(_, kind)| format!("{name}{kind}"))
    }

    /// Returns the statistic of the numbers of each kind.
    pub fn means<M: OfMatrix>(
        self,
        numbers: &[(M, f64)],
        statistic: Statistic,
    ) -> Vec<Option<f64>> {
        let mean = |&(kind, _): &(Option<bool>, _)| {
            let met = |(of, _): &&(M, f64)| kind.is_none() || of.values_repeat() == kind;
            statistic.of(&numbers.iter().filter(met).map(|number| number.1).collect::<Vec<_>>())
        };
        self.0.iter().map(mean).collect()
    }
}

/// What numbers of matrices belong to.
pub trait OfMatrix {
    /// Returns whether the values of the matrix repeat, if that is known.
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
    pub fn means<M: OfMatrix + 'a>(
        self,
        kinds: Kinds,
        (name, statistic): (&str, Statistic),
        numbers: impl Fn(&'a T) -> &'a [(M, f64)],
    ) -> Self {
        self.columns(kinds.columns(name), |item| kinds.means(numbers(item), statistic))
    }
}
