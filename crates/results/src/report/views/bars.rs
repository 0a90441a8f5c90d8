use super::few;
use super::kind::*;

keys! {
    /// A group of bars per matrix with a bar per method, for the method's fastest row on the matrix.
    Bars {
        pub value: Column,
        #[serde(default)]
        pub mean: bool,
        #[serde(default = "nonzeros")]
        pub by: Column,
    }
}

type Line<'a> = (Matrix<'a>, &'a RecordedRow);

impl Kind for Bars {
    fn view(&self, shown: &Shown) -> View {
        let mut matrices = shown.matrices().to_vec();
        let by = |line| self.by.of_line(line).unwrap_or(f64::INFINITY);
        matrices.sort_by(|a, b| by(a.1).total_cmp(&by(b.1)));
        let series = shown.series.iter().map(|series| self.series(series, &matrices));
        let series: Vec<_> = series.filter(|s| s.values.iter().any(Option::is_some)).collect();
        let on_mean = "mean: arithmetic mean over the matrices on which the method has a time";
        let on_strokes = "strokes on bars: the 95 % confidence interval of the number, derived from that of the time";
        let strokes = series.iter().flat_map(|series| &series.intervals).any(Option::is_some);
        let notes = shown.notes([
            shown.note_on_several(),
            self.mean.then(|| on_mean.into()),
            strokes.then(|| on_strokes.into()),
        ]);
        let table = self.table(&matrices, &series);
        let chart = chart::Bars {
            value: axis(&self.value),
            categories: matrices.iter().map(|row| label(row.0)).collect(),
            few: few::of_bars(&series, self.value.more_is_better()),
            series,
            stacked: false,
        };
        let kinds = if self.mean { Kinds::of_lines(&shown.lines) } else { Kinds::default() };
        View { kinds, ..View::of(notes, Chart::Bars(chart), table) }
    }
}

impl Bars {
    fn series(&self, series: &Series, matrices: &[Line]) -> BarSeries {
        let fastest = series.fastest();
        let rows = || matrices.iter().map(|(matrix, _)| fastest.get(matrix));
        let values: Vec<_> = rows().map(|row| self.value.of_line(row?)).collect();
        let mean = Statistic::Mean.of(values.iter().flatten()).filter(|_| self.mean);
        let intervals = rows().map(|row| self.value.interval(row?)).collect();
        BarSeries { name: series.name.clone(), values, intervals, mean }
    }

    fn table(&self, matrices: &[Line], series: &[BarSeries]) -> Table {
        let places: Vec<_> = (0..matrices.len()).collect();
        let mut table = Table::of(&places)
            .column("matrix", |&place| label(matrices[place].0))
            .column(self.by.label(), |&place| self.by.cell_of(matrices[place].1));
        for series in series {
            table = table.column(&series.name, |&place| series.values[place].map(|value| self.value.cell(value)));
        }
        let mut table = table.build();
        if self.mean && !matrices.is_empty() {
            table.rows.extend(means(matrices, series));
        }
        table
    }
}

/// Returns a row of means per kind of matrices.
fn means(matrices: &[Line], series: &[BarSeries]) -> Vec<Vec<Cell>> {
    let kinds = Kinds::of_lines(&matrices.iter().map(|matrix| matrix.1).collect::<Vec<_>>());
    let mut rows: Vec<Vec<Cell>> = kinds.columns("mean").map(|name| vec![name.into(), Cell::Empty]).collect();
    for series in series {
        let values = matrices.iter().zip(&series.values);
        let values: Vec<_> = values.filter_map(|((_, line), value)| Some((*line, (*value)?))).collect();
        for (row, mean) in rows.iter_mut().zip(kinds.means(&values, Statistic::Mean)) {
            row.push(mean.into());
        }
    }
    rows
}
