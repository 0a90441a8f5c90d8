//! `spmv-bench fetch --verify`: verifies the hashes of the downloaded files.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::args::FetchArgs;
use super::choose::ids;
use crate::campaign::env::Env;
use crate::cli::verb::CommandStatus;
use crate::collection::Datasets;
use crate::collection::fetch::folder::Folder;
use crate::collection::fetch::ledger::{Ledger, LedgerRow};
use crate::collection::fetch::{FetchError, sha256};
use spmv_matrix::reader::is_matrix;

/// Verifies the hashes of the files in the ledger, of all matrices or of the named ones. The status is bad if a
/// file is wrong, missing or not in the ledger, or if there is no file at all.
pub fn run(args: &FetchArgs, datasets: &Datasets, folder: &Folder, env: &mut Env) -> Result<CommandStatus> {
    let Ledger { rows, .. } = Ledger::read(folder)?;
    let named = ids(&args.words, datasets, rows.iter().map(|row| row.matrix.as_str()))?;
    let shown = folder.path.display();
    ensure!(
        folder.path.is_dir(),
        "{shown}: there is no such folder to verify; use --to for another folder, or `spmv-bench fetch` \
         without --verify to download matrices"
    );
    let (mut correct, mut wrong, mut missing) = (0, 0, 0);
    for row in rows.iter().filter(|row| args.words.is_empty() || named.contains(&row.matrix)) {
        let (count, problem) = match state(row, folder, env)? {
            State::Correct => {
                correct += 1;
                continue;
            }
            State::Missing => (&mut missing, "missing".into()),
            State::Wrong(problem) => (&mut wrong, problem),
        };
        *count += 1;
        writeln!(env.stdout, "{}: {problem}", folder.file(&row.file).display())?;
    }
    for id in named.iter().filter(|id| rows.iter().all(|row| row.matrix != **id)) {
        writeln!(env.stdout, "{id}: not downloaded into {shown}")?;
        missing += 1;
    }
    let unknown = if args.words.is_empty() { unknown(folder, &rows) } else { BTreeSet::new() };
    for file in &unknown {
        let path = folder.path.join(file);
        writeln!(env.stdout, "{}: its SHA-256 is not in the ledger", path.display())?;
    }
    let unknown = unknown.len();
    if !args.quiet {
        writeln!(env.stderr, "files: {correct} correct, {wrong} wrong, {missing} missing, {unknown} unknown")?;
    }
    let is_bad = correct == 0 || wrong + missing + unknown > 0;
    Ok(CommandStatus::bad_if(is_bad))
}

enum State {
    Correct,
    Missing,
    /// With the reason.
    Wrong(String),
}

/// Compares the file of a row with its size and its hash.
fn state(row: &LedgerRow, folder: &Folder, env: &Env) -> Result<State> {
    match folder.bytes(&row.file) {
        Ok(Some(bytes)) if bytes == row.bytes => {}
        Ok(Some(bytes)) => return Ok(State::Wrong(format!("{bytes} bytes, not {}", row.bytes))),
        Ok(None) => return Ok(State::Missing),
        Err(error) => return Ok(State::Wrong(error.to_string())),
    }
    Ok(match sha256(&folder.file(&row.file), env.interrupted) {
        Ok(found) if found == row.sha256 => State::Correct,
        Ok(found) => State::Wrong(format!("its SHA-256 is {found}, not {}", row.sha256)),
        Err(error) => State::Wrong(error.downcast::<FetchError>().map_or_else(|error| Ok(error.to_string()), Err)?),
    })
}

/// Returns the matrix files in the folder that have no row.
fn unknown(folder: &Folder, rows: &[LedgerRow]) -> BTreeSet<OsString> {
    let known: BTreeSet<&OsStr> = rows.iter().map(|row| row.file.as_ref()).collect();
    let entries = fs::read_dir(&folder.path).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.file_name()).filter(|file| is_matrix(Path::new(file)));
    files.filter(|file| !known.contains(&**file)).collect()
}
