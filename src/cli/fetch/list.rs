//! `spmv-bench fetch --list`: prints the sets and the matrices.

use std::io::{self, Write};

use super::megabytes;
use crate::collection::Datasets;
use crate::collection::fetch::plan::{State, WantedMatrix};

/// Prints the named sets with the number of their matrices.
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
    Ok(())
}

/// Prints the matrices, and the total size of the missing archives.
pub fn matrices(tasks: &[WantedMatrix], out: &mut dyn Write) -> io::Result<()> {
    let width = tasks.iter().map(|task| task.matrix.id.len()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "{:<width$}  {:>11}  {:>11}  {:>13}  {:>10}  {:<7}  kind",
        "matrix", "rows", "cols", "nnz", "archive MB", "present"
    )?;
    for task in tasks {
        let matrix = &task.matrix;
        let archive = format!("~{}", megabytes(matrix.archive_bytes_estimate()));
        let present = match &task.state {
            State::Present => "yes",
            State::Missing => "no",
            State::Taken(_) => "taken",
        };
        writeln!(
            out,
            "{:<width$}  {:>11}  {:>11}  {:>13}  {archive:>10}  {present:<7}  {}",
            matrix.id, matrix.rows, matrix.cols, matrix.nnz, matrix.kind
        )?;
    }
    let of = |there| {
        let those = tasks.iter().filter(move |task| (task.state == State::Present) == there);
        let bytes: u64 = those.clone().map(|task| task.matrix.archive_bytes_estimate()).sum();
        (those.count(), bytes)
    };
    let ((present, _), (missing, bytes)) = (of(true), of(false));
    let megabytes = megabytes(bytes);
    writeln!(out, "{present} present, {missing} to download: ~{megabytes} MB of archives")
}
