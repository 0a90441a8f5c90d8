//! Result files, each with the facts of its run.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::record::ginkgo::Unit;
use crate::report::lines::{self, LinesError, RecordedRow};
use crate::report::origin::machine;

/// Rows, and what is known of the run that wrote them.
#[derive(Clone, Debug, Default)]
pub struct ResultFile {
    /// As it is called on a page.
    pub name: String,
    /// Its rows.
    pub lines: Vec<RecordedRow>,
    /// What stands in `FILE.run.json` beside it, if that is there.
    pub record: Option<Value>,
    /// What a reader of the rows must know, if the file does not say it.
    pub note: Option<String>,
}

/// Why a result file cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It has no rows.
    #[error(transparent)]
    Lines(#[from] LinesError),
    /// There is something else where its run's facts should be.
    #[error(
        "{path}: {error}; it should be what spmv-bench wrote beside the rows; move it away to go without"
    )]
    Record {
        /// Of the facts.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// The same file twice.
    #[error("{0} is named twice")]
    Twice(PathBuf),
}

/// Reads result files and what lies beside them. A file is called by its name without folders, or if
/// several bear that, as given. `unit` is that of the times of files in Ginkgo's form.
///
/// # Errors
/// When one is unreadable, has something else in it, or is named twice.
pub fn read(paths: &[PathBuf], unit: Option<Unit>) -> Result<Vec<ResultFile>, FileError> {
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for path in paths {
        let (lines, note) = lines::read_any(path, unit)?;
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            return Err(FileError::Twice(path.clone()));
        }
        files.push(ResultFile { name: name(path, paths), lines, record: record(path)?, note });
    }
    Ok(files)
}

fn name(path: &Path, all: &[PathBuf]) -> String {
    let alone = all.iter().filter(|other| other.file_name() == path.file_name()).count() == 1;
    let name = path.file_name().filter(|_| alone).unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn record(rows: &Path) -> Result<Option<Value>, FileError> {
    let mut path = rows.as_os_str().to_owned();
    path.push(".run.json");
    let path = PathBuf::from(path);
    let record = match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(io::Error::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    record.map_err(|error| FileError::Record { path, error })
}

impl ResultFile {
    /// The processor that rows of a device were measured on, if the record tells.
    pub(super) fn machine(&self, device: &str) -> Option<String> {
        machine(self.record.as_ref()?, device)
    }
}
