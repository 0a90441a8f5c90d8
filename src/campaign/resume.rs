//! The result file of a corpus run: opens it, and for `--resume` reads the existing rows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::same::differences_of_shares;
use crate::cli::args::CorpusArgs;
use crate::matrix::source::Source;
use crate::record::file::{RowFile, complete_rows, is_not_regular_file};
use crate::record::row::Row;
use crate::record::run::{RowKey, RunRecord};
use crate::record::write::Format;
use crate::report::lines::{self, RecordedRow};

/// The existing rows of a file by matrix, and the record of their run.
#[derive(Default)]
pub struct Begun {
    pub rows: HashMap<String, Vec<Row>>,
    pub record: Option<RunRecord>,
}

/// Opens the result file of the command line for exclusive use, and reads its existing rows.
///
/// # Errors
/// Returns an error if the file has rows but neither `--resume` nor `--force` is given.
pub fn open(args: &CorpusArgs, format: Format) -> Result<(Option<RowFile>, Begun)> {
    let measure = &args.measure;
    ensure!(
        !args.resume || measure.output.is_some(),
        "--resume needs --output FILE, the file to continue"
    );
    ensure!(
        !args.resume || format == Format::Csv,
        "--resume can continue files of --format csv only"
    );
    if args.resume {
        let why = "with --resume the file would not contain the existing rows; use report or compare with the file \
                   of --output";
        measure.exports.refuse(why)?;
    }
    let nothing = Begun::default();
    let Some(path) = measure.output.as_ref().filter(|path| !is_not_regular_file(path)) else {
        return measure.check_new().map(|()| (None, nothing));
    };
    if format != Format::Csv {
        return measure.check_new().map(|()| (None, nothing));
    }
    if measure.force {
        measure.check_new()?;
        return Ok((Some(RowFile::replace(path)?), nothing));
    }
    if !args.resume && path.metadata().map_or(0, |file| file.len()) == 0 {
        measure.check_new()?;
    }
    let file = RowFile::open::<Row>(path)?;
    if file.is_empty() {
        return Ok((Some(file), nothing));
    }
    let choices =
        "already has results: continue with --resume, use another file, or replace it with --force";
    ensure!(args.resume, "{} {choices}", path.display());
    Ok((Some(file), Begun::read(path, measure.record_path())?))
}

impl Begun {
    fn read(rows: &Path, record: Option<PathBuf>) -> Result<Self> {
        let record = record.expect("every output file has a run record");
        let record = read_record(&record)?;
        Ok(Self { rows: read_rows(rows, &record)?, record: Some(record) })
    }

    /// Returns the existing rows of a matrix.
    pub fn rows_of(&self, source: &Source) -> &[Row] {
        self.rows.get(&source.to_string()).map_or(&[], Vec::as_slice)
    }

    /// Returns the record of the continued run: the record of its beginning with a new session.
    ///
    /// # Errors
    /// Returns an error with the differences if the settings or the machine have changed.
    pub fn continue_run(&mut self, now: RunRecord, output: Option<&PathBuf>) -> Result<RunRecord> {
        let Some(then) = self.record.take() else { return Ok(now) };
        let differing = differences_of_shares(&then, &now);
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

/// Returns the cells (method and setting) that have no row yet, given the existing rows of a matrix. Returns
/// `None` if nothing is left to measure.
pub fn open_cells(rows: &[Row], cells: &[RowKey]) -> Option<Vec<RowKey>> {
    let of_matrix = rows.iter().any(|row| row.method_name.is_none());
    let done: Vec<_> = rows.iter().filter_map(Row::cell).collect();
    let open: Vec<_> =
        cells.iter().filter(|cell| !done.iter().any(|done| cell.has(done))).cloned().collect();
    (!of_matrix && !open.is_empty()).then_some(open)
}

/// Reads the record of a run.
///
/// # Errors
/// Returns an error if the file cannot be read or is not valid.
pub fn read_record(path: &Path) -> Result<RunRecord> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read the run record {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}", path.display()))
}

/// Reads the rows of a result file by matrix. An incomplete last line is ignored.
///
/// # Errors
/// Returns an error if the file is not valid, has rows of another run, or has duplicate rows.
pub fn read_rows(path: &Path, run: &RunRecord) -> Result<HashMap<String, Vec<Row>>> {
    let shown = path.display();
    let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
    let text = complete_rows::<Row>(path).with_context(|| format!("cannot read {shown}"))?;
    if text.is_empty() {
        return Ok(rows); // a shard without matrices
    }
    for RecordedRow { row, .. } in lines::parse(path, &text)? {
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
