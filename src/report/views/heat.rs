//! The view `heat`: a heat map of every method on every matrix.

use serde::Deserialize;

use super::contest::Contest;
use super::setting::APART;
use super::shown::Shown;
use crate::report::View;
use crate::report::chart::{self, Axis, Chart};
use crate::report::lines::RecordedRow;
use crate::report::select::{Conditions, Select};
use crate::report::table::{Cell, Table};

/// The speed of each method on each matrix, in percent of the fastest method's.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heat {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
}

impl Heat {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &APART);
        let contests = Contest::all(&shown.series);
        let percent = |loss: Option<f64>| loss.map(|loss| 100.0 / loss);
        let cells = contests.iter().map(|of| of.losses().into_iter().map(percent).collect());
        let cells: Vec<Vec<_>> = cells.collect();
        let columns: Vec<_> = shown.series.iter().map(|series| series.name.clone()).collect();
        let row = |(of, cells): (&Contest, &Vec<Option<f64>>)| {
            let numbers = cells.iter().map(|&number| Cell::from(number));
            std::iter::once(Cell::text(&of.name)).chain(numbers).collect()
        };
        let rows = contests.iter().zip(&cells).map(row).collect();
        let headings = std::iter::once("matrix".to_owned()).chain(columns.iter().cloned());
        let meaning = "100 %: the fastest of these methods on that matrix";
        let notes = shown.notes().into_iter().chain(shown.note_on_several());
        View {
            title: self.title.clone(),
            notes: notes.chain([meaning.into()]).collect(),
            table: Some(Table::new(headings, rows)),
            chart: Some(Chart::Heat(chart::Heat {
                value: Axis::linear("% of the fastest's GFLOP/s"),
                range: (0.0, 100.0),
                rows: contests.into_iter().map(|of| of.name).collect(),
                columns,
                cells,
            })),
            ..View::default()
        }
    }
}
