//! What a word of the command line names that is neither a generator nor a stand-in: a file, a folder, or
//! by GROUP/NAME a matrix of the collection that `fetch` has brought.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};
use clap::CommandFactory;

use super::args::Cli;
use crate::datasets::{Datasets, is_id};
use crate::fetch::folder::{DATA, Folder};
use crate::fetch::place;
use crate::matrix::archive::is_matrix;
use crate::matrix::generate::is_generator;
use crate::near::did_you_mean;

/// The file or folder.
///
/// # Errors
/// When there is none, with what the word may have meant.
pub fn path(word: &OsStr, datasets: Option<&Path>) -> Result<PathBuf> {
    let path = Path::new(word);
    if !is_missing(path) {
        return Ok(path.to_owned());
    }
    let id = word.to_str().filter(|word| is_id(word));
    let brought = id.map(|id| place::of(&Folder::new(DATA), id)).transpose()?;
    match brought.flatten() {
        Some(file) => Ok(file),
        None => Err(unknown(word, &Datasets::with(datasets)?, &[])),
    }
}

/// The error about a first word that is neither a command nor the name of a file, but looks like a command:
/// read as a matrix, it would be reported with the words behind it, or not as what it is.
pub fn misspelt_command(args: &[OsString]) -> Option<Error> {
    let word = args.get(1)?.to_str()?;
    let looks_like_one = word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
    if !looks_like_one || word.starts_with('-') || !is_missing(Path::new(word)) {
        return None;
    }
    let mut cli = Cli::command();
    cli.build();
    let commands = cli.get_subcommands().map(|command| command.get_name());
    let commands: Vec<_> = commands.collect();
    let is_command = commands.contains(&word);
    (!is_command).then(|| unknown(word.as_ref(), &Datasets::ours(), &commands))
}

/// Whether nothing has the name; what cannot be looked at may be there.
fn is_missing(path: &Path) -> bool {
    let missing = [ErrorKind::NotFound, ErrorKind::NotADirectory];
    path.symlink_metadata().is_err_and(|error| missing.contains(&error.kind()))
}

/// What to say of a word that names nothing; it might have been one of the `commands`.
fn unknown(word: &OsStr, datasets: &Datasets, commands: &[&str]) -> Error {
    let shown = word.display();
    let what = if commands.is_empty() { "file or folder" } else { "command, file or folder" };
    let text = word.to_str().unwrap_or_default();
    let problem = format!("{shown}: there is no such {what}");
    if datasets.matrix(text).is_some() {
        return anyhow!("{problem}, nor is it in {DATA}; `spmv-bench fetch {text}` brings it");
    }
    if datasets.set(text).is_some() {
        return anyhow!("{problem}; `spmv-bench fetch {text}` brings the matrices of this set");
    }
    if is_generator(text) {
        return anyhow!("{problem}; did you mean gen:{text}?");
    }
    let path = Path::new(word);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = beside(path);
    let names = commands.iter().copied().chain(beside.iter().map(String::as_str));
    let ids = datasets.matrices().map(|matrix| matrix.id.as_str());
    match did_you_mean(&name, names).or_else(|| did_you_mean(text, ids)) {
        Some(question) => anyhow!("{problem}; {question}"),
        None if is_id(text) => anyhow!(
            "{problem}; if it is a matrix of the SuiteSparse Matrix Collection, `spmv-bench fetch {text}` \
             brings it"
        ),
        None if commands.is_empty() => anyhow!("{problem}"),
        None => anyhow!("{problem}; `spmv-bench --help` lists the commands"),
    }
}

/// The names of the matrix files in the folder that the path would be in.
fn beside(path: &Path) -> Vec<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir().into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let matrices = names.filter(|name| is_matrix(Path::new(name)));
    let mut files: Vec<_> = matrices.filter_map(|name| name.into_string().ok()).collect();
    files.sort();
    files
}
