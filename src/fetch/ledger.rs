//! What was brought into a folder: `.spmv-bench/ledger.csv`, a line per file.
//!
//! Before files get their names, their lines are in `.spmv-bench/pending.csv`, and only after that in the
//! ledger. So the hash of a file outlives a run that is killed at any moment: the next run finds the line
//! and looks whether the file is there.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::FetchError;
use super::folder::{Folder, sync};
use super::plan::Form;
use super::verify::{Finding, verify};
use crate::cache;
use crate::datasets::is_id;

/// The files' names.
pub const LEDGER: &str = "ledger.csv";
pub const PENDING: &str = "pending.csv";

/// A file that was brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
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
    folder: Folder,
    lines: Vec<LedgerRow>,
    pending: Vec<LedgerRow>,
}

impl Ledger {
    /// That of a folder; empty where none is.
    ///
    /// # Errors
    /// When it cannot be read, with the line.
    pub fn read(folder: &Folder) -> Result<Self, FetchError> {
        let lines = read(&folder.state(LEDGER))?;
        Ok(Self { folder: folder.clone(), lines, pending: read(&folder.state(PENDING))? })
    }

    pub fn lines(&self) -> &[LedgerRow] {
        &self.lines
    }

    /// The lines of files that a run was about to bring when it ended.
    pub fn pending(&self) -> &[LedgerRow] {
        &self.pending
    }

    /// The file that a matrix itself is in.
    pub fn matrix_file(&self, id: &str, form: Form) -> Option<&LedgerRow> {
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
        let other = |line: &&LedgerRow| line.matrix == id && line.archive_sha256 != sha256;
        match self.lines.iter().find(other) {
            None => Ok(()),
            Some(line) => Err(format!(
                "it has changed: its SHA-256 is {sha256}, and it was {} on {}; to accept it, remove the \
                 lines of {id} from {}",
                line.archive_sha256,
                line.date,
                self.path().display()
            )),
        }
    }

    /// Notes on the disk what is about to get its name.
    pub(super) fn announce(&mut self, lines: Vec<LedgerRow>) -> Result<(), FetchError> {
        // What failed before is not forgotten.
        self.settle(&|| false)?;
        self.pending = lines;
        write(&self.folder.state(PENDING), &self.pending)
    }

    /// Enters what was announced, once the files have their names.
    pub(super) fn enter(&mut self) -> Result<(), FetchError> {
        let Self { lines, pending, .. } = self;
        lines.retain(|old| pending.iter().all(|line| line.file != old.file));
        lines.append(pending);
        lines.sort_by(|a, b| (&a.matrix, &a.file).cmp(&(&b.matrix, &b.file)));
        write(&self.path(), &self.lines)?;
        let path = self.folder.state(PENDING);
        fs::remove_file(&path).map_err(|error| FetchError::file("remove", &path, &error))
    }

    /// Enters what a run announced that ended before it could enter it, if the files are there.
    ///
    /// # Errors
    /// When the ledger cannot be written, or it is interrupted.
    pub fn settle(&mut self, interrupted: &dyn Fn() -> bool) -> Result<(), FetchError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut there = Vec::new();
        for line in &self.pending {
            if verify(&self.folder, line, interrupted)? == Finding::Right {
                there.push(line.clone());
            }
        }
        self.pending = there;
        self.enter()
    }

    fn path(&self) -> PathBuf {
        self.folder.state(LEDGER)
    }
}

/// The lines of a file; none where no file is.
fn read(path: &Path) -> Result<Vec<LedgerRow>, FetchError> {
    let regular = |metadata: fs::Metadata| match metadata.is_file() {
        true => fs::read(path),
        // To open a pipe would be to wait for a writer.
        false => Err(io::Error::other("it is no file")),
    };
    let bytes = match fs::metadata(path).and_then(regular) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other.map_err(|error| FetchError::file("read", path, &error))?,
    };
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let headers = csv::StringRecord::from(COLUMNS.to_vec());
    let lines = reader.records().map(|record| {
        let line = record.map_err(|error| error.to_string()).and_then(|record| {
            let at = record.position().map_or(0, csv::Position::line);
            let line: LedgerRow = record
                .deserialize(Some(&headers))
                .map_err(|error| format!("line {at}: {error}"))?;
            line.check().map_err(|message| format!("line {at}: {message}"))?;
            Ok(line)
        });
        line.map_err(|message| {
            let path = path.display();
            FetchError::Failed(format!("{path}: {message}; remove that line to go on without it"))
        })
    });
    lines.collect()
}

/// Replaces the file, and waits until it is on the disk under its name.
fn write(path: &Path, lines: &[LedgerRow]) -> Result<(), FetchError> {
    let text = || {
        let mut writer = csv::Writer::from_writer(Vec::new());
        lines.iter().try_for_each(|line| writer.serialize(line)).map_err(io::Error::other)?;
        writer.into_inner().map_err(|error| error.into_error())
    };
    let written = text().and_then(|text| cache::replace(path, |file| file.write_all(&text)));
    written.map_err(|error| FetchError::file("write", path, &error))?;
    sync(path.parent().unwrap_or(path))
}

const COLUMNS: [&str; 8] =
    ["matrix", "file", "bytes", "sha256", "archive_bytes", "archive_sha256", "address", "date"];

impl LedgerRow {
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
