//! `spmv-bench fetch --list`: lists sets and matrices with their sizes.

use std::io::{self, Write};

use crate::collection::fetch::plan::{State, WantedMatrix};
use crate::collection::{Datasets, Matrix};

pub fn sets(datasets: &Datasets, out: &mut dyn Write) -> io::Result<()> {
    let width = datasets.sets.keys().map(String::len).max().unwrap_or(0).max(3);
    writeln!(out, "{:<width$}  matrices  source", "set")?;
    for (name, set) in &datasets.sets {
        let count = datasets.matrices_of(set).len();
        writeln!(out, "{name:<width$}  {count:>8}  {}", set.source)?;
        if let Some(note) = &set.note {
            writeln!(out, "{:<width$}  {:>8}  {note}", "", "")?;
        }
    }
    writeln!(out)
}

pub fn matrices(tasks: &[WantedMatrix], out: &mut dyn Write) -> io::Result<()> {
    let width = tasks.iter().map(|task| task.matrix.id.len()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "{:<width$}  {:>11}  {:>11}  {:>13}  {:>10}  {:<7}  kind",
        "matrix", "rows", "cols", "nnz", "archive MB", "present"
    )?;
    let (mut missing, mut missing_bytes) = (0, 0);
    for task in tasks {
        let Matrix { id, rows, cols, nnz, kind, .. } = &task.matrix;
        let bytes = task.matrix.archive_bytes_estimate();
        let is_present = match &task.state {
            State::Present => "yes",
            State::Missing => "no",
            State::Taken(_) => "taken",
        };
        if task.state != State::Present {
            (missing, missing_bytes) = (missing + 1, missing_bytes + bytes);
        }
        let size = format!("~{}", megabytes(bytes));
        writeln!(out, "{id:<width$}  {rows:>11}  {cols:>11}  {nnz:>13}  {size:>10}  {is_present:<7}  {kind}")?;
    }
    let (present, megabytes) = (tasks.len() - missing, megabytes(missing_bytes));
    writeln!(out, "{present} present, {missing} to download: ~{megabytes} MB of archives")
}

/// Formats bytes as megabytes, with three digits for small numbers.
pub fn megabytes(bytes: u64) -> String {
    let digits = if bytes < 1_000_000 { 3 } else { 1 };
    format!("{:.digits$}", bytes as f64 / 1e6)
}
