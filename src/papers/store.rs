//! The measurements of an experiment in a folder: `rows.csv`, `stages.csv` if the stages of products were timed
//! too, and in `runs/` the records of the runs that the rows come from. Rows are complete or missing, and so are
//! the measurements of a matrix under one set of options.

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

/// The rows of a folder and the records of their runs.
pub struct Store {
    folder: PathBuf,
    lines: Vec<RecordedRow>,
    stages: Vec<StageRow>,
    /// The indices in `lines` by run and matrix file.
    places: HashMap<(String, String), Vec<usize>>,
    /// The run records by `run_id`.
    runs: BTreeMap<String, Value>,
}

/// A matrix under one set of options.
#[derive(Clone, Copy, Debug)]
pub struct GridCell<'a> {
    /// The options of the command `corpus`, without those for methods and matrices.
    pub options: &'a [String],
    /// The methods with their parameters, as in rows.
    pub methods: &'a [String],
    /// The file of the matrix, as in rows.
    pub file: &'a str,
}

/// The facts that must be the same for all runs of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The revision of the source code that the program was built from.
    pub revision: String,
    /// The processor and its number of cores.
    pub machine: String,
}

impl Origin {
    /// Returns the origin of a run from its record.
    fn of(run: &Value) -> Self {
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
        let system = &run["system"];
        let machine = format!("{}, {} cores", word(&system["cpu"]), system["cores"]);
        Self { revision: word(&run["revision"]), machine }
    }
}

impl Store {
    /// Opens a folder. The store is empty if the folder does not exist.
    ///
    /// # Errors
    /// Returns an error if a file in the folder cannot be read or is invalid.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut store = Self {
            folder: folder.to_owned(),
            lines: Vec::new(),
            stages: Vec::new(),
            places: HashMap::new(),
            runs: BTreeMap::new(),
        };
        if store.rows_path().is_file() {
            RowFile::repair::<Row>(&store.rows_path())?;
            lines::read(&store.rows_path())?.into_iter().for_each(|line| store.index(line));
        }
        if store.stages_path().is_file() {
            RowFile::repair::<StageRow>(&store.stages_path())?;
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

    /// Returns the path of the rows.
    pub fn rows_path(&self) -> PathBuf {
        self.folder.join("rows.csv")
    }

    fn stages_path(&self) -> PathBuf {
        self.folder.join("stages.csv")
    }

    /// Returns the path of a run record.
    pub fn run_path(&self, run_id: &str) -> PathBuf {
        self.folder.join("runs").join(format!("{run_id}.json"))
    }

    /// Returns the run records.
    pub fn runs(&self) -> impl Iterator<Item = &Value> {
        self.runs.values()
    }

    /// Returns the rows of a cell if a single run has all of its methods. If a run found that the matrix cannot
    /// be measured, returns only the row that gives the reason.
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

    /// Returns the stages of the products of a cell.
    pub fn stages_of(&self, cell: GridCell) -> Vec<&StageRow> {
        let run_id = self.rows_of(cell).and_then(|rows| Some(&rows.first()?.row.run_id));
        let own = |row: &&StageRow| row.file == cell.file && Some(&row.run_id) == run_id;
        self.stages.iter().filter(own).collect()
    }

    /// Copies the rows of a cell from another folder, if they are of the given origin. Returns whether it did.
    ///
    /// # Errors
    /// Returns an error if the rows cannot be written.
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
        rows.into_iter().for_each(|line| self.index(line.clone()));
        Ok(true)
    }

    /// Registers a run whose record has been written to [`run_path`](Self::run_path).
    ///
    /// # Errors
    /// Returns an error if the record cannot be read.
    pub fn begin(&mut self, run_id: &str) -> Result<()> {
        let text = fs::read_to_string(self.run_path(run_id))?;
        self.runs.insert(run_id.to_owned(), serde_json::from_str(&text)?);
        Ok(())
    }

    /// Adds the rows of a matrix to the folder.
    ///
    /// # Errors
    /// Returns an error if the rows cannot be written.
    pub fn append(&mut self, report: &MatrixReport) -> Result<()> {
        let stages = StageRow::all(report);
        write(&self.stages_path(), &stages.iter().collect::<Vec<_>>())?;
        self.stages.extend(stages);
        write(&self.rows_path(), &report.rows().collect::<Vec<_>>())?;
        report.rows().for_each(|row| self.index(RecordedRow::from(row.clone())));
        Ok(())
    }

    /// Checks that rows of this origin may be added to those in the folder.
    ///
    /// # Errors
    /// Returns an error if the folder has rows of another origin.
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

    fn index(&mut self, line: RecordedRow) {
        let key = (line.row.run_id.clone(), line.row.file.clone());
        self.places.entry(key).or_default().push(self.lines.len());
        self.lines.push(line);
    }
}

/// Appends rows to a file in a single write, so that after an interruption the file has all rows of a matrix or
/// none.
fn write<R: Serialize + Default>(path: &Path, rows: &[&R]) -> Result<()> {
    if rows.is_empty() { Ok(()) } else { Ok(RowFile::open::<R>(path)?.add(rows)?) }
}

/// Returns the options on the command line of a run, without those for methods and matrices.
fn options_of(run: &Value) -> Vec<String> {
    let words = run["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<_> = words.skip_while(|word| !word.starts_with("--")).collect();
    let end = words.iter().position(|word| *word == "--methods").unwrap_or(words.len());
    words[..end].iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests;
