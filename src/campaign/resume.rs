//! The results of an earlier run, which a campaign continues.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, ensure};

use spmv_matrix::source::Source;
use spmv_results::files::run_record::{read_record, read_rows};
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
