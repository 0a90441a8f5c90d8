//! The view `speedups`: a table of the speed-ups of one method over several baselines, in parts of the matrices.

use serde::Deserialize;

use super::setting::{count, join, note_on_choice};
use super::shown::Shown;
use super::{Part, parts};
use crate::report::View;
use crate::report::lines::RecordedRow;
use crate::report::matched::{best_share, selected, speeds};
use crate::report::select::{Conditions, Select};
use crate::report::statistics::Statistic;
use crate::report::table::{Cell, Table};
use crate::report::values::Kinds;

/// The speed-up of the method `of` over each baseline in `over`: time of the baseline / time of `of`. The table
/// has a row per baseline, as in merge-spmv-sc16, Figure 10, and hola-spmv-ics17, Tables 2 and 3.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speedups {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The method whose speed-ups are shown. (In the view `speedup`, `of` lists several methods.)
    pub of: Select,
    /// The baselines. Each has a row with the speed-up of `of` over it. (In the view `speedup`, there is one
    /// baseline.)
    pub over: Vec<Select>,
    /// The parts that are shown separately; if empty, all rows together.
    #[serde(default)]
    pub split: Vec<Part>,
}

impl Speedups {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let all = [std::slice::from_ref(&self.of), &self.over].concat();
        let shown = Shown::of(lines, &self.conditions, &all, &[]);
        let (mut rows, mut notes) = (Vec::new(), shown.notes());
        let (of, kinds) = (&self.of, Kinds::of_lines(&shown.lines));
        notes.push(format!(
            "min, max, mean: time of the method / time of {of}; above 1 {of} is faster"
        ));
        for (name, conditions) in parts(&self.conditions, &self.split) {
            let met = shown.lines.iter().copied().filter(|line| conditions.passes(line)).collect();
            let part = OfPart { kinds, of, name, lines: met, over: &self.over };
            rows.extend(part.rows());
            let on_choices = all.iter().filter_map(|select| note_on_choice(&part.lines, select));
            let new: Vec<_> = on_choices.filter(|note| !notes.contains(note)).collect();
            notes.extend(new);
            notes.push(part.note());
        }
        notes.extend(kinds.note());
        let columns = ["part", "method", "matrices", Statistic::Min.name(), Statistic::Max.name()];
        let columns = columns.map(String::from).into_iter();
        let columns = columns.chain(kinds.columns(Statistic::HarmonicMean.name().into()));
        let columns = columns.chain([format!("% better than {of}"), "% best".into()]);
        let mut table = Table::new(columns, rows);
        if self.split.is_empty() {
            table.columns.remove(0);
            table.rows.iter_mut().for_each(|row| drop(row.remove(0)));
        }
        let table = (!shown.lines.is_empty()).then_some(table);
        View { title: self.title.clone(), notes, table, ..View::default() }
    }
}

struct OfPart<'a> {
    kinds: Kinds,
    name: &'a str,
    of: &'a Select,
    over: &'a [Select],
    lines: Vec<&'a RecordedRow>,
}

impl OfPart<'_> {
    /// Returns a row per baseline, and last the row of the method itself.
    fn rows(&self) -> Vec<Vec<Cell>> {
        let rows = self.over.iter().map(|over| self.row(over));
        rows.chain([self.last_row()]).collect()
    }

    fn row(&self, over: &Select) -> Vec<Cell> {
        let of_lines = speeds(&self.lines, self.of, over);
        let speeds: Vec<_> = of_lines.iter().map(|speed| speed.1).collect();
        let better = speeds.iter().filter(|&&speed| speed < 1.0).count();
        let percent = (!speeds.is_empty()).then(|| 100.0 * better as f64 / speeds.len() as f64);
        let mut row =
            vec![Cell::text(self.name), Cell::text(over.to_string()), speeds.len().into()];
        let ends = [Statistic::Min, Statistic::Max];
        row.extend(ends.map(|end| Cell::from(end.of(&speeds))));
        row.extend(self.kinds.cells(&of_lines, Statistic::HarmonicMean));
        row.extend([percent.into(), self.percent_best(over)]);
        row
    }

    fn last_row(&self) -> Vec<Cell> {
        let matrices = selected(&self.lines, self.of).len();
        let mut row = vec![Cell::text(self.name), Cell::text(self.of.to_string()), matrices.into()];
        let means = self.kinds.cells(&[], Statistic::HarmonicMean);
        row.extend([Cell::Empty, Cell::Empty, Cell::Empty].into_iter().chain(means));
        row.push(self.percent_best(self.of));
        row
    }

    fn percent_best(&self, of: &Select) -> Cell {
        best_share(&self.lines, of, &self.among().0, 1.0).map(|(share, _)| 100.0 * share).into()
    }

    /// Returns the methods with a time on any matrix, and those without.
    fn among(&self) -> (Vec<Select>, Vec<Select>) {
        let all = self.over.iter().chain([self.of]).cloned();
        all.partition(|select| !selected(&self.lines, select).is_empty())
    }

    fn note(&self) -> String {
        let (among, missing) = self.among();
        let matrices =
            best_share(&self.lines, self.of, &among, 1.0).map_or(0, |(_, matrices)| matrices);
        let missing = join(missing.iter().map(Select::to_string), ", ");
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        let without =
            if missing.is_empty() { missing } else { format!(" (without any time: {missing})") };
        let of = count(matrices, "matrix");
        format!("{name}% best: in percent of {of} on which every method has a time{without}")
    }
}
