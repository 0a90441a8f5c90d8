//! The methods on one matrix, ranked by their times.

use std::collections::BTreeSet;

use super::series::{COMPARED_WITHIN, Series, name, varying};
use crate::files::read::RecordedRow;
use crate::report::matched::{fastest_by, matrix};
use crate::report::means;
use crate::report::names::label;
use crate::row::Timing;
use crate::row::contest::contest;
use crate::row::paired::fastest;
use crate::statistics::estimate::Estimate;

/// The row of a method, and the contest that it is in.
pub(super) type Run<'c> = (&'c RecordedRow, &'c Contest<'c>);

impl means::Matrix for Run<'_> {
    fn values_repeat(&self) -> Option<bool> {
        self.0.row.values_repeat()
    }
}

/// The rows of one matrix that may be compared: in one precision, with one cache state, of the same product.
pub(super) struct Contest<'a> {
    /// The name of the matrix, followed by the setting if there are several.
    pub name: String,
    /// The fastest row of each series, or `None` if it has none.
    rows: Vec<Option<&'a RecordedRow>>,
    /// How many times as long each of them takes as the fastest that competes.
    over: Vec<Option<Estimate>>,
    /// The indices of the series that compete, the fastest first, each with its time divided by that of the fastest.
    pub ranking: Vec<(usize, f64)>,
}

impl<'a> Contest<'a> {
    /// Returns the contests of all rows, sorted by the nonzeros of the matrices.
    pub fn all(series: &[Series<'a>]) -> Vec<Self> {
        let lines: Vec<_> = series.iter().flat_map(|series| series.lines.iter().copied()).collect();
        let apart = varying(&lines, &COMPARED_WITHIN);
        let within = if apart.is_empty() { &[][..] } else { &COMPARED_WITHIN };
        let key = |line: &'a RecordedRow| {
            let (name, is_surrogate, nonzeros) = matrix(line);
            ((nonzeros, name, is_surrogate), line.group_key().words(within))
        };
        let fastest = series.iter().map(|series| fastest_by(series.lines.iter().copied(), key));
        let fastest: Vec<_> = fastest.collect();
        let keys: BTreeSet<_> = fastest.iter().flat_map(|fastest| fastest.keys()).collect();
        let contests = keys.into_iter().filter_map(|key| {
            let rows = fastest.iter().map(|fastest| Some(fastest.get(key)?.0));
            let rows: Vec<_> = rows.collect();
            let line = rows.iter().flatten().next()?;
            let name = name(&label(matrix(line)), line.group_key(), &apart);
            Some(Self::of(name, rows, 0..series.len()))
        });
        contests.collect()
    }

    /// Returns the contest of the rows of each series, in which these series compete.
    fn of(name: String, rows: Vec<Option<&'a RecordedRow>>, series: impl Iterator<Item = usize>) -> Self {
        let times = rows.iter().map(|line| (*line)?.row.timing(None));
        let times: Vec<_> = times.collect();
        let ranking = ranking(&times, series);
        let first = ranking.first().and_then(|&(first, _)| times[first].as_ref());
        let over = times.iter().map(|time| Some(time.as_ref()?.over(first?)));
        Self { name, over: over.collect(), rows, ranking }
    }

    /// Returns for each series its time on each matrix divided by the fastest time.
    pub fn losses<'s>(
        contests: &'s [Self],
        series: &'s [Series],
    ) -> impl Iterator<Item = (&'s str, Vec<(Run<'s>, f64)>)> {
        series
            .iter()
            .enumerate()
            .map(|(place, series)| (&series.name[..], contests.iter().filter_map(|of| of.loss(place)).collect()))
    }

    /// Returns the name of the series in this place.
    pub fn named<'s>(&self, place: usize, series: &'s [Series]) -> Option<&'s str> {
        Some(&series[self.ranking.get(place)?.0].name)
    }

    fn row(&self, series: usize) -> Option<&'a RecordedRow> {
        self.rows[series]
    }

    /// Returns the contest among the methods that did not choose another method that was measured.
    pub fn of_contestants(&self) -> Self {
        let row = |(series, _): &(usize, f64)| {
            let line = self.row(*series).expect("a series with a time has a row");
            ((), line.method(), line.row.picked.as_deref())
        };
        let places = contest(self.ranking.iter().copied(), row).into_iter();
        Self::of(self.name.clone(), self.rows.clone(), places.map(|(series, _)| series))
    }

    pub fn ranked(&self, place: usize) -> Option<&'a RecordedRow> {
        self.row(self.ranking.get(place)?.0)
    }

    /// Returns how many times as long the method in this place takes as the fastest.
    pub fn over_first(&self, place: usize) -> Option<Estimate> {
        self.over[self.ranking.get(place)?.0]
    }

    /// Whether the fastest is told apart from the next `others`; `None` if nothing is known of any.
    pub fn is_certain(&self, others: usize) -> Option<bool> {
        let others = (1..self.ranking.len()).take(others);
        let known = others.filter_map(|place| self.over_first(place)?.is_apart());
        known.reduce(|all, one| all && one)
    }

    /// Returns the time of a series divided by the fastest time, with the row.
    pub fn loss(&self, series: usize) -> Option<(Run<'_>, f64)> {
        Some(((self.row(series)?, self), self.over[series]?.value))
    }
}

/// Ranks these series, with their times divided by that of the fastest.
fn ranking(times: &[Option<Timing>], series: impl Iterator<Item = usize>) -> Vec<(usize, f64)> {
    let times: Vec<_> = series.filter_map(|of| Some((of, times[of].as_ref()?))).collect();
    let Some((_, first)) = fastest(&times, |(_, time)| time) else { return Vec::new() };
    let mut ranking: Vec<_> = times.iter().map(|(series, time)| (*series, time.over(first).value)).collect();
    ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
    ranking
}
