//! The results of an earlier run, which a campaign continues.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, ensure};

use spmv_results::files::rows::RowFile;
use spmv_results::files::run_record::{read_record, read_rows};
use spmv_results::row::{Row, Status};
use spmv_results::run::facts::differences_to_resume;
use spmv_results::run::{Corpus, RunRecord};

/// What was measured before.
#[derive(Default)]
pub struct Begun {
    /// The rows that stay, in the order of the file.
    pub rows: Vec<Row>,
    pub record: Option<RunRecord>,
    /// Whether the file has further rows.
    is_less: bool,
}

impl Begun {
    pub fn read(rows: &Path, record: &Path) -> Result<Self> {
        let record = read_record(record)?;
        let rows = read_rows(rows, &record)?;
        Ok(Self { rows, record: Some(record), is_less: false })
    }

    /// Forgets the rows of these matrices that are measured again.
    pub fn forget_failed(&mut self, names: &BTreeSet<&str>) {
        let before = self.rows.len();
        self.rows.retain(|row| !may_pass(row) || !names.contains(&row.file[..]));
        self.is_less = self.rows.len() < before;
    }

    pub fn corpus(&self) -> Option<&Corpus> {
        self.record.as_ref()?.corpus.as_ref()
    }

    /// Removes the rows from the file that are measured again.
    pub fn remove_forgotten(&self, file: &mut RowFile) -> Result<()> {
        if self.is_less { file.rewrite(&self.rows) } else { Ok(()) }
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

/// Returns whether what a row states may not happen again: a file that could not be read may have been repaired or
/// replaced, a device may have been lost, or memory may have run out. A result that was wrong, or took too long, stays.
fn may_pass(row: &Row) -> bool {
    row.status == Some(Status::Failed) || row.method_name.is_none() && !row.is_trivial()
}
