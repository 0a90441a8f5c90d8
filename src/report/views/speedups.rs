//! The view `speedups`: a table of the speed-ups of one method over several baselines, in parts of the matrices.

use super::setting::note_on_choice;
use super::shown::Shown;
use super::{Kind, Part, Recorded, parts};
use crate::record::read::RecordedRow;
use crate::record::table::Table;
use crate::report::View;
use crate::report::matched::{Numbers, best_share, selected, speeds};
use crate::report::names::{count, join};
use crate::report::select::{Conditions, Select};
use crate::report::statistics::{Statistic, percentage};
use crate::report::values::Kinds;

/// The speed-up of the method `of` over each baseline in `over`: time of the baseline / time of `of`. The table
/// has a row per baseline, as in merge-spmv-sc16, Figure 10, and hola-spmv-ics17, Tables 2 and 3.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
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

keys!(Speedups, |view| std::slice::from_ref(&view.of));

impl Kind for Speedups {
    fn over(&self) -> &[Select] {
        &self.over
    }

    fn view(&self, recorded: &Recorded) -> View {
        let of = &self.of;
        let all = [std::slice::from_ref(of), &self.over].concat();
        let shown = Shown::of(&recorded.lines, &self.conditions, &all, &[]);
        let meaning =
            format!("min, max, mean: time of the method / time of {of}; above 1 {of} is faster");
        let (mut rows, mut notes) = (Vec::new(), shown.notes([Some(meaning)]));
        for (name, conditions) in parts(&self.conditions, &self.split) {
            let met: Vec<_> =
                shown.lines.iter().copied().filter(|line| conditions.passes(line)).collect();
            let on_choices = all.iter().filter_map(|select| note_on_choice(&met, select));
            let new: Vec<_> = on_choices.filter(|note| !notes.contains(note)).collect();
            notes.extend(new);
            notes.push(self.rows(name, &met, &mut rows));
        }
        let kinds = Kinds::of_lines(&shown.lines);
        notes.extend(kinds.note());
        let table = (!shown.lines.is_empty()).then(|| self.table(&rows, kinds));
        View { notes, table, ..View::default() }
    }
}

/// The results of a method on a part of the matrices.
struct Compared<'a> {
    part: &'a str,
    method: &'a Select,
    /// The number of matrices with a time of the method and of `of`.
    matrices: usize,
    /// The speed-ups of `of` over the method.
    speeds: Numbers<'a>,
    percent_best: Option<f64>,
}

impl Speedups {
    /// Adds a row per baseline, and last a row of the method itself, for the rows of a part. Returns a note on the
    /// matrices on which all are compared.
    fn rows<'a>(
        &'a self,
        part: &'a str,
        lines: &[&'a RecordedRow],
        rows: &mut Vec<Compared<'a>>,
    ) -> String {
        let all = self.over.iter().chain([&self.of]);
        let (among, missing): (Vec<_>, Vec<_>) =
            all.cloned().partition(|select| !selected(lines, select).is_empty());
        let row = |method, matrices, speeds| {
            let best = best_share(lines, method, &among, 1.0);
            let percent_best = best.map(|(share, _)| 100.0 * share);
            Compared { part, method, matrices, speeds, percent_best }
        };
        rows.extend(self.over.iter().map(|over| {
            let speeds = speeds(lines, &self.of, over);
            row(over, speeds.len(), speeds)
        }));
        rows.push(row(&self.of, selected(lines, &self.of).len(), Vec::new()));
        let matrices = best_share(lines, &self.of, &among, 1.0).map_or(0, |best| best.1);
        let missing = join(missing.iter().map(Select::to_string), ", ");
        let part = if part.is_empty() { String::new() } else { format!("{part}: ") };
        let without =
            if missing.is_empty() { missing } else { format!(" (without any time: {missing})") };
        let of = count(matrices, "matrix");
        format!("{part}% best: in percent of {of} on which every method has a time{without}")
    }

    fn table(&self, rows: &[Compared], kinds: Kinds) -> Table {
        use Statistic::{HarmonicMean, Max, Min};
        let parts = (!self.split.is_empty()).then_some("part");
        let better = |of: &Compared| percentage(&of.speeds, |speed| speed < 1.0);
        let table = Table::of(rows)
            .columns(parts, |of| parts.map(|_| of.part))
            .column("method", |of| of.method.to_string())
            .column("matrices", |of| of.matrices)
            .column("min", |of| Min.over(&of.speeds))
            .column("max", |of| Max.over(&of.speeds))
            .means(kinds, ("harmonic mean", HarmonicMean), |of| &of.speeds)
            .column(format!("% better than {}", self.of), better)
            .column("% best", |of| of.percent_best);
        table.build()
    }
}
