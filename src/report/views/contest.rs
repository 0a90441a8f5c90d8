//! Compares the methods on one matrix, in one precision, with one cache state, for the same product.

use std::collections::BTreeSet;

use super::setting::{APART, setting, varying};
use super::shown::Series;
use crate::record::read::RecordedRow;
use crate::report::matched::{fastest_by, matrix};
use crate::report::names::{join, label};

/// The row of a method on a matrix, and the name of the matrix.
pub(super) type Run<'a> = (&'a RecordedRow, &'a str);

/// The rows of one matrix that may be compared with each other.
pub(super) struct Contest<'a> {
    /// The name of the matrix, followed by the setting if there are several.
    pub name: String,
    /// The fastest row of each series with its time in milliseconds, or `None` if it has none.
    pub rows: Vec<Option<(&'a RecordedRow, f64)>>,
}

impl<'a> Contest<'a> {
    /// Returns the contests of all rows, sorted by the nonzeros of the matrices.
    pub fn all(series: &[Series<'a>]) -> Vec<Self> {
        let key = |line: &'a RecordedRow| {
            let (name, is_stand_in, nonzeros) = matrix(line);
            ((nonzeros, name, is_stand_in), setting(line, &APART))
        };
        let fastest = series.iter().map(|series| fastest_by(series.lines.iter().copied(), key));
        let fastest: Vec<_> = fastest.collect();
        let lines: Vec<_> = series.iter().flat_map(|series| series.lines.iter().copied()).collect();
        let apart = varying(&lines, &APART);
        let contest = |key| {
            let rows: Vec<_> = fastest.iter().map(|fastest| fastest.get(key).copied()).collect();
            let (line, _) = rows.iter().copied().flatten().next()?;
            Some(Self { name: join([label(matrix(line)), setting(line, &apart)], " "), rows })
        };
        let keys: BTreeSet<_> = fastest.iter().flat_map(|fastest| fastest.keys()).collect();
        keys.into_iter().filter_map(contest).collect()
    }

    /// Returns the indices of series with their times in milliseconds, the fastest first.
    pub fn ranking(&self) -> Vec<(usize, f64)> {
        let rows = self.rows.iter().enumerate();
        let mut ranking: Vec<_> =
            rows.filter_map(|(place, row)| Some((place, (*row)?.1))).collect();
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranking
    }

    /// Whether the 95 % intervals of the fastest and the second do not overlap; `None` if one of them has no
    /// interval.
    pub fn intervals_are_apart(&self) -> Option<bool> {
        let ranking = self.ranking();
        let interval = |place: usize| self.rows[ranking.get(place)?.0]?.0.row.interval_ms();
        Some(interval(0)?.1 < interval(1)?.0)
    }

    /// Returns for each series its time divided by the fastest time, with the row.
    pub fn losses(&self) -> Vec<Option<(&'a RecordedRow, f64)>> {
        let fastest = self.ranking().first().map(|entry| entry.1);
        let loss = |row: &Option<(&'a RecordedRow, f64)>| {
            let (line, ms) = (*row)?;
            Some((line, ms / fastest?))
        };
        self.rows.iter().map(loss).collect()
    }

    /// Returns the losses of the series at a place, each with its row and the name of the contest.
    pub fn losses_of(place: usize, contests: &'a [Self]) -> Vec<(Run<'a>, f64)> {
        let loss = |of: &'a Self| {
            let (line, loss) = of.losses()[place]?;
            Some(((line, &of.name[..]), loss))
        };
        contests.iter().filter_map(loss).collect()
    }
}
