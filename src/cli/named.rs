//! Resolves a word of the command line that is neither a generator nor a surrogate: a file, a folder, or
//! GROUP/NAME, a matrix of the collection that `fetch` has downloaded.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};
use clap::Command;

use crate::collection::fetch::folder::{DATA, Folder};
use crate::collection::fetch::ledger::find;
use crate::collection::{Datasets, is_id};
use spmv_matrix::generate::is_generator;
use spmv_matrix::near::did_you_mean;
use spmv_matrix::reader::is_matrix;

pub fn path(word: &OsStr, datasets: Option<&Path>) -> Result<PathBuf> {
    let path = Path::new(word);
    if !is_missing(path) {
        return Ok(path.to_owned());
    }
    let id = word.to_str().filter(|word| is_id(word));
    let downloaded = id.map(|id| find(&Folder::new(DATA), id)).transpose()?;
    match downloaded.flatten() {
        Some(file) => Ok(file),
        None => Err(unknown(word, &Datasets::with(datasets)?, &[])),
    }
}

/// Returns the error for a first word that resembles a command, but is neither a command nor a file. Without this
/// check, the word would be treated as a matrix, and the error message would be misleading.
pub fn misspelt_command(args: &[OsString], mut cli: Command) -> Option<Error> {
    let word = args.get(1)?.to_str()?;
    let resembles_command = word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
    if !resembles_command || word.starts_with('-') || !is_missing(Path::new(word)) {
        return None;
    }
    cli.build();
    let commands: Vec<_> = cli.get_subcommands().map(|command| command.get_name()).collect();
    let is_command = commands.contains(&word);
    (!is_command).then(|| unknown(word.as_ref(), &Datasets::ours(), &commands))
}

/// Returns whether nothing exists under the path. A path that cannot be examined counts as existing.
fn is_missing(path: &Path) -> bool {
    let missing = [ErrorKind::NotFound, ErrorKind::NotADirectory];
    path.symlink_metadata().is_err_and(|error| missing.contains(&error.kind()))
}

/// Returns the error for a word that names nothing. It suggests similar names, also of the `commands`.
fn unknown(word: &OsStr, datasets: &Datasets, commands: &[&str]) -> Error {
    let shown = word.display();
    let what = if commands.is_empty() { "file or folder" } else { "command, file or folder" };
    let text = word.to_str().unwrap_or_default();
    let problem = format!("{shown}: there is no such {what}");
    if datasets.matrices.contains_key(text) {
        return anyhow!("{problem}, nor is it in {DATA}; `spmv-bench fetch {text}` downloads it");
    }
    if datasets.sets.contains_key(text) {
        return anyhow!("{problem}; `spmv-bench fetch {text}` downloads the matrices of this set");
    }
    if is_generator(text) {
        return anyhow!("{problem}; did you mean gen:{text}?");
    }
    let path = Path::new(word);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = beside(path);
    let names = commands.iter().copied().chain(beside.iter().map(String::as_str));
    let ids = datasets.matrices.keys().map(String::as_str);
    match did_you_mean(&name, names).or_else(|| did_you_mean(text, ids)) {
        Some(question) => anyhow!("{problem}; {question}"),
        None if is_id(text) => anyhow!(
            "{problem}; if it is a matrix of the SuiteSparse Matrix Collection, `spmv-bench fetch {text}` \
             downloads it"
        ),
        None if commands.is_empty() => anyhow!("{problem}"),
        None => anyhow!("{problem}; `spmv-bench --help` lists the commands"),
    }
}

fn beside(path: &Path) -> BTreeSet<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir().into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let matrices = names.filter(|name| is_matrix(Path::new(name)));
    matrices.filter_map(|name| name.into_string().ok()).collect()
}
