//! What has been measured for an experiment: `rows.csv`, `stages.csv` where the parts of products were timed
//! too, and in `runs/` the facts of the runs that the rows come from. A row is whole or not there, and a matrix under one set of options is measured or not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::Value;

use crate::record::MatrixReport;
use crate::record::cells::of_csv;
use crate::record::file::RowFile;
use crate::record::row::Row;
use crate::record::stages::StageRow;
use crate::report::lines::{self, RecordedRow};

/// Rows and the facts of their runs, in a folder.
pub struct Store {
    folder: PathBuf,
    lines: Vec<RecordedRow>,
    stages: Vec<StageRow>,
    /// By run and file, the places in `lines`.
    places: HashMap<(String, String), Vec<usize>>,
    /// By `run_id`.
    runs: BTreeMap<String, Value>,
}

/// One matrix under one set of options.
#[derive(Clone, Copy, Debug)]
pub struct GridCell<'a> {
    /// Of `corpus`, without those that name methods and matrices.
    pub options: &'a [String],
    /// With parameters, as in rows.
    pub methods: &'a [String],
    /// As in rows.
    pub file: &'a str,
}

/// What may not change among the runs of one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Of the sources that the program was built from.
    pub revision: String,
    /// The processor and its number of cores.
    pub machine: String,
}

impl Origin {
    /// Of the facts of a run.
    fn of(run: &Value) -> Self {
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
        let system = &run["system"];
        let machine = format!("{}, {} cores", word(&system["cpu"]), system["cores"]);
        Self { revision: word(&run["revision"]), machine }
    }
}

impl Store {
    /// What the folder has; nothing if it is not there.
    ///
    /// # Errors
    /// When something in it cannot be read or is not what it should be.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut store = Self {
            folder: folder.to_owned(),
            lines: Vec::new(),
            stages: Vec::new(),
            places: HashMap::new(),
            runs: BTreeMap::new(),
        };
        if store.rows_path().is_file() {
            RowFile::mend::<Row>(&store.rows_path())?;
            lines::read(&store.rows_path())?.into_iter().for_each(|line| store.keep(line));
        }
        if store.stages_path().is_file() {
            RowFile::mend::<StageRow>(&store.stages_path())?;
            let stages = of_csv(fs::File::open(store.stages_path())?);
            store.stages = stages.with_context(|| store.stages_path().display().to_string())?;
        }
        for run_id in
            store.lines.iter().map(|line| line.row.run_id.clone()).collect::<BTreeSet<_>>()
        {
            let path = store.run_path(&run_id);
            let text = fs::read_to_string(&path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            let run = serde_json::from_str(&text);
            store.runs.insert(run_id, run.with_context(|| path.display().to_string())?);
        }
        Ok(store)
    }

    /// Where the rows are.
    pub fn rows_path(&self) -> PathBuf {
        self.folder.join("rows.csv")
    }

    fn stages_path(&self) -> PathBuf {
        self.folder.join("stages.csv")
    }

    /// Where the facts of a run are.
    pub fn run_path(&self, run_id: &str) -> PathBuf {
        self.folder.join("runs").join(format!("{run_id}.json"))
    }

    /// The facts of the runs.
    pub fn runs(&self) -> impl Iterator<Item = &Value> {
        self.runs.values()
    }

    /// The rows of a cell, if one run has all of its methods, or has found that the matrix cannot be
    /// measured.
    pub fn rows_of(&self, cell: GridCell) -> Option<Vec<&RecordedRow>> {
        self.runs.iter().filter(|(_, run)| options_of(run) == cell.options).find_map(
            |(run_id, _)| {
                let places = self.places.get(&(run_id.clone(), cell.file.to_owned()))?;
                let rows = places.iter().map(|&place| &self.lines[place]);
                let of_matrix = rows.clone().find(|line| line.row.method_name.is_none());
                if let Some(line) = of_matrix {
                    return Some(vec![line]);
                }
                let row = |method: &String| rows.clone().find(|line| line.method() == method);
                cell.methods.iter().map(row).collect()
            },
        )
    }

    /// The parts of the products of a cell.
    pub fn stages_of(&self, cell: GridCell) -> Vec<&StageRow> {
        let run_id = self.rows_of(cell).and_then(|rows| Some(&rows.first()?.row.run_id));
        let own = |row: &&StageRow| row.file == cell.file && Some(&row.run_id) == run_id;
        self.stages.iter().filter(own).collect()
    }

    /// Takes over the rows of a cell that another folder has, if they are of that origin.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn take(&mut self, other: &Self, cell: GridCell, origin: &Origin) -> Result<bool> {
        let Some(rows) = other.rows_of(cell) else { return Ok(false) };
        let run_id = &rows[0].row.run_id;
        let run = &other.runs[run_id];
        if Origin::of(run) != *origin {
            return Ok(false);
        }
        fs::create_dir_all(self.folder.join("runs"))?;
        fs::copy(other.run_path(run_id), self.run_path(run_id))?;
        self.runs.insert(run_id.clone(), run.clone());
        let stages: Vec<_> = other.stages_of(cell).into_iter().cloned().collect();
        write(&self.stages_path(), &stages.iter().collect::<Vec<_>>())?;
        self.stages.extend(stages);
        write(&self.rows_path(), &rows.iter().map(|line| &line.row).collect::<Vec<_>>())?;
        rows.into_iter().for_each(|line| self.keep(line.clone()));
        Ok(true)
    }

    /// Notes a run whose facts have been written to [`run_path`](Self::run_path).
    ///
    /// # Errors
    /// When they cannot be read back.
    pub fn begin(&mut self, run_id: &str) -> Result<()> {
        let text = fs::read_to_string(self.run_path(run_id))?;
        self.runs.insert(run_id.to_owned(), serde_json::from_str(&text)?);
        Ok(())
    }

    /// Adds the rows of a matrix.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, report: &MatrixReport) -> Result<()> {
        let stages = StageRow::all(report);
        write(&self.stages_path(), &stages.iter().collect::<Vec<_>>())?;
        self.stages.extend(stages);
        write(&self.rows_path(), &report.rows().collect::<Vec<_>>())?;
        report.rows().for_each(|row| self.keep(RecordedRow::from(row.clone())));
        Ok(())
    }

    /// Refuses to add rows of this origin to those of another.
    ///
    /// # Errors
    /// When they differ.
    pub fn check_origin(&self, origin: &Origin) -> Result<()> {
        for run in self.runs.values() {
            let there = Origin::of(run);
            ensure!(
                there == *origin,
                "{} has rows of revision {} on {}; this is revision {} on {}: remove the folder, or \
                 name another with --output",
                self.folder.display(),
                there.revision,
                there.machine,
                origin.revision,
                origin.machine
            );
        }
        Ok(())
    }

    fn keep(&mut self, line: RecordedRow) {
        let key = (line.row.run_id.clone(), line.row.file.clone());
        self.places.entry(key).or_default().push(self.lines.len());
        self.lines.push(line);
    }
}

/// Adds rows to a file, all at once, so that an interruption leaves all of a matrix or none.
fn write<R: Serialize + Default>(path: &Path, rows: &[&R]) -> Result<()> {
    if rows.is_empty() { Ok(()) } else { Ok(RowFile::open::<R>(path)?.add(rows)?) }
}

/// The options of the run's command line.
fn options_of(run: &Value) -> Vec<String> {
    let words = run["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<_> = words.skip_while(|word| !word.starts_with("--")).collect();
    let end = words.iter().position(|word| *word == "--methods").unwrap_or(words.len());
    words[..end].iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests;
