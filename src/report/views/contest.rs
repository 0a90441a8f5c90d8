//! Compares the methods on one matrix, in one precision, with one cache state, for the same product.

use std::collections::BTreeMap;

use super::setting::{APART, setting, varying};
use super::shown::Series;
use crate::report::lines::RecordedRow;
use crate::report::matched::{matrix, time};
use crate::report::names::{join, label};

/// The rows of one matrix that may be compared with each other.
pub(super) struct Contest<'a> {
    /// The name of the matrix, followed by the setting if there are several.
    pub name: String,
    /// The fastest row of each series, or `None` if it has none.
    pub rows: Vec<Option<&'a RecordedRow>>,
}

impl<'a> Contest<'a> {
    /// Returns the contests of all rows, sorted by the nonzeros of the matrices.
    pub fn all(series: &[Series<'a>]) -> Vec<Self> {
        let mut contests: BTreeMap<_, Vec<Option<&RecordedRow>>> = BTreeMap::new();
        for (place, line) in numbered(series) {
            let Some(ms) = time(line) else { continue };
            let (name, is_stand_in, nonzeros) = matrix(line);
            let key = ((nonzeros, name, is_stand_in), setting(line, &APART));
            let rows = contests.entry(key).or_insert_with(|| vec![None; series.len()]);
            if rows[place].and_then(time).is_none_or(|best| ms < best) {
                rows[place] = Some(line);
            }
        }
        let lines: Vec<_> = numbered(series).map(|(_, line)| line).collect();
        let apart = varying(&lines, &APART);
        let name = |line: &RecordedRow| join([label(matrix(line)), setting(line, &apart)], " ");
        let contest = |rows: Vec<Option<&'a RecordedRow>>| {
            let first = rows.iter().copied().flatten().next()?;
            Some(Self { name: name(first), rows })
        };
        contests.into_values().filter_map(contest).collect()
    }

    /// Returns the indices of series with their times in milliseconds, the fastest first.
    pub fn ranking(&self) -> Vec<(usize, f64)> {
        let timed = self.rows.iter().enumerate();
        let mut ranking: Vec<_> =
            timed.filter_map(|(place, row)| Some((place, time((*row)?)?))).collect();
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranking
    }

    /// Whether the 95 % intervals of the fastest and the second do not overlap; `None` if one of them has no
    /// interval.
    pub fn intervals_are_apart(&self) -> Option<bool> {
        let ranking = self.ranking();
        let interval = |place: usize| self.rows[ranking.get(place)?.0]?.row.interval_ms();
        Some(interval(0)?.1 < interval(1)?.0)
    }

    /// Returns for each series its time divided by the fastest time.
    pub fn losses(&self) -> Vec<Option<f64>> {
        let fastest = self.ranking().first().map(|entry| entry.1);
        self.rows.iter().map(|row| Some(time((*row)?)? / fastest?)).collect()
    }
}

fn numbered<'s, 'a>(
    series: &'s [Series<'a>],
) -> impl Iterator<Item = (usize, &'a RecordedRow)> + 's {
    let numbered = |(place, series): (usize, &'s Series<'a>)| {
        series.lines.iter().map(move |&line| (place, line))
    };
    series.iter().enumerate().flat_map(numbered)
}
