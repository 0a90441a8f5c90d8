//! The view `winners`: a table of the fastest method on each matrix.

use serde::Deserialize;

use super::contest::Contest;
use super::setting::{APART, count};
use super::shown::{Series, Shown};
use crate::report::View;
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::select::{Conditions, Select};
use crate::report::table::{Cell, Table};

/// The fastest and the second fastest method on each matrix.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Winners {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
}

impl Winners {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &APART);
        let contests = Contest::all(&shown.series);
        let rows = contests.iter().map(|of| row(of, &shown.series)).collect();
        let columns = [
            "matrix",
            "nonzeros",
            "fastest",
            "GFLOP/s",
            "± (%)",
            "second",
            "takes longer by (%)",
            "± (%)",
            "intervals",
        ];
        let overlaps = contests.iter().filter(|of| of.intervals_are_apart() == Some(false)).count();
        let meaning = format!(
            "±: half the 95 % confidence interval of the median, in percent; where the intervals of both overlap, the \
             order is uncertain: on {}",
            count(overlaps, "matrix")
        );
        let notes = shown.notes().into_iter().chain(shown.note_on_several());
        View {
            title: self.title.clone(),
            notes: notes.chain([meaning]).collect(),
            table: Some(Table::new(columns, rows)),
            ..View::default()
        }
    }
}

fn row(contest: &Contest, series: &[Series]) -> Vec<Cell> {
    let ranking = contest.ranking();
    let name = |entry: Option<&(usize, f64)>| {
        entry.map_or(Cell::Empty, |&(place, _)| Cell::text(&series[place].name))
    };
    let line = |place: usize| contest.rows[ranking.get(place)?.0];
    let number = |place: usize, column: &str| {
        let column = Column::of(column);
        let number = line(place).and_then(|row| column.of_line(row));
        number.map_or(Cell::Empty, |number| column.cell(number))
    };
    let longer = ranking.get(1).map(|second| 100.0 * (second.1 / ranking[0].1 - 1.0));
    let intervals =
        contest.intervals_are_apart().map(|apart| if apart { "apart" } else { "overlap" });
    vec![
        Cell::text(&contest.name),
        number(0, "num_nonzeros"),
        name(ranking.first()),
        number(0, "gflops"),
        number(0, "uncertainty"),
        name(ranking.get(1)),
        longer.into(),
        number(1, "uncertainty"),
        intervals.map_or(Cell::Empty, Cell::text),
    ]
}
