//! A table of all rows, with the columns that are used most.

use super::entries::{Entries, OverviewRow};
use crate::record::row::Status;
use crate::report::View;
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::page::Section;
use crate::report::table::{Cell, Table};

/// The numeric columns of the table.
const NUMBERS: [&str; 14] = [
    "num_nonzeros",
    "distinct_values",
    "median_ms",
    "uncertainty",
    "avg_spmv_ms",
    "gflops",
    "effective_GBs",
    "compulsory_GBs",
    "required_percent_of_peak",
    "percent_of_peak",
    "setup_ms",
    "break_even",
    "extra_bytes",
    "error_ratio",
];

/// Returns the section, or `None` if there are no rows.
pub(super) fn section(entries: &Entries) -> Option<Section> {
    let names: Vec<_> = entries.files.iter().map(|file| format!("`{}`", file.name)).collect();
    let lead = format!("These are some of the columns; all are in {}.", names.join(", "));
    let view = View { table: Some(table(entries)), ..View::default() };
    let section = Section { title: "All rows".into(), lead: vec![lead], views: vec![view] };
    (!entries.all.is_empty()).then_some(section)
}

fn table(entries: &Entries) -> Table {
    let settings = entries.distinct(|entry| entry.setting.clone()) > 1;
    let runs = entries.distinct(OverviewRow::run) > 1;
    let known =
        |column: &Column| entries.all.iter().any(|entry| column.of_line(entry.line).is_some());
    let numbers: Vec<_> = NUMBERS.map(Column::of).into_iter().filter(known).collect();
    let words = ["matrix", "method", "status"].into_iter();
    let labels = numbers.iter().map(Column::label);
    let differing = settings.then_some("setting").into_iter().chain(runs.then_some("run"));
    let columns = words.chain(labels).chain(differing);
    let rows = entries.all.iter().map(|entry| {
        let line = entry.line;
        let status = line.row.status.map_or("unknown", Status::name);
        let words = [line.matrix(), line.method(), status].map(Cell::text);
        let numbers = numbers.iter().map(|column| number(entry.line, column));
        let setting = settings.then(|| Cell::text(&entry.setting));
        let run = runs.then(|| Cell::text(entry.run()));
        words.into_iter().chain(numbers).chain(setting).chain(run).collect()
    });
    Table::new(columns, rows.collect())
}

fn number(line: &RecordedRow, column: &Column) -> Cell {
    column.of_line(line).map_or(Cell::Empty, |number| column.cell(number))
}
