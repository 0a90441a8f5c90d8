//! The methods on one matrix, ranked by their times.

use super::kind::*;
use crate::report::matched::fastest_by;
use crate::report::means;
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
    /// The fastest row of each series with its time, or `None` if it has none.
    rows: Vec<Option<(&'a RecordedRow, Timing)>>,
    /// The indices of the series that compete, the fastest first, each with its time divided by that of the fastest.
    pub ranking: Vec<(usize, f64)>,
}

impl<'a> Contest<'a> {
    /// Returns the contests of all rows, sorted by the nonzeros of the matrices.
    pub fn all(series: &[Series<'a>]) -> Vec<Self> {
        let key = |line: &'a RecordedRow| {
            let (name, is_surrogate, nonzeros) = matrix(line);
            ((nonzeros, name, is_surrogate), line.group_key().words(&COMPARED_WITHIN))
        };
        let fastest = series.iter().map(|series| fastest_by(series.lines.iter().copied(), key));
        let fastest: Vec<_> = fastest.collect();
        let lines: Vec<_> = series.iter().flat_map(|series| series.lines.iter().copied()).collect();
        let apart = varying(&lines, &COMPARED_WITHIN);
        let keys: BTreeSet<_> = fastest.iter().flat_map(|fastest| fastest.keys()).collect();
        let contests = keys.into_iter().filter_map(|key| {
            let rows = fastest.iter().map(|fastest| Some(fastest.get(key)?.0));
            Self::of(rows, &apart)
        });
        contests.collect()
    }

    /// Returns the contest of the rows of each series, with these settings in its name.
    fn of(rows: impl Iterator<Item = Option<&'a RecordedRow>>, apart: &[&str]) -> Option<Self> {
        let rows = rows.map(|line| Some((line?, line?.row.timing(None)?)));
        let rows: Vec<_> = rows.collect();
        let ranking = ranking(&rows, 0..rows.len());
        let (line, _) = rows[ranking.first()?.0].as_ref()?;
        let name = name(&label(matrix(line)), line.group_key(), apart);
        Some(Self { name, rows, ranking })
    }

    /// Returns the contests among the methods that did not choose another method that was measured: for who wins.
    pub fn of_winners(series: &[Series<'a>]) -> Vec<Self> {
        Self::all(series).into_iter().map(Self::of_contestants).collect()
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
        Some(self.rows[series].as_ref()?.0)
    }

    fn of_contestants(self) -> Self {
        let row = |(series, _): &(usize, f64)| {
            let line = self.row(*series).expect("a series with a time has a row");
            ((), line.method(), line.row.picked.as_deref())
        };
        let places = contest(self.ranking.iter().copied(), row).into_iter();
        Self { ranking: ranking(&self.rows, places.map(|(series, _)| series)), ..self }
    }

    pub fn ranked(&self, place: usize) -> Option<&'a RecordedRow> {
        self.row(self.ranking.get(place)?.0)
    }

    /// Returns how many times as long the method in this place takes as the fastest.
    pub fn over_first(&self, place: usize) -> Option<Estimate> {
        Some(self.over(self.ranking.get(place)?.0)?.1)
    }

    fn over(&self, series: usize) -> Option<(&'a RecordedRow, Estimate)> {
        let (line, time) = self.rows[series].as_ref()?;
        let (_, first) = self.rows[self.ranking[0].0].as_ref()?;
        Some((line, time.over(first)))
    }

    /// Whether the fastest is told apart from the next `others`; `None` if nothing is known of any.
    pub fn is_certain(&self, others: usize) -> Option<bool> {
        let others = (1..self.ranking.len()).take(others);
        let known = others.filter_map(|place| self.over_first(place)?.is_apart());
        known.reduce(|all, one| all && one)
    }

    /// Returns the time of a series divided by the fastest time, with the row.
    pub fn loss(&self, series: usize) -> Option<(Run<'_>, f64)> {
        let (line, over) = self.over(series)?;
        Some(((line, self), over.value))
    }
}

/// Ranks these series, with their times divided by that of the fastest.
fn ranking(rows: &[Option<(&RecordedRow, Timing)>], series: impl Iterator<Item = usize>) -> Vec<(usize, f64)> {
    let times: Vec<_> = series.filter_map(|of| Some((of, &rows[of].as_ref()?.1))).collect();
    let Some((_, first)) = fastest(&times, |(_, time)| time) else { return Vec::new() };
    let mut ranking: Vec<_> = times.iter().map(|(series, time)| (*series, time.over(first).value)).collect();
    ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
    ranking
}
