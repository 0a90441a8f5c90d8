//! The report of one matrix as Markdown tables, with the contents of the text report.

use std::io::{self, Write};

use super::row::{Row, Status};
use super::text::{columns, heading, meaning, result};
use super::{Group, MatrixReport};

/// Writes the name and the size of the matrix.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn write_matrix(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    writeln!(out, "## {}\n", plain(&report.facts.file))?;
    let Some(shape) = &report.facts.shape else { return Ok(()) };
    let [rows, cols, nonzeros] = shape.sizes();
    writeln!(out, "{rows} rows, {cols} columns, {nonzeros} nonzeros\n")
}

/// Writes the reason if nothing was measured.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn write_end(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    let Some(Row { status: Some(status), reason: Some(reason), .. }) = &report.ended else {
        return Ok(());
    };
    writeln!(out, "{}: {}\n", status.name(), plain(reason))
}

/// Writes a table of the methods of one group.
///
/// # Errors
/// Returns an error if `out` cannot be written.
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

/// Escapes or replaces characters that would end a table cell or a line.
fn plain(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
