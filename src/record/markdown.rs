//! The report of one matrix as Markdown: what the text shows, in tables.

use std::io::{self, Write};

use super::row::{Row, Status};
use super::text::{columns, heading, meaning, result};
use super::{Group, MatrixReport};

/// Name and size of the matrix.
///
/// # Errors
/// When `out` does not take it.
pub fn write_matrix(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    writeln!(out, "## {}\n", plain(&report.facts.file))?;
    let Some(shape) = &report.facts.shape else { return Ok(()) };
    let [rows, cols, nonzeros] = shape.sizes();
    writeln!(out, "{rows} rows, {cols} columns, {nonzeros} nonzeros\n")
}

/// Why nothing was measured, if so.
///
/// # Errors
/// When `out` does not take it.
pub fn write_end(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    let Some(Row { status: Some(status), reason: Some(reason), .. }) = &report.ended else {
        return Ok(());
    };
    writeln!(out, "{}: {}\n", status.name(), plain(reason))
}

/// A table of the methods in one precision on one device.
///
/// # Errors
/// When `out` does not take it.
pub fn write_group(out: &mut dyn Write, group: &Group) -> io::Result<()> {
    let columns = columns(group.peak);
    let names: Vec<_> = columns.iter().map(|column| column.name).collect();
    writeln!(out, "{}\n", heading(group))?;
    writeln!(out, "| method | result | {} | remark |", names.join(" | "))?;
    writeln!(out, "|---|---|{}---|", "--:|".repeat(names.len()))?;
    let fastest = group.fastest();
    for (index, row) in group.rows.iter().enumerate() {
        let is_ok = row.status == Some(Status::Ok);
        let cells: Vec<_> = columns
            .iter()
            .map(|column| if is_ok { column.show(row) } else { String::new() })
            .collect();
        let first = (fastest == Some(index)).then_some("fastest");
        let remark: Vec<_> = first.into_iter().chain(row.reason.as_deref()).collect();
        let name = plain(row.method_name.as_deref().unwrap_or_default());
        let (result, remark) = (result(row), plain(&remark.join("; ")));
        writeln!(out, "| {name} | {result} | {} | {remark} |", cells.join(" | "))?;
    }
    writeln!(out, "\n{}\n", meaning(group).join(" "))
}

/// A text that does not end a cell or a line.
fn plain(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
