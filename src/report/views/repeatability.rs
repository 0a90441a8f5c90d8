//! The view `repeatability`: whether a method's results are bitwise the same every time.

use serde::Deserialize;

use super::setting::{count, label};
use super::shown::{Series, Shown};
use crate::report::View;
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::matched::matrix;
use crate::report::select::{Conditions, Select};
use crate::report::table::{Cell, Table};

/// The number of bitwise different results of each method for one and the same product.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeatability {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
}

impl Repeatability {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let rows: Vec<_> = shown.series.iter().filter_map(row).collect();
        let unknown = shown.series.len() - rows.len();
        let unknown = (unknown > 0)
            .then(|| format!("without a count of results: {}", count(unknown, "method")));
        let meaning =
            "compared: the bits of y after the first product and after each round, with the same x";
        let columns = ["method", "rows", "always the same", "most different results", "on"];
        View {
            title: self.title.clone(),
            notes: shown.notes().into_iter().chain([meaning.into()]).chain(unknown).collect(),
            table: Some(Table::new(columns, rows)),
            ..View::default()
        }
    }
}

fn row(series: &Series) -> Option<Vec<Cell>> {
    let column = Column::of("distinct_results");
    let counts = series.numbers(&column);
    let &(line, most) = counts.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let same = counts.iter().filter(|count| count.1 == 1.0).count();
    let place = if most > 1.0 { Cell::text(label(matrix(line))) } else { Cell::Empty };
    Some(vec![Cell::text(&series.name), counts.len().into(), same.into(), column.cell(most), place])
}
