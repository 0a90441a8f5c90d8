use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};
use serde_json::Value;

use crate::record::facts::machine;
use crate::record::ginkgo::Unit;
use crate::record::read::{self, RecordedRow};
use crate::report::grouped;
use crate::report::identity::name_matrices;

#[derive(Clone, Debug, Default)]
pub struct ResultFile {
    /// The name of the file on a page.
    pub name: String,
    pub lines: Vec<RecordedRow>,
    /// The contents of the run record, `FILE.run.json` in the same folder, if it exists.
    pub record: Option<Value>,
    /// A note about the rows that readers need and that the file does not contain.
    pub note: Option<String>,
}

/// Reads result files and their run records. A file is called by its path if its name is not unique.
pub fn read(paths: &[PathBuf], unit: Option<Unit>) -> Result<Vec<ResultFile>> {
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for path in paths {
        let (lines, note) = read::read_any(path, unit)?;
        let is_new = seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone()));
        ensure!(is_new, "{} is named twice", path.display());
        files.push(ResultFile { name: name(path, paths), lines, record: record(path)?, note });
    }
    let sets = grouped(files.iter_mut().enumerate(), |(place, file)| match file.corpus() {
        Some(hash) => (0, hash),
        None => (*place + 1, String::new()),
    });
    let lines = sets
        .into_iter()
        .map(|(_, files)| files.into_iter().flat_map(|(_, file)| file.lines.iter_mut()).collect());
    name_matrices(lines.collect());
    Ok(files)
}

fn name(path: &Path, all: &[PathBuf]) -> String {
    let alone = all.iter().filter(|other| other.file_name() == path.file_name()).count() == 1;
    let name = path.file_name().filter(|_| alone).unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn record(rows: &Path) -> Result<Option<Value>> {
    let mut path = rows.as_os_str().to_owned();
    path.push(".run.json");
    let record = match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(io::Error::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    record.map_err(|error| {
        anyhow!(
            "{}: {error}; this file must be the run record that spmv-bench wrote with the rows; move it away to read \
             the rows without it",
            path.display()
        )
    })
}

impl ResultFile {
    /// Returns the hash that the shards of a corpus have in common; `None` for a single matrix.
    fn corpus(&self) -> Option<String> {
        Some(self.record.as_ref()?["corpus"]["hash"].as_str()?.to_owned())
    }

    pub(super) fn machine(&self, device: &str) -> Option<String> {
        machine(self.record.as_ref()?, device)
    }
}
