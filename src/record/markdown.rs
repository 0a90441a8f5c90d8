//! The report of one matrix as Markdown tables, with the contents of the text report.

use std::io::{self, Write};

use super::row::Row;
use super::text::{columns, heading, meaning, result};
use super::{Group, MatrixReport};
use crate::record::table::{Table, escape_markdown};

pub fn write_matrix(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    writeln!(out, "## {}\n", escape_markdown(&report.facts.file))?;
    let Some(shape) = &report.facts.shape else { return Ok(()) };
    let [rows, cols, nonzeros] = shape.sizes();
    writeln!(out, "{rows} rows, {cols} columns, {nonzeros} nonzeros\n")
}

pub fn write_end(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    let Some((status, reason)) = report.end() else { return Ok(()) };
    writeln!(out, "{status}: {}\n", escape_markdown(reason))
}

pub fn write_group(out: &mut dyn Write, group: &Group) -> io::Result<()> {
    let rows: Vec<_> = group.rows.iter().enumerate().collect();
    let (columns, fastest) = (columns(group.peak), group.fastest());
    let remark = |(index, row): &(usize, &Row)| {
        let first = (fastest == Some(*index)).then_some("fastest");
        first.into_iter().chain(row.reason.as_deref()).collect::<Vec<_>>().join("; ")
    };
    let table = Table::of(&rows)
        .column("method", |(_, row)| row.method_name.as_deref())
        .column("result", |(_, row)| result(row))
        .columns(columns.iter().map(|column| column.name), |(_, row)| {
            columns.iter().map(|column| column.cell(row))
        })
        .column("remark", remark);
    let (table, meaning) = (table.build().to_markdown(), meaning(group).join(" "));
    writeln!(out, "{}\n\n{table}\n\n{meaning}\n", heading(group))
}
