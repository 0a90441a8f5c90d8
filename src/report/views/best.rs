//! `best`: how good each method is as the only one.

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

/// On how many matrices each method is the fastest, and what is lost where it is not.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// Of the view.
    pub title: String,
    /// What rows must meet.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods; without any, all.
    #[serde(default)]
    pub of: Vec<Select>,
}

/// One method.
struct Standing<'a> {
    name: &'a str,
    /// Matrices on which none is faster.
    won: usize,
    /// Matrices on which it has a time.
    ran: usize,
    /// The geometric mean of its time over the fastest's.
    mean: f64,
    /// Its time over the fastest's, on each matrix.
    losses: Vec<(&'a RecordedRow, f64)>,
    /// The greatest of them, and where.
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
        let meaning = "loss: time over that of the fastest on the matrix, over the matrices on which \
                       the method runs; of equally fast ones each is the fastest";
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
    /// `None` if it has no time at all.
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
    let value = Axis::linear("mean loss: time over the fastest's");
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
