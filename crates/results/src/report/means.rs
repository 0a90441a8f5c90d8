//! Means over matrices as columns of tables.
//!
//! A mean is also given separately for the matrices whose values repeat and for the others. Where values repeat, a
//! method may store codes instead of values, or no values at all, and so read far fewer bytes. A mean over both kinds
//! of matrices describes neither.

use std::fmt::Display;

use crate::files::read::RecordedRow;
use crate::statistics::Statistic;
use crate::statistics::interval::{Interval, mean_interval};
use crate::table::{Columns, significant};

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

    pub fn means<M: Matrix>(self, numbers: &[(M, f64)], statistic: Statistic) -> Vec<Option<f64>> {
        let mean = |&(kind, _): &(Option<bool>, _)| {
            let of_kind = numbers.iter().filter(|(of, _)| kind.is_none() || of.values_repeat() == kind);
            statistic.of(of_kind.map(|number| number.1))
        };
        self.shown.iter().map(mean).collect()
    }
}

/// What numbers belong to: a matrix, of which it may be known whether its values repeat.
pub trait Matrix {
    fn values_repeat(&self) -> Option<bool>;
}

impl Matrix for Option<bool> {
    fn values_repeat(&self) -> Option<bool> {
        *self
    }
}

impl Matrix for &RecordedRow {
    fn values_repeat(&self) -> Option<bool> {
        self.row.values_repeat()
    }
}

impl<'a, T> Columns<'a, T> {
    /// Adds a column per kind with the statistic of an item's numbers.
    pub fn means<M: Matrix, N: AsRef<[(M, f64)]>>(
        self,
        kinds: Kinds,
        (name, statistic): (&str, Statistic),
        numbers: impl Fn(&'a T) -> N,
    ) -> Self {
        self.columns(kinds.columns(name), |item| kinds.means(numbers(item).as_ref(), statistic))
    }

    /// Adds the interval of the geometric mean of an item's numbers.
    pub fn interval<M, N: AsRef<[(M, f64)]>>(self, heading: &str, numbers: impl Fn(&'a T) -> N) -> Self {
        self.column(heading, |item| mean_interval(numbers(item).as_ref().iter().map(|number| number.1)).map(between))
    }
}

/// Returns a number with its interval, if that is known.
pub fn reading(number: f64, interval: Option<Interval>) -> String {
    let interval = interval.map(|ends| format!(" ({})", between(ends)));
    significant(number) + &interval.unwrap_or_default()
}

/// Returns the ends of an interval for a table.
pub fn between((low, high): Interval) -> String {
    format!("{} to {}", significant(low), significant(high))
}
