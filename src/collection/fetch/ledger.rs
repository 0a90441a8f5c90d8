//! The ledger of a folder: `.spmv-bench/ledger.csv`, with one line for each downloaded file.
//!
//! The lines are written before the files get their final names. So the hash of a file is not lost if the run is killed
//! at any moment. A file that has a line but does not exist is downloaded again.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::{FetchError, OrCannot};
use super::folder::{EXTENSIONS, Folder, LEDGER, names, sync};
use crate::collection::is_id;
use spmv_matrix::cache;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The id of the matrix, `GROUP/NAME`.
    pub matrix: String,
    /// The name of the file in the folder.
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
    pub archive_bytes: u64,
    pub archive_sha256: String,
    /// The address of the archive. After redirects it is followed by ` -> ` and the address that answered.
    pub address: String,
    /// The time of the download in UTC, such as `2026-11-21T04:15:00Z`.
    pub date: String,
}

/// Returns the path of a matrix that is in a folder, also of one that was not downloaded.
pub fn find(folder: &Folder, id: &str) -> Result<Option<PathBuf>, FetchError> {
    let ledger = Ledger::read(folder)?;
    let files = EXTENSIONS.iter().flat_map(|extension| names(id, extension).into_iter().rev());
    let own = files.filter(|file| ledger.owner(file).is_none_or(|owner| owner == id));
    Ok(own.map(|file| folder.file(&file)).find(|path| path.is_file()))
}

#[derive(Debug)]
pub struct Ledger {
    pub(super) folder: Folder,
    pub rows: Vec<LedgerRow>,
}

impl Ledger {
    /// Reads the ledger of a folder. It is empty if the file does not exist.
    pub fn read(folder: &Folder) -> Result<Self, FetchError> {
        let path = folder.state(LEDGER);
        let read = |metadata: Metadata| {
            // Opening a named pipe would wait for a writer.
            let is_file = metadata.is_file();
            if is_file { fs::read(&path) } else { Err(io::Error::other("it is not a regular file")) }
        };
        let bytes = match fs::metadata(&path).and_then(read) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.or_cannot("read", &path)?,
        };
        let records = csv::Reader::from_reader(&bytes[..]).into_records();
        let rows = records.map(|record| record.map_err(|error| error.to_string()).and_then(row));
        let rows = rows.collect::<Result<_, _>>().map_err(|message| {
            let advice = "remove that line to continue without it";
            FetchError::Failed(format!("{}: {message}; {advice}", path.display()))
        })?;
        Ok(Self { folder: folder.clone(), rows })
    }

    /// Returns the line of the file that contains the matrix, as an archive or not.
    pub fn matrix_file(&self, id: &str, extension: &str) -> Option<&LedgerRow> {
        let names = names(id, extension);
        self.rows.iter().find(|row| row.matrix == id && names.contains(&row.file))
    }

    /// Returns the matrix for which a file was downloaded.
    pub fn owner(&self, file: &str) -> Option<&str> {
        self.rows.iter().find(|row| row.file == file).map(|row| row.matrix.as_str())
    }

    /// Adds the files of an archive. They must not exist unless they were downloaded for the same matrix, and an
    /// earlier archive of the matrix must have been the same.
    pub(super) fn enter(&mut self, rows: &[LedgerRow]) -> Result<(), FetchError> {
        rows.iter().try_for_each(|row| self.check(row))?;
        self.rows.retain(|old| rows.iter().all(|row| row.file != old.file));
        self.rows.extend_from_slice(rows);
        self.rows.sort_by(|a, b| (&a.matrix, &a.file).cmp(&(&b.matrix, &b.file)));
        let path = self.folder.state(LEDGER);
        let written = cache::replace(&path, |file| {
            let mut writer = csv::Writer::from_writer(file);
            self.rows.iter().try_for_each(|row| writer.serialize(row))?;
            writer.flush()
        });
        written.or_cannot("write", &path)?;
        sync(&self.folder.state(""))
    }

    fn check(&self, row: &LedgerRow) -> Result<(), FetchError> {
        let LedgerRow { matrix: id, archive_sha256, .. } = row;
        let is_other = |old: &&LedgerRow| old.matrix == *id && old.archive_sha256 != *archive_sha256;
        if let Some(old) = self.rows.iter().find(is_other) {
            return Err(FetchError::Refused(format!(
                "it has changed: its SHA-256 is {archive_sha256}, and it was {} on {}; to accept it, remove the \
                 lines of {id} from {}",
                old.archive_sha256,
                old.date,
                self.folder.state(LEDGER).display()
            )));
        }
        let file = self.folder.file(&row.file);
        if file.symlink_metadata().is_ok() && self.owner(&row.file) != Some(id) {
            let file = file.display();
            return Err(FetchError::Failed(format!("{file} exists and does not belong to {id}: move it away")));
        }
        Ok(())
    }
}

/// Checks the names as well, because files are written and hashed under these names.
fn row(record: csv::StringRecord) -> Result<LedgerRow, String> {
    let line = record.position().map_or(0, csv::Position::line);
    let row: LedgerRow = record.deserialize(None).map_err(|error| format!("line {line}: {error}"))?;
    let wrong = |name: &str, what| Err(format!("line {line}: '{}' is not {what}", name.escape_debug()));
    match row {
        LedgerRow { matrix, .. } if !is_id(&matrix) => wrong(&matrix, "of the form GROUP/NAME"),
        LedgerRow { file, .. } if file.is_empty() || file.contains('/') || file.starts_with('.') => {
            wrong(&file, "a valid file name")
        }
        row => Ok(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_group_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        let found = |id| find(&folder, id).unwrap().map(|path| path.file_name().unwrap().to_owned());
        assert_eq!(found("A/x"), None);
        fs::write(folder.file("x.mtx.gz"), "").unwrap();
        assert_eq!(found("A/x").unwrap(), "x.mtx.gz");
        fs::create_dir(folder.state("")).unwrap();
        let ledger = "matrix,file,bytes,sha256,archive_bytes,archive_sha256,address,date\n\
                      A/x,x.mtx,1,,1,,,\nB/x,B-x.mtx,1,,1,,,\n";
        fs::write(folder.state(LEDGER), ledger).unwrap();
        for file in ["x.mtx", "B-x.mtx"] {
            fs::write(folder.file(file), "").unwrap();
        }
        fs::remove_file(folder.file("x.mtx.gz")).unwrap();
        assert_eq!(found("A/x").unwrap(), "x.mtx");
        assert_eq!(found("B/x").unwrap(), "B-x.mtx");
        assert_eq!(found("C/x"), None);
    }
}
