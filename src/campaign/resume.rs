//! The results of an earlier run, which a campaign continues or `merge` merges.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use spmv_matrix::source::Source;
use spmv_results::files::read::{self, RecordedRow};
use spmv_results::files::rows::complete_rows;
use spmv_results::row::Row;
use spmv_results::run::RunRecord;
use spmv_results::run::facts::differences_to_resume;

/// The existing rows of a file by matrix, and the record of their run.
#[derive(Default)]
pub struct Begun {
    pub rows: HashMap<String, Vec<Row>>,
    pub record: Option<RunRecord>,
}

impl Begun {
    pub fn read(rows: &Path, record: &Path) -> Result<Self> {
        let record = read_record(record)?;
        Ok(Self { rows: read_rows(rows, &record)?, record: Some(record) })
    }

    pub fn rows_of(&self, source: &Source) -> &[Row] {
        self.rows.get(&source.to_string()).map_or(&[], Vec::as_slice)
    }

    /// Returns the record of the continued run: the record of its beginning with a new session.
    pub fn continue_run(&mut self, now: RunRecord, output: Option<&Path>) -> Result<RunRecord> {
        let Some(then) = self.record.take() else { return Ok(now) };
        let differing = differences_to_resume(&then, &now);
        ensure!(
            differing.is_empty(),
            "{} was measured with different settings (first in the file, then now): {}",
            output.map(|path| path.display().to_string()).unwrap_or_default(),
            differing.join("; ")
        );
        let sessions = [then.sessions, now.sessions].concat();
        Ok(RunRecord { sessions, corpus: now.corpus, ..then })
    }
}

pub fn read_record(path: &Path) -> Result<RunRecord> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read the run record {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}", path.display()))
}

/// Reads the rows of a result file by matrix. An incomplete last line is ignored.
pub fn read_rows(path: &Path, run: &RunRecord) -> Result<HashMap<String, Vec<Row>>> {
    let shown = path.display();
    let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
    let text = complete_rows::<Row>(path).with_context(|| format!("cannot read {shown}"))?;
    if text.is_empty() {
        return Ok(rows); // a shard without matrices
    }
    for RecordedRow { row, .. } in read::parse(path, &text)? {
        let own = rows.entry(row.file.clone()).or_default();
        let of = row.method_name.as_deref().unwrap_or("the matrix");
        let of = format!("{of} on {}", row.file);
        ensure!(row.status.is_some(), "{shown}: the row of {of} has no status");
        ensure!(
            own.iter().all(|other| other.cell() != row.cell()),
            "{shown}: there are two rows of {of}; remove one of them"
        );
        ensure!(
            run.has_row_of(&row.run_id),
            "{shown}: the row of {of} belongs to the run {} and not to {}; remove it from the file",
            row.run_id,
            run.run_id
        );
        own.push(row);
    }
    Ok(rows)
}
