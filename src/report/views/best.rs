//! The view `best`: how much time is lost if a single method is used for all matrices.

use serde::Deserialize;

use super::contest::Contest;
use super::shown::Shown;
use super::{counted, on_fewer};
use crate::report::View;
use crate::report::chart::{Axis, BarSeries, Bars, Chart};
use crate::report::lines::RecordedRow;
use crate::report::select::{Conditions, Select};
use crate::report::statistics::Statistic;
use crate::report::table::{Cell, Table};
use crate::report::values::Kinds;

/// The number of matrices on which each method is the fastest, and its loss on the others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
}

/// The results of a method.
struct Standing<'a> {
    name: &'a str,
    /// The number of matrices on which no method is faster.
    won: usize,
    /// The number of matrices on which the method has a time.
    ran: usize,
    /// The geometric mean of its losses.
    mean: f64,
    /// Its losses: its time divided by the fastest time, on each matrix.
    losses: Vec<(&'a RecordedRow, f64)>,
    /// The greatest loss, and the matrix of it.
    worst: (f64, &'a str),
}

impl Best {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let contests = Contest::all(&shown.series);
        let named = shown.series.iter().enumerate();
        let standings = named.filter_map(|(place, s)| Standing::of(place, &s.name, &contests));
        let mut standings: Vec<_> = standings.collect();
        standings.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let matrices = shown.matrices().len();
        standings.sort_by_key(|standing| standing.ran < matrices);
        let meaning = "loss: time divided by the time of the fastest method on the same matrix; means are over the \
                       matrices on which the method runs; equally fast methods all count as the fastest";
        let fewer = on_fewer(standings.iter().map(|standing| standing.ran), matrices);
        let kinds = Kinds::of_lines(&shown.lines);
        let notes = shown.notes().into_iter().chain(shown.note_on_several());
        View {
            title: self.title.clone(),
            notes: notes.chain([meaning.into()]).chain(kinds.note()).chain(fewer).collect(),
            chart: Some(chart(&standings, matrices)),
            table: Some(table(&standings, kinds)),
            ..View::default()
        }
    }
}

impl<'a> Standing<'a> {
    /// Returns the results of the series at a place, or `None` if it has no time at all.
    fn of(place: usize, name: &'a str, contests: &'a [Contest<'a>]) -> Option<Self> {
        let loss = |of: &'a Contest| Some((of.rows[place]?, of.losses()[place]?));
        let losses: Vec<_> = contests.iter().filter_map(loss).collect();
        let numbers: Vec<_> = losses.iter().map(|loss| loss.1).collect();
        let lost = |of: &'a Contest| Some((of.losses()[place]?, &of.name[..]));
        Some(Self {
            name,
            won: numbers.iter().filter(|&&loss| loss == 1.0).count(),
            ran: numbers.len(),
            mean: Statistic::GeometricMean.of(&numbers)?,
            worst: contests.iter().filter_map(lost).max_by(|a, b| a.0.total_cmp(&b.0))?,
            losses,
        })
    }
}

fn chart(standings: &[Standing], matrices: usize) -> Chart {
    let value = Axis::linear("mean loss: time / time of the fastest");
    let name = |standing: &Standing| counted(standing.name, standing.ran, matrices);
    let categories = standings.iter().map(name).collect();
    let values = standings.iter().map(|standing| Some(standing.mean)).collect();
    let series = vec![BarSeries { name: "geometric mean".into(), values, ..BarSeries::default() }];
    Chart::Bars(Bars { value, categories, series, ..Bars::default() })
}

fn table(standings: &[Standing], kinds: Kinds) -> Table {
    let row = |standing: &Standing| {
        let (worst, place) = standing.worst;
        let means = kinds.cells(&standing.losses, Statistic::GeometricMean);
        [Cell::text(standing.name), standing.won.into(), standing.ran.into()]
            .into_iter()
            .chain(means)
            .chain([worst.into(), Cell::text(place)])
            .collect()
    };
    let before = ["method", "fastest on", "runs on"].map(String::from).into_iter();
    let columns = before.chain(kinds.columns("mean loss".into()));
    let columns = columns.chain(["greatest loss", "on"].map(String::from));
    Table::new(columns, standings.iter().map(row).collect())
}
