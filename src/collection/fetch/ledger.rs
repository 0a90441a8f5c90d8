//! The ledger of a folder: `.spmv-bench/ledger.csv`, with one line for each downloaded file.
//!
//! Before files are renamed to their final names, their lines are written to `.spmv-bench/pending.csv`, and
//! afterwards to the ledger. So the hash of a file is not lost if the run is killed at any moment: the next run
//! finds the line and checks whether the file exists.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::FetchError;
use super::folder::{Folder, Form, LEDGER, PENDING, sync};
use super::row::{COLUMNS, LedgerRow};
use super::verify::{Finding, verify};
use spmv_matrix::cache;

/// The ledger of a folder and its pending lines.
#[derive(Clone, Debug)]
pub struct Ledger {
    folder: Folder,
    lines: Vec<LedgerRow>,
    pending: Vec<LedgerRow>,
}

impl Ledger {
    /// Reads the ledger of a folder. It is empty if the file does not exist.
    ///
    /// # Errors
    /// Returns an error with the line number if the ledger cannot be read.
    pub fn read(folder: &Folder) -> Result<Self, FetchError> {
        let lines = read(&folder.state(LEDGER))?;
        Ok(Self { folder: folder.clone(), lines, pending: read(&folder.state(PENDING))? })
    }

    /// Returns all lines of the ledger.
    pub fn lines(&self) -> &[LedgerRow] {
        &self.lines
    }

    /// Returns the lines of files that a run was about to rename when it ended.
    pub fn pending(&self) -> &[LedgerRow] {
        &self.pending
    }

    /// Returns the line of the file that contains the matrix.
    pub fn matrix_file(&self, id: &str, form: Form) -> Option<&LedgerRow> {
        self.lines.iter().find(|line| {
            let (_, name) = line.matrix.split_once('/').unwrap_or(("", &line.matrix));
            let ours = line.file.strip_suffix(form.suffix());
            line.matrix == id
                && ours.is_some_and(|ours| ours == name || ours == id.replace('/', "-"))
        })
    }

    /// Returns the matrix for which a file was downloaded.
    pub fn owner(&self, file: &str) -> Option<&str> {
        self.lines.iter().find(|line| line.file == file).map(|line| line.matrix.as_str())
    }

    /// Checks whether a file may be written for a matrix: it does not exist, or it was downloaded for that
    /// matrix.
    pub(super) fn may_write(&self, name: &str, id: &str) -> Result<(), FetchError> {
        let path = self.folder.file(name);
        if path.symlink_metadata().is_err() || self.owner(name) == Some(id) {
            return Ok(());
        }
        let path = path.display();
        Err(FetchError::Failed(format!("{path} exists and does not belong to {id}: move it away")))
    }

    /// Checks whether an archive is the same as at an earlier download of the matrix.
    pub(super) fn check_archive(&self, id: &str, sha256: &str) -> Result<(), FetchError> {
        let other = |line: &&LedgerRow| line.matrix == id && line.archive_sha256 != sha256;
        match self.lines.iter().find(other) {
            None => Ok(()),
            Some(line) => Err(FetchError::Failed(format!(
                "it has changed: its SHA-256 is {sha256}, and it was {} on {}; to accept it, remove the \
                 lines of {id} from {}",
                line.archive_sha256,
                line.date,
                self.path().display()
            ))),
        }
    }

    /// Writes the lines of the files that are about to be renamed as pending lines.
    pub(super) fn announce(&mut self, lines: Vec<LedgerRow>) -> Result<(), FetchError> {
        // Pending lines of a task that failed before must not be overwritten.
        self.settle(&|| false)?;
        self.pending = lines;
        write(&self.folder.state(PENDING), &self.pending)
    }

    /// Moves the pending lines into the ledger, after the files have been renamed.
    pub(super) fn enter(&mut self) -> Result<(), FetchError> {
        let Self { lines, pending, .. } = self;
        lines.retain(|old| pending.iter().all(|line| line.file != old.file));
        lines.append(pending);
        lines.sort_by(|a, b| (&a.matrix, &a.file).cmp(&(&b.matrix, &b.file)));
        write(&self.path(), &self.lines)?;
        let path = self.folder.state(PENDING);
        fs::remove_file(&path).map_err(FetchError::file("remove", &path))
    }

    /// Moves pending lines of an earlier run into the ledger if their files exist and are correct; drops the
    /// others.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be written, or if the check is interrupted.
    pub fn settle(&mut self, interrupted: &dyn Fn() -> bool) -> Result<(), FetchError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut present = Vec::new();
        for line in &self.pending {
            if verify(&self.folder, line, interrupted)? == Finding::Right {
                present.push(line.clone());
            }
        }
        self.pending = present;
        self.enter()
    }

    fn path(&self) -> PathBuf {
        self.folder.state(LEDGER)
    }
}

/// Reads the lines of a file; none if it does not exist.
fn read(path: &Path) -> Result<Vec<LedgerRow>, FetchError> {
    let regular = |metadata: fs::Metadata| match metadata.is_file() {
        true => fs::read(path),
        // Opening a named pipe would wait for a writer.
        false => Err(io::Error::other("it is not a regular file")),
    };
    let bytes = match fs::metadata(path).and_then(regular) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other.map_err(FetchError::file("read", path))?,
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
            FetchError::Failed(format!(
                "{path}: {message}; remove that line to continue without it"
            ))
        })
    });
    lines.collect()
}

/// Replaces the file, and waits until its contents and its name are on the disk.
fn write(path: &Path, lines: &[LedgerRow]) -> Result<(), FetchError> {
    let text = || {
        let mut writer = csv::Writer::from_writer(Vec::new());
        lines.iter().try_for_each(|line| writer.serialize(line)).map_err(io::Error::other)?;
        writer.into_inner().map_err(|error| error.into_error())
    };
    let written = text().and_then(|text| cache::replace(path, |file| file.write_all(&text)));
    written.map_err(FetchError::file("write", path))?;
    sync(path.parent().unwrap_or(path))
}
