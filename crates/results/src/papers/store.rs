//! The measurements of an experiment in a folder: `rows.csv`, `stages.csv` if the stages of products were timed
//! too, and in `runs/` the records of the runs that the rows come from. Rows are complete or missing, and so are
//! the measurements of a matrix with one combination of settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde_json::Value;

use crate::files::cells::of_csv;
use crate::files::output::failed;
use crate::files::read::{self, RecordedRow};
use crate::files::rows::RowFile;
use crate::matrix::MatrixReport;
use crate::matrix::stage_row::StageRow;
use crate::row::{Row, RowKey, open_cells};
use crate::run::facts::{has_settings, have_same_origin, origin};
use crate::settings::RunSettings;
use spmv_matrix::cache;

#[derive(Default)]
pub struct Store {
    folder: PathBuf,
    lines: Vec<RecordedRow>,
    stages: Vec<StageRow>,
    runs: BTreeMap<String, Value>,
}

#[derive(Clone, Copy, Debug)]
pub struct GridCell<'a> {
    pub run: &'a RunSettings,
    pub gpu: Option<&'a str>,
    pub rows: &'a [RowKey],
    /// The file of the matrix, as in rows.
    pub file: &'a str,
}

impl Store {
    pub fn open(folder: &Path) -> Result<Self> {
        let mut store = Self { folder: folder.to_owned(), ..Self::default() };
        if store.rows_path().is_file() {
            RowFile::repair::<Row>(&store.rows_path())?;
            store.lines = read::read(&store.rows_path())?;
        }
        if store.stages_path().is_file() {
            RowFile::repair::<StageRow>(&store.stages_path())?;
            let stages = of_csv(fs::File::open(store.stages_path())?);
            store.stages = stages.with_context(|| store.stages_path().display().to_string())?;
        }
        let run_ids: BTreeSet<_> = store.lines.iter().map(|line| line.row.run_id.clone()).collect();
        for run_id in &run_ids {
            // It becomes the name of a file.
            ensure!(
                !run_id.is_empty() && !run_id.starts_with('.') && !run_id.contains('/'),
                "{}: '{run_id}' is not the ID of a run of this program",
                store.rows_path().display()
            );
            store.begin(run_id)?;
        }
        Ok(store)
    }

    pub fn rows_path(&self) -> PathBuf {
        self.folder.join("rows.csv")
    }

    fn stages_path(&self) -> PathBuf {
        self.folder.join("stages.csv")
    }

    pub fn run_path(&self, run_id: &str) -> PathBuf {
        self.folder.join("runs").join(format!("{run_id}.json"))
    }

    pub fn runs(&self) -> impl Iterator<Item = &Value> {
        self.runs.values()
    }

    /// Returns the rows of a cell that one run has, or the one row that says why the matrix cannot be measured.
    pub fn rows_of(&self, cell: GridCell) -> Option<Vec<&RecordedRow>> {
        let mut runs = self
            .runs
            .iter()
            .filter(|(_, run)| cell.gpu.is_none_or(|name| run["gpu"]["name"] == name) && has_settings(run, cell.run));
        runs.find_map(|(run_id, _)| self.rows_of_run(run_id, cell))
    }

    fn rows_of_run(&self, run_id: &str, cell: GridCell) -> Option<Vec<&RecordedRow>> {
        let is_asked = |key| cell.rows.iter().any(|cell| cell.has(&key));
        let own = self.lines.iter().filter(|line| {
            let row = &line.row;
            row.run_id == run_id && row.file == cell.file && row.cell().is_none_or(is_asked)
        });
        let own: Vec<_> = own.collect();
        if let Some(ended) = own.iter().find(|line| line.row.method_name.is_none()) {
            return Some(vec![ended]);
        }
        open_cells(own.iter().map(|line| &line.row), cell.rows).is_empty().then_some(own)
    }

    /// Returns all rows, whatever was asked for when they were measured, and all stages.
    pub fn all(&self) -> (&[RecordedRow], &[StageRow]) {
        (&self.lines, &self.stages)
    }

    pub fn stages_of(&self, cell: GridCell) -> Vec<&StageRow> {
        let run_id = self.rows_of(cell).and_then(|rows| Some(&rows.first()?.row.run_id));
        let own = |row: &&StageRow| row.file == cell.file && Some(&row.run_id) == run_id;
        self.stages.iter().filter(own).collect()
    }

    /// Copies the rows of a cell from another folder, if their run has the origin `here`. Returns whether it did.
    pub fn take(&mut self, other: &Self, cell: GridCell, here: &Value) -> Result<bool> {
        let Some(rows) = other.rows_of(cell) else { return Ok(false) };
        let run_id = &rows[0].row.run_id;
        let run = &other.runs[run_id];
        if !have_same_origin(run, here) {
            return Ok(false);
        }
        let (from, to) = (other.run_path(run_id), self.run_path(run_id));
        let copied = fs::read(from).and_then(|text| cache::replace(&to, |to| to.write_all(&text)));
        copied.map_err(failed(&to))?;
        self.runs.insert(run_id.clone(), run.clone());
        let stages = other.stages_of(cell).into_iter().cloned().collect();
        self.add(rows.into_iter().cloned().collect(), stages)?;
        Ok(true)
    }

    /// Registers a run whose record has been written to [`run_path`](Self::run_path).
    pub fn begin(&mut self, run_id: &str) -> Result<()> {
        let path = self.run_path(run_id);
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let run = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        self.runs.insert(run_id.to_owned(), run);
        Ok(())
    }

    pub fn append(&mut self, report: &MatrixReport) -> Result<()> {
        self.add(report.rows().cloned().map(RecordedRow::from).collect(), StageRow::all(report))
    }

    fn add(&mut self, lines: Vec<RecordedRow>, stages: Vec<StageRow>) -> Result<()> {
        write(&self.stages_path(), &stages.iter().collect::<Vec<_>>())?;
        self.stages.extend(stages);
        write(&self.rows_path(), &lines.iter().map(|line| &line.row).collect::<Vec<_>>())?;
        self.lines.extend(lines);
        Ok(())
    }

    /// Checks that rows of a run with the origin of `here` may be added to those in the folder.
    pub fn check_origin(&self, here: &Value) -> Result<()> {
        if let Some(other) = self.runs.values().find(|run| !have_same_origin(run, here)) {
            bail!(
                "{} has rows of {}; this is {}: remove the folder, or name another with --output",
                self.folder.display(),
                origin(other),
                origin(here)
            );
        }
        Ok(())
    }
}

/// Appends rows in a single write, so that after an interruption the file has all rows of a matrix or none.
fn write<R: Serialize + Default>(path: &Path, rows: &[&R]) -> Result<()> {
    if rows.is_empty() { Ok(()) } else { RowFile::open::<R>(path)?.add(rows) }
}

#[cfg(test)]
mod tests;
