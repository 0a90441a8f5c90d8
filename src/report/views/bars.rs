//! The view `bars`: a number of each method on each matrix, as bars.

use super::shown::Series;
use super::{Kind, Recorded, axis, few};
use crate::record::read::RecordedRow;
use crate::record::table::{Cell, Table};
use crate::report::View;
use crate::report::chart::{self, BarSeries, Chart};
use crate::report::column::Column;
use crate::report::matched::Matrix;
use crate::report::names::label;
use crate::report::statistics::Statistic;
use crate::report::values::Kinds;

keys! {
    /// A group of bars per matrix with a bar per method, for the method's fastest row on the matrix.
    Bars {
        /// The column that gives the length of a bar.
        pub value: Column,
        /// Whether the arithmetic mean of each method is drawn.
        #[serde(default)]
        pub mean: bool,
        /// The column by which the matrices are sorted.
        #[serde(default = "nonzeros")]
        pub by: Column,
    }
}

/// A matrix with its first row.
type Line<'a> = (Matrix<'a>, &'a RecordedRow);

fn nonzeros() -> Column {
    Column::of("num_nonzeros")
}

impl Kind for Bars {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
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
        let several = shown.note_on_several();
        let few = few::of_bars(&series, self.value.more_is_better());
        View {
            notes: shown.notes([several, on_mean, on_values, on_strokes]),
            table: Some(self.table(&matrices, &series)),
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
}

impl Bars {
    fn series(&self, series: &Series, matrices: &[Line]) -> BarSeries {
        let fastest = series.fastest();
        let rows = || matrices.iter().map(|(matrix, _)| fastest.get(matrix));
        let values: Vec<_> = rows().map(|row| self.value.of_line(row?)).collect();
        let known: Vec<_> = values.iter().copied().flatten().collect();
        let mean = Statistic::Mean.of(&known).filter(|_| self.mean);
        let intervals = rows().map(|row| self.value.interval(row?)).collect();
        BarSeries { name: series.name.clone(), values, intervals, mean }
    }

    fn table(&self, matrices: &[Line], series: &[BarSeries]) -> Table {
        let places: Vec<_> = (0..matrices.len()).collect();
        let by = |line| self.by.of_line(line).map(|number| self.by.cell(number));
        let values = |place: &usize| {
            let values = series.iter().map(|series| series.values[*place]);
            values.map(|value| value.map(|value| self.value.cell(value))).collect::<Vec<_>>()
        };
        let table = Table::of(&places)
            .column("matrix", |&place| label(matrices[place].0))
            .column(self.by.label(), |&place| by(matrices[place].1))
            .columns(series.iter().map(|series| &series.name[..]), values);
        let mut table = table.build();
        if self.mean {
            table.rows.extend(means(matrices, series));
        }
        table
    }
}

/// Returns a row of means per kind of matrices.
fn means(matrices: &[Line], series: &[BarSeries]) -> Vec<Vec<Cell>> {
    let kinds = Kinds::of_lines(&matrices.iter().map(|matrix| matrix.1).collect::<Vec<_>>());
    let means = series.iter().map(|series| {
        let values = matrices.iter().zip(&series.values);
        let values = values.filter_map(|((_, line), value)| Some((*line, (*value)?)));
        kinds.means(&values.collect::<Vec<_>>(), Statistic::Mean)
    });
    let means: Vec<_> = means.collect();
    let rows = kinds.columns("mean").enumerate().map(|(kind, name)| {
        let means = means.iter().map(|means| means[kind].into());
        [name.into(), Cell::Empty].into_iter().chain(means).collect()
    });
    rows.collect()
}
