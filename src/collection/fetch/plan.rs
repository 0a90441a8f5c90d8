//! Determines which of the requested matrices are present, missing or blocked, and their file names.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::contents::Head;
use super::error::FetchError;
use super::folder::{Folder, Form};
use super::ledger::Ledger;
use super::row::LedgerRow;
use super::unpack;
use crate::collection::Matrix;
use spmv_matrix::archive::is_matrix;

/// The suffix for further files of an archive whose names would otherwise be those of matrix files.
const AUX: &str = ".aux";

/// A requested matrix with its file and state.
#[derive(Clone, Debug)]
pub struct WantedMatrix {
    /// The description of the matrix.
    pub matrix: Matrix,
    /// The name of its file, which may not exist yet.
    pub file: String,
    /// Whether the matrix is in the folder.
    pub state: State,
    /// A note for the user.
    pub note: Option<String>,
}

/// Whether a matrix is in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The matrix is in the folder.
    Present,
    /// The matrix is not in the folder.
    Missing,
    /// The matrix cannot be stored because another file is in its place. The text says which one.
    Taken(String),
}

impl WantedMatrix {
    /// Returns the name in the folder of a file in the archive. A file that is not the matrix never gets the name
    /// of a matrix file, because `corpus` would then measure it too.
    pub(super) fn name_of(&self, file: &str) -> String {
        let (group, name) = (self.matrix.group(), self.matrix.name());
        let is_plain = self.file.starts_with(&format!("{name}."));
        let prefix = if is_plain { String::new() } else { format!("{group}-") };
        let is_beside = file != format!("{name}{}", Form::Mtx.suffix());
        let suffix = if is_beside && is_matrix(Path::new(file)) { AUX } else { "" };
        format!("{prefix}{file}{suffix}")
    }

    /// Returns the approximate size of the file in bytes.
    pub fn file_bytes_estimate(&self) -> u64 {
        match self.file.ends_with(Form::Archive.suffix()) {
            true => self.matrix.archive_bytes_estimate(),
            false => unpack::bytes_estimate(&self.matrix),
        }
    }
}

/// Determines the file and the state of each matrix, in the same order. If two matrices have the same name, the
/// file of the later one is `GROUP-NAME`. Writes nothing.
pub fn plan(
    matrices: &[Matrix],
    folder: &Folder,
    ledger: &Ledger,
    form: Form,
) -> Vec<WantedMatrix> {
    let mut taken = HashSet::new();
    let tasks = matrices.iter().map(|matrix| {
        let task = task(matrix, folder, ledger, form, &taken);
        taken.insert(task.file.clone());
        task
    });
    tasks.collect()
}

fn task(
    matrix: &Matrix,
    folder: &Folder,
    ledger: &Ledger,
    form: Form,
    taken: &HashSet<String>,
) -> WantedMatrix {
    let matrix = matrix.clone();
    if let Some(line) = ledger.matrix_file(&matrix.id, form) {
        let (file, bytes) = (line.file.clone(), line.bytes);
        let (state, note) = match folder.bytes(&file) {
            Ok(Some(found)) if found == bytes => (known(&matrix, line), None),
            Ok(Some(found)) => {
                let note =
                    format!("{file}: {found} bytes, but it had {bytes} when it was downloaded");
                (State::Missing, Some(note))
            }
            Ok(None) => (State::Missing, None),
            Err(error) => (State::Taken(error.to_string()), None),
        };
        return WantedMatrix { matrix, file, state, note };
    }
    let plain = format!("{}{}", matrix.name(), form.suffix());
    let is_free = |file: &str| {
        !taken.contains(file) && ledger.owner(file).is_none_or(|owner| owner == matrix.id)
    };
    if is_free(&plain) {
        return found(matrix, plain, folder, form);
    }
    let file = format!("{}-{plain}", matrix.group());
    if !is_free(&file) {
        let state = State::Taken(format!("{plain} and {file} belong to other matrices"));
        return WantedMatrix { matrix, file, state, note: None };
    }
    let note = format!("{plain} belongs to another matrix; this one is written to {file}");
    let task = found(matrix, file, folder, form);
    WantedMatrix { note: task.note.or(Some(note)), ..task }
}

/// Returns the state of a downloaded file: it is present unless its archive has another SHA-256 than expected.
fn known(matrix: &Matrix, line: &LedgerRow) -> State {
    match matrix.check_archive(&line.archive_sha256) {
        Ok(()) => State::Present,
        Err(error) => State::Taken(format!(
            "the archive of {}: {error}; remove that file and the lines of {} from the ledger",
            line.file, line.matrix
        )),
    }
}

/// Returns the state of a matrix that is not in the ledger, but that the user may have put into the folder.
fn found(matrix: Matrix, file: String, folder: &Folder, form: Form) -> WantedMatrix {
    let (state, note) = match folder.bytes(&file) {
        Ok(None) => (State::Missing, None),
        Ok(Some(_)) => match check(&matrix, &file, folder, form) {
            Ok(()) => {
                let note = format!(
                    "{file} already existed and has the correct numbers of rows and columns"
                );
                (State::Present, Some(note))
            }
            Err(error) => {
                let message = format!("{error}; move that file away, or choose another folder");
                (State::Taken(message), None)
            }
        },
        Err(error) => (State::Taken(error.to_string()), None),
    };
    WantedMatrix { matrix, file, state, note }
}

/// Checks whether a file has the numbers of rows and columns of the matrix.
fn check(matrix: &Matrix, file: &str, folder: &Folder, form: Form) -> Result<(), FetchError> {
    let path = folder.file(file);
    let shown = path.display().to_string();
    let opened = File::open(&path).map_err(FetchError::file("read", &path))?;
    let head = match form {
        Form::Mtx => Head::read(BufReader::new(opened), &shown),
        Form::Archive => unpack::head(opened, matrix.name(), &shown),
    };
    head?.check_shape(matrix).map_err(|mismatch| mismatch.of(&shown).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(id: &str) -> Matrix {
        Matrix::of_size(id, 1, 1, 1)
    }

    #[test]
    fn no_two_matrices_get_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        let ledger = Ledger::read(&folder).unwrap();
        let matrices = ["A/x", "B/x", "C/x", "A/D-x", "D/x"].map(matrix);
        let tasks = plan(&matrices, &folder, &ledger, Form::Mtx);
        let files: Vec<&str> = tasks.iter().map(|task| task.file.as_str()).collect();
        assert_eq!(files[..4], ["x.mtx", "B-x.mtx", "C-x.mtx", "D-x.mtx"]);
        assert!(tasks[..4].iter().all(|task| task.state == State::Missing));
        let taken = State::Taken("x.mtx and D-x.mtx belong to other matrices".into());
        assert_eq!(tasks[4].state, taken);
        assert_eq!(["x.mtx", "x_b.txt"].map(|file| tasks[0].name_of(file)), ["x.mtx", "x_b.txt"]);
        assert_eq!(tasks[1].name_of("x.mtx"), "B-x.mtx");
        for file in ["x_b.mtx", "y.mtx", "x.tar.gz", "x.tgz", "x.mtx.gz", "B-x.mtx"] {
            let names = [0, 1].map(|task| tasks[task].name_of(file));
            assert_eq!(names, [format!("{file}.aux"), format!("B-{file}.aux")]);
            assert!(names.iter().all(|name| !is_matrix(Path::new(name))));
        }
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
