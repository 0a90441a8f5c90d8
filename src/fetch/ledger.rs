//! What was brought into a folder: `.spmv-bench/ledger.csv`, a line per file.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Trouble;
use super::folder::Folder;
use super::plan::Form;
use crate::datasets::is_id;

/// A file that was brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// `GROUP/NAME`.
    pub matrix: String,
    /// Its name in the folder.
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
    pub archive_bytes: u64,
    pub archive_sha256: String,
    pub address: String,
    /// UTC, as `2026-11-21T04:15:00Z`.
    pub date: String,
}

/// All lines of a folder's ledger.
#[derive(Clone, Debug)]
pub struct Ledger {
    path: PathBuf,
    lines: Vec<Line>,
}

impl Ledger {
    /// That of a folder; empty where none is.
    ///
    /// # Errors
    /// When it cannot be read, with the line.
    pub fn read(folder: &Folder) -> Result<Self, Trouble> {
        let path = folder.state("ledger.csv");
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other.map_err(|error| Trouble::file("read", &path, &error))?,
        };
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let mut lines = Vec::new();
        for record in reader.records() {
            let line = record.map_err(|error| error.to_string()).and_then(|record| {
                let at = record.position().map_or(0, csv::Position::line);
                let headers = csv::StringRecord::from(COLUMNS.to_vec());
                let line: Line = record
                    .deserialize(Some(&headers))
                    .map_err(|error| format!("line {at}: {error}"))?;
                line.check().map_err(|message| format!("line {at}: {message}"))?;
                Ok(line)
            });
            lines.push(line.map_err(|message| {
                let path = path.display();
                Trouble::Failed(format!("{path}: {message}; remove that line to go on without it"))
            })?);
        }
        Ok(Self { path, lines })
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The file that a matrix itself is in.
    pub fn matrix_file(&self, id: &str, form: Form) -> Option<&Line> {
        self.lines.iter().find(|line| {
            let (_, name) = line.matrix.split_once('/').unwrap_or(("", &line.matrix));
            let ours = line.file.strip_suffix(form.suffix());
            line.matrix == id
                && ours.is_some_and(|ours| ours == name || ours == id.replace('/', "-"))
        })
    }

    /// The matrix that a file was brought for.
    pub fn owner(&self, file: &str) -> Option<&str> {
        self.lines.iter().find(|line| line.file == file).map(|line| line.matrix.as_str())
    }

    /// Whether an archive is the one that the matrix came from before.
    pub(super) fn check_archive(&self, id: &str, sha256: &str) -> Result<(), String> {
        let other = |line: &&Line| line.matrix == id && line.archive_sha256 != sha256;
        match self.lines.iter().find(other) {
            None => Ok(()),
            Some(line) => Err(format!(
                "it has changed: its SHA-256 is {sha256}, and was {} on {}; to accept it, remove the \
                 lines of {id} from {}",
                line.archive_sha256,
                line.date,
                self.path.display()
            )),
        }
    }

    /// Enters lines, in place of older ones of the same files, and writes the ledger.
    pub(super) fn enter(&mut self, lines: Vec<Line>) -> Result<(), Trouble> {
        self.lines.retain(|old| lines.iter().all(|line| line.file != old.file));
        self.lines.extend(lines);
        self.lines.sort_by(|a, b| (&a.matrix, &a.file).cmp(&(&b.matrix, &b.file)));
        self.write().map_err(|error| Trouble::file("write", &self.path, &error))
    }

    /// Beside it first, so that nobody reads half a ledger.
    fn write(&self) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for line in &self.lines {
            writer.serialize(line).map_err(io::Error::other)?;
        }
        let bytes = writer.into_inner().map_err(|error| error.into_error())?;
        let written = self.path.with_extension("csv.new");
        fs::write(&written, bytes)?;
        fs::rename(&written, &self.path)
    }
}

const COLUMNS: [&str; 8] =
    ["matrix", "file", "bytes", "sha256", "archive_bytes", "archive_sha256", "address", "date"];

impl Line {
    /// Files are written and hashed by these names.
    fn check(&self) -> Result<(), String> {
        if !is_id(&self.matrix) {
            return Err(format!("'{}' is no GROUP/NAME", self.matrix.escape_debug()));
        }
        if self.file.is_empty() || self.file.contains('/') || self.file.starts_with('.') {
            return Err(format!("'{}' is no file's name", self.file.escape_debug()));
        }
        Ok(())
    }
}
