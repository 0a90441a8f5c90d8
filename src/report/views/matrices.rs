//! The view `matrices`: a table of facts of each matrix.

use serde::Deserialize;

use super::setting::label;
use super::shown::Shown;
use crate::report::View;
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::select::{Conditions, Select};
use crate::report::table::{Cell, Table};

/// A row per matrix: facts of the matrix, then a number of each method.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrices {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
    /// The columns with the facts.
    pub columns: Vec<Column>,
    /// The column of the number, taken from the fastest row of each method. Without it, only facts are shown.
    pub value: Option<Column>,
}

impl Matrices {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let cell = |column: &Column, number: Option<f64>| {
            number.map_or(Cell::Empty, |number| column.cell(number))
        };
        let of_each = |value| shown.series.iter().map(move |series| (series, value));
        let values: Vec<_> = self.value.iter().flat_map(of_each).collect();
        let numbers: Vec<_> =
            values.iter().map(|(series, value)| (series.by_matrix(value), value)).collect();
        let rows = shown.matrices().into_iter().map(|(matrix, line)| {
            let facts = self.columns.iter().map(|column| cell(column, column.of_line(line)));
            let numbers = numbers.iter().map(|(of, value)| cell(value, of.get(&matrix).copied()));
            std::iter::once(Cell::text(label(matrix))).chain(facts).chain(numbers).collect()
        });
        let facts = self.columns.iter().map(|column| column.label().to_owned());
        let names =
            values.iter().map(|(series, value)| format!("{} {}", series.name, value.label()));
        let headings = std::iter::once("matrix".to_owned()).chain(facts).chain(names);
        let on_several = shown.note_on_several().filter(|_| self.value.is_some());
        View {
            title: self.title.clone(),
            notes: shown.notes().into_iter().chain(on_several).collect(),
            table: Some(Table::new(headings, rows.collect())),
            ..View::default()
        }
    }
}
