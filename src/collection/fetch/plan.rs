//! Determines which of the requested matrices are present, missing or blocked, and their file names.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::contents::{Head, check_sha256};
use super::error::{FetchError, OrCannot};
use super::extract;
use super::folder::{Folder, names};
use super::ledger::Ledger;
use super::settings::Form;
use crate::collection::Matrix;
use spmv_matrix::reader::is_matrix;

/// The suffix for further files of an archive whose names would otherwise be those of matrix files.
const AUX: &str = ".aux";

#[derive(Debug)]
pub struct WantedMatrix {
    pub matrix: Matrix,
    /// The name of its file, which may not exist yet.
    pub file: String,
    pub state: State,
    pub note: Option<String>,
}

#[derive(Debug, PartialEq)]
pub enum State {
    Present,
    Missing,
    /// The matrix cannot be stored, because another file is in its place. The text says which one.
    Taken(String),
}

impl WantedMatrix {
    /// Returns the name in the folder of a file in the archive. A file that is not the matrix never gets the name
    /// of a matrix file, because `corpus` would then measure it too.
    pub(super) fn name_of(&self, file: &str) -> String {
        let (group, name) = (self.matrix.group(), self.matrix.name());
        let is_plain = self.file.starts_with(&format!("{name}."));
        let prefix = if is_plain { String::new() } else { format!("{group}-") };
        let is_beside = file != format!("{name}{}", Form::Mtx.extension());
        let suffix = if is_beside && is_matrix(Path::new(file)) { AUX } else { "" };
        format!("{prefix}{file}{suffix}")
    }

    pub fn file_bytes_estimate(&self) -> u64 {
        if self.file.ends_with(Form::Archive.extension()) {
            self.matrix.archive_bytes_estimate()
        } else {
            extract::bytes_estimate(&self.matrix)
        }
    }
}

/// Determines the file and the state of each matrix, in the same order. If two matrices have the same name, the
/// file of the later one is `GROUP-NAME`. Writes nothing.
pub fn plan(matrices: Vec<Matrix>, ledger: &Ledger, form: Form) -> Vec<WantedMatrix> {
    let mut taken = HashSet::new();
    let tasks = matrices.into_iter().map(|matrix| {
        let task = task(matrix, ledger, form, &taken);
        taken.insert(task.file.clone());
        task
    });
    tasks.collect()
}

fn task(matrix: Matrix, ledger: &Ledger, form: Form, taken: &HashSet<String>) -> WantedMatrix {
    let folder = &ledger.folder;
    let row = ledger.matrix_file(&matrix.id, form.extension());
    let [plain, long] = names(&matrix.id, form.extension());
    let is_free = |file: &&String| !taken.contains(*file) && ledger.owner(file).is_none_or(|owner| owner == matrix.id);
    let known = row.map(|row| &row.file);
    let Some(file) = known.or([&plain, &long].into_iter().find(is_free)).cloned() else {
        let state = State::Taken(format!("{plain} and {long} belong to other matrices"));
        return WantedMatrix { matrix, file: long, state, note: None };
    };
    let is_renamed = known.is_none() && file == long;
    let renamed = || format!("{plain} belongs to another matrix; this one is written to {long}");
    let mut note = is_renamed.then(renamed);
    let state = match (folder.bytes(&file), row) {
        (Err(error), _) => State::Taken(error.to_string()),
        (Ok(None), _) => State::Missing,
        (Ok(Some(found)), Some(row)) if found != row.bytes => {
            let had = format!("it had {} when it was downloaded", row.bytes);
            note = Some(format!("{file}: {found} bytes, but {had}"));
            State::Missing
        }
        (Ok(Some(_)), Some(row)) => match check_sha256(&matrix, &row.archive_sha256) {
            Ok(()) => State::Present,
            Err(error) => State::Taken(format!(
                "the archive of {file}: {error}; remove that file and the lines of {} from the ledger",
                matrix.id
            )),
        },
        // The user may have put it into the folder.
        (Ok(Some(_)), None) => match check_shape(&matrix, &file, folder, form) {
            Ok(()) => {
                let text = "already existed and has the correct numbers of rows and columns";
                note = Some(format!("{file} {text}"));
                State::Present
            }
            Err(error) => State::Taken(format!("{error}; move that file away, or choose another folder")),
        },
    };
    WantedMatrix { matrix, file, state, note }
}

fn check_shape(matrix: &Matrix, file: &str, folder: &Folder, form: Form) -> Result<(), FetchError> {
    let path = folder.file(file);
    let shown = path.display().to_string();
    let opened = File::open(&path).or_cannot("read", &path)?;
    let head = match form {
        Form::Mtx => Head::read(&mut BufReader::new(opened), &shown),
        Form::Archive => extract::head(opened, matrix.name(), &shown),
    };
    head.and_then(|head| head.check_shape(matrix, &shown)).map_err(|error| {
        let other = |error| FetchError::Failed(format!("{shown}: {error}"));
        error.downcast().unwrap_or_else(other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_matrices_get_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::read(&Folder::new(dir.path())).unwrap();
        let matrices = ["A/x", "B/x", "C/x", "A/D-x", "D/x"].map(|id| Matrix::of_size(id, 1, 1, 1));
        let tasks = plan(matrices.into(), &ledger, Form::Mtx);
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
        }
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
