//! A table of all rows, with the columns that are used most.

use super::entries::{Entries, OverviewRow};
use crate::record::table::Table;
use crate::report::column::Column;
use crate::report::page::Section;

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
    let section = || Section { lead: vec![lead], ..Section::of("All rows", table(entries)) };
    (!entries.all.is_empty()).then(section)
}

fn table(entries: &Entries) -> Table {
    let settings = (entries.distinct(|entry| entry.setting.clone()) > 1).then_some("setting");
    let runs = (entries.distinct(OverviewRow::run) > 1).then_some("run");
    let known =
        |column: &Column| entries.all.iter().any(|entry| column.of_line(entry.line).is_some());
    let numbers: Vec<_> = NUMBERS.map(Column::of).into_iter().filter(known).collect();
    let table = Table::of(&entries.all)
        .column("matrix", |entry| entry.line.matrix())
        .column("method", |entry| entry.line.method())
        .column("status", |entry| entry.line.status());
    let table = numbers.iter().fold(table, |table, column| {
        let cell = |number| column.cell(number);
        table.column(column.label(), |entry| column.of_line(entry.line).map(cell))
    });
    let table = table
        .columns(settings, |entry| settings.map(|_| &entry.setting[..]))
        .columns(runs, |entry| runs.map(|_| entry.run()));
    table.build()
}
