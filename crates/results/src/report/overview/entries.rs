//! Result files, and their rows, each with the setting in which it may be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::files::ginkgo::Unit;
use crate::files::read::{self, RecordedRow};
use crate::files::run_record::record_beside;
use crate::report::groups::grouped;
use crate::report::identity::name_matrices;
use crate::report::matched;
use crate::report::names::join;
use crate::row::{Status, Threads};
use crate::run::facts::machine;

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
        let (name, record) = (name(path, paths), record_beside(path)?);
        files.push(ResultFile { name, lines, record, note });
    }
    let keyed: Vec<_> = sets(&files).into_iter().zip(&mut files).collect();
    let sets = grouped(keyed, |(key, _)| key.clone());
    let lines = sets.into_iter().map(|(_, files)| files.into_iter().flat_map(|(_, file)| &mut file.lines).collect());
    name_matrices(lines.collect());
    Ok(files)
}

/// Returns what is the same for the files of a set: the shards of a corpus have its hash in common, but a shard that
/// comes again is of another run.
fn sets(files: &[ResultFile]) -> Vec<(String, u64)> {
    let mut times = BTreeMap::new();
    let key = |file: &ResultFile| {
        let Some(shard) = file.shard() else { return (file.name.clone(), 0) };
        let before = times.entry(shard.clone()).or_insert(0);
        *before += 1;
        (shard.0, *before)
    };
    files.iter().map(key).collect()
}

impl ResultFile {
    /// Returns the hash of the corpus of which the file is a shard, and the number of the shard.
    fn shard(&self) -> Option<(String, u64)> {
        let corpus = &self.record.as_ref()?["corpus"];
        let is_part = corpus["shard"]["of"].as_u64()? > 1;
        let hash = corpus["hash"].as_str().filter(|_| is_part)?;
        Some((hash.to_owned(), corpus["shard"]["number"].as_u64()?))
    }
}

fn name(path: &Path, all: &[PathBuf]) -> String {
    let alone = all.iter().filter(|other| other.file_name() == path.file_name()).count() == 1;
    let name = path.file_name().filter(|_| alone).unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

pub(super) struct Entry<'a> {
    pub file: &'a ResultFile,
    pub line: &'a RecordedRow,
    /// Describes the setting. Only rows with the same setting may be compared. Empty if no method ran on the matrix.
    pub setting: String,
}

pub(super) struct Entries<'a> {
    pub files: &'a [ResultFile],
    pub all: Vec<Entry<'a>>,
    /// The number of rows that were left out because an earlier row has the same run, matrix, method and setting.
    pub repeated: usize,
    /// The settings that each run has for itself, because several measured the same matrix and method.
    pub split_by_run: BTreeSet<String>,
}

impl<'a> Entry<'a> {
    pub fn run(&self) -> &'a str {
        let id = &self.line.row.run_id;
        if id.is_empty() { &self.file.name } else { id }
    }

    pub fn has(&self, status: Status) -> bool {
        self.line.row.status == Some(status)
    }

    pub fn is_bad(&self) -> bool {
        !self.has(Status::Ok) && !self.has(Status::Skipped)
    }
}

impl<'a> Entries<'a> {
    pub fn of(files: &'a [ResultFile]) -> Self {
        let machines = |device: &str| -> BTreeSet<_> {
            files.iter().filter_map(|file| machine(file.record.as_ref()?, device)).collect()
        };
        let several = machines("cpu").len() > 1 || machines("gpu").len() > 1;
        let rows = files.iter().flat_map(|file| &file.lines).map(|line| &line.row);
        let threads = Threads::of(rows);
        let of_file = |file: &'a ResultFile| file.lines.iter().map(move |line| (file, line));
        let entry = |(file, line)| {
            let setting = setting(file, line, &threads, several);
            Entry { file, line, setting }
        };
        let mut all: Vec<_> = files.iter().flat_map(of_file).map(entry).collect();
        let (before, mut seen) = (all.len(), BTreeSet::new());
        all.retain(|entry| {
            let row = (&entry.line.row.file, entry.line.method(), entry.setting.clone());
            seen.insert((entry.run(), row))
        });
        let repeated = before - all.len();
        let split_by_run = split_by_run(&mut all);
        Self { files, all, repeated, split_by_run }
    }

    pub fn settings(&self) -> Vec<(&str, Vec<&'a RecordedRow>)> {
        let measured = self.all.iter().filter(|entry| !entry.setting.is_empty());
        let settings = grouped(measured, |entry| &entry.setting[..]).into_iter();
        let lines = |of: Vec<&Entry<'a>>| of.iter().map(|entry| entry.line).collect();
        settings.map(|(setting, of)| (setting, lines(of))).collect()
    }
}

/// Describes the setting of a row, with what differs from the defaults. Returns an empty text where no method ran.
fn setting(file: &ResultFile, line: &RecordedRow, threads: &Threads, name_machine: bool) -> String {
    if line.method().is_empty() {
        return String::new();
    }
    let setting = threads.group_key(&line.row).to_string();
    let device = line.row.device.filter(|_| name_machine);
    let machine = device.and_then(|device| machine(file.record.as_ref()?, device.name()));
    let words = join([setting, machine.unwrap_or_default()], ", ");
    if words.is_empty() { "measured".into() } else { words }
}

/// Gives each run its own setting where several have a row of the same matrix and method. Returns these settings.
fn split_by_run(entries: &mut [Entry]) -> BTreeSet<String> {
    let mut runs = BTreeMap::new();
    let mut apart = BTreeSet::new();
    for entry in entries.iter().filter(|entry| !entry.setting.is_empty()) {
        let measured = (&entry.setting, matched::matrix(entry.line), entry.line.method());
        if *runs.entry(measured).or_insert(entry.run()) != entry.run() {
            apart.insert(entry.setting.clone());
        }
    }
    for entry in entries.iter_mut().filter(|entry| apart.contains(&entry.setting)) {
        entry.setting = format!("{}, run {}", entry.setting, entry.run());
    }
    apart
}
