//! The files of a run: its record, and the rows that belong to it.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind::{InvalidFilename, NotFound};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

use super::foreign::contents;
use super::read::{self, RecordedRow};
use super::rows::is_not_regular_file;
use super::whole::complete_rows;
use crate::row::{Row, RowKey};
use crate::run::RunRecord;
use spmv_matrix::cache;

/// The extensions that programs which compress files append to their names.
const COMPRESSED: [&str; 4] = ["gz", "bz2", "xz", "zst"];

/// Returns the path of the run record of a result file.
pub fn record_of(rows: &Path) -> PathBuf {
    let mut name = rows.as_os_str().to_owned();
    name.push(".run.json");
    name.into()
}

/// Returns the path of the run record of a result file to read. A file may have been compressed since it was written.
pub fn record_to_read(rows: &Path) -> PathBuf {
    let own = record_of(rows);
    let is_compressed = rows.extension().is_some_and(|end| COMPRESSED.iter().any(|it| end == *it));
    if is_compressed && !own.exists() { record_of(&rows.with_extension("")) } else { own }
}

/// Reads the record beside a result file; `None` if there is none.
pub fn record_beside(rows: &Path) -> Result<Option<Value>> {
    let path = record_to_read(rows);
    let record = match contents(&path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(io::Error::from),
        // No file can have a name that is too long.
        Err(error) if [NotFound, InvalidFilename].contains(&error.kind()) => Ok(None),
        Err(error) => Err(error),
    };
    record.map_err(|error| {
        anyhow!(
            "{}: {error}; this file must be the run record that spmv-bench wrote with the rows: fix it, or move it \
             away to read the rows without it",
            path.display()
        )
    })
}

/// Reads the record of a run. An error names the file.
pub fn read_record(path: &Path) -> Result<RunRecord> {
    let text = contents(path);
    let text = text.with_context(|| format!("cannot read the run record {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{}", path.display()))
}

/// Writes the record of a run to a file, which it replaces.
pub fn write_record(path: &Path, record: &RunRecord) -> Result<()> {
    let json = serde_json::to_string_pretty(record)? + "\n";
    let written = if is_not_regular_file(path) {
        fs::write(path, json)
    } else {
        cache::replace(path, |file| file.write_all(json.as_bytes()))
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Reads the rows of a result file in their order. An incomplete last line is ignored.
pub fn read_rows(path: &Path, run: &RunRecord) -> Result<Vec<Row>> {
    let shown = path.display();
    let text = complete_rows::<Row>(path).with_context(|| format!("cannot read {shown}"))?;
    if text.is_empty() {
        return Ok(Vec::new()); // a shard without matrices
    }
    let mut cells: HashMap<String, Vec<Option<RowKey>>> = HashMap::new();
    let mut rows = Vec::new();
    for RecordedRow { row, .. } in read::parse(path, &text)? {
        let own = cells.entry(row.file.clone()).or_default();
        let of = row.method_name.as_deref().unwrap_or("the matrix");
        let of = format!("{of} on {}", row.file);
        ensure!(row.status.is_some(), "{shown}: the row of {of} has no status");
        ensure!(!own.contains(&row.cell()), "{shown}: there are two rows of {of}; remove one of them");
        ensure!(
            run.has_row_of(&row.run_id),
            "{shown}: the row of {of} belongs to the run {} and not to {}; remove it from the file",
            row.run_id,
            run.run_id
        );
        own.push(row.cell());
        rows.push(row);
    }
    Ok(rows)
}
