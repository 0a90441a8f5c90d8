//! `spmv-bench fetch --list`: prints the sets and the matrices.

use std::io::{self, Write};

use super::megabytes;
use crate::collection::Datasets;
use crate::collection::fetch::plan::{State, WantedMatrix};

/// Prints the named sets with the number of their matrices, and a blank line.
pub fn sets(datasets: &Datasets, out: &mut dyn Write) -> io::Result<()> {
    let width = datasets.sets().map(|(name, _)| name.len()).max().unwrap_or(0).max(3);
    writeln!(out, "{:<width$}  matrices  source", "set")?;
    for (name, set) in datasets.sets() {
        let count = datasets.matrices_of(set).len();
        writeln!(out, "{name:<width$}  {count:>8}  {}", set.source)?;
        if let Some(note) = &set.note {
            writeln!(out, "{:<width$}  {:>8}  {note}", "", "")?;
        }
    }
    writeln!(out)
}

/// Prints the matrices, and the total size of the missing archives.
pub fn matrices(tasks: &[WantedMatrix], out: &mut dyn Write) -> io::Result<()> {
    let width = tasks.iter().map(|task| task.matrix.id.len()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "{:<width$}  {:>11}  {:>11}  {:>13}  {:>10}  {:<7}  kind",
        "matrix", "rows", "cols", "nnz", "archive MB", "present"
    )?;
    let (mut present, mut missing_bytes) = (0, 0);
    for task in tasks {
        let matrix = &task.matrix;
        let bytes = matrix.archive_bytes_estimate();
        let is_present = match &task.state {
            State::Present => "yes",
            State::Missing => "no",
            State::Taken(_) => "taken",
        };
        match &task.state {
            State::Present => present += 1,
            _ => missing_bytes += bytes,
        }
        writeln!(
            out,
            "{:<width$}  {:>11}  {:>11}  {:>13}  {:>10}  {is_present:<7}  {}",
            matrix.id,
            matrix.rows,
            matrix.cols,
            matrix.nnz,
            format!("~{}", megabytes(bytes)),
            matrix.kind
        )?;
    }
    let (missing, megabytes) = (tasks.len() - present, megabytes(missing_bytes));
    writeln!(out, "{present} present, {missing} to download: ~{megabytes} MB of archives")
}
