//! The view `bars`: a number of each method on each matrix, as bars.

use serde::Deserialize;

use super::setting::label;
use super::shown::{Series, Shown};
use super::{axis, few};
use crate::report::View;
use crate::report::chart::{self, BarSeries, Chart};
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::matched::{self, Matrix};
use crate::report::select::{Conditions, Select};
use crate::report::statistics::Statistic;
use crate::report::table::{Cell, Table};
use crate::report::values::Kinds;

/// A group of bars per matrix with a bar per method, for the method's fastest row on the matrix.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bars {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
    /// The column that gives the length of a bar.
    pub value: Column,
    /// Whether the arithmetic mean of each method is drawn.
    #[serde(default)]
    pub mean: bool,
    /// The column by which the matrices are sorted.
    #[serde(default = "nonzeros")]
    pub by: Column,
}

fn nonzeros() -> Column {
    Column::of("num_nonzeros")
}

impl Bars {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let mut matrices = shown.matrices();
        let by = |line| self.by.of_line(line).unwrap_or(f64::INFINITY);
        matrices.sort_by(|a, b| by(a.1).total_cmp(&by(b.1)));
        let series = shown.series.iter().map(|series| self.series(series, &matrices));
        let series: Vec<_> = series.filter(|s| s.values.iter().any(Option::is_some)).collect();
        let on_mean = self.mean.then(|| {
            "mean: arithmetic mean over the matrices on which the method has a time".into()
        });
        let strokes = series.iter().flat_map(|series| &series.intervals).any(Option::is_some);
        let on_strokes = "strokes on bars: the 95 % confidence interval of the number, derived from that of the time";
        let on_strokes = strokes.then(|| on_strokes.into());
        let on_values = Kinds::of_lines(&shown.lines).note().filter(|_| self.mean);
        let notes = shown.notes().into_iter().chain(shown.note_on_several());
        let few = few::of_bars(&series, self.value.more_is_better());
        View {
            title: self.title.clone(),
            notes: notes.chain(on_mean).chain(on_values).chain(on_strokes).collect(),
            table: Some(self.table(&matrices.iter().map(|row| row.1).collect::<Vec<_>>(), &series)),
            chart: Some(Chart::Bars(chart::Bars {
                value: axis(&self.value),
                categories: matrices.iter().map(|row| label(row.0)).collect(),
                series,
                few,
                ..chart::Bars::default()
            })),
            ..View::default()
        }
    }

    fn series(&self, series: &Series, matrices: &[(Matrix, &RecordedRow)]) -> BarSeries {
        let fastest = series.fastest();
        let rows = || matrices.iter().map(|(matrix, _)| fastest.get(matrix));
        let values: Vec<_> = rows().map(|row| self.value.of_line(row?)).collect();
        let known: Vec<_> = values.iter().copied().flatten().collect();
        let mean = Statistic::Mean.of(&known).filter(|_| self.mean);
        let intervals = rows().map(|row| self.value.interval(row?)).collect();
        BarSeries { name: series.name.clone(), values, intervals, mean }
    }

    fn table(&self, matrices: &[&RecordedRow], series: &[BarSeries]) -> Table {
        let cell =
            |column: &Column, number: Option<f64>| number.map_or(Cell::Empty, |n| column.cell(n));
        let row = |(place, line): (usize, &&RecordedRow)| {
            let facts =
                [Cell::text(label(matched::matrix(line))), cell(&self.by, self.by.of_line(line))];
            let values = series.iter().map(|series| cell(&self.value, series.values[place]));
            facts.into_iter().chain(values).collect()
        };
        let mut rows: Vec<Vec<_>> = matrices.iter().enumerate().map(row).collect();
        if self.mean {
            let kinds = Kinds::of_lines(matrices);
            let means = series.iter().map(|series| {
                let values = matrices.iter().zip(&series.values);
                let values = values.filter_map(|(line, value)| Some((*line, (*value)?)));
                kinds.cells(&values.collect::<Vec<_>>(), Statistic::Mean).collect()
            });
            let means: Vec<Vec<_>> = means.collect();
            rows.extend(kinds.columns("mean".into()).enumerate().map(|(kind, name)| {
                let means = means.iter().map(|means| means[kind].clone());
                [Cell::text(name), Cell::Empty].into_iter().chain(means).collect()
            }));
        }
        let names = series.iter().map(|series| &series.name[..]);
        Table::new(["matrix", self.by.label()].into_iter().chain(names), rows)
    }
}
