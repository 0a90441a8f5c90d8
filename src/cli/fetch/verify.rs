//! `spmv-bench fetch --verify`: verifies the hashes of the downloaded files.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::FetchArgs;
use super::choose::ids;
use crate::cli::{CommandStatus, Env};
use crate::collection::Datasets;
use crate::collection::fetch::folder::Folder;
use crate::collection::fetch::ledger::{Ledger, LedgerRow};
use crate::collection::fetch::{FetchError, sha256};
use spmv_matrix::reader::is_matrix;

/// Verifies the hashes of the files in the ledger, of all matrices or of the named ones. The status is bad if a
/// file is wrong, missing or not in the ledger, or if there is no file at all.
pub fn run(
    args: &FetchArgs,
    datasets: &Datasets,
    folder: &Folder,
    env: &mut Env,
) -> Result<CommandStatus> {
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
        let file = folder.file(&row.file);
        let (count, problem) = match folder.bytes(&row.file) {
            Ok(None) => (&mut missing, "missing".into()),
            Err(error) => (&mut wrong, error.to_string()),
            Ok(Some(bytes)) if bytes != row.bytes => {
                (&mut wrong, format!("{bytes} bytes, not {}", row.bytes))
            }
            Ok(Some(_)) => match sha256(&file, env.interrupted) {
                Ok(found) if found == row.sha256 => {
                    correct += 1;
                    continue;
                }
                Ok(found) => (&mut wrong, format!("its SHA-256 is {found}, not {}", row.sha256)),
                Err(error) => match error.downcast::<FetchError>() {
                    Ok(interrupted) => return Err(interrupted.into()),
                    Err(error) => (&mut wrong, error.to_string()),
                },
            },
        };
        *count += 1;
        writeln!(env.stdout, "{}: {problem}", file.display())?;
    }
    for id in named.iter().filter(|id| rows.iter().all(|row| row.matrix != **id)) {
        writeln!(env.stdout, "{id}: not downloaded into {shown}")?;
        missing += 1;
    }
    let unknown = match args.words.is_empty() {
        true => unknown(folder, &rows),
        false => BTreeSet::new(),
    };
    for file in &unknown {
        let path = folder.path.join(file);
        writeln!(env.stdout, "{}: its SHA-256 is not in the ledger", path.display())?;
    }
    let unknown = unknown.len();
    if !args.quiet {
        writeln!(
            env.stderr,
            "files: {correct} correct, {wrong} wrong, {missing} missing, {unknown} unknown"
        )?;
    }
    let is_bad = correct == 0 || wrong + missing + unknown > 0;
    Ok(if is_bad { CommandStatus::Bad } else { CommandStatus::Ok })
}

/// Returns the matrix files in the folder that have no row.
fn unknown(folder: &Folder, rows: &[LedgerRow]) -> BTreeSet<OsString> {
    let known: BTreeSet<&OsStr> = rows.iter().map(|row| row.file.as_ref()).collect();
    let entries = fs::read_dir(&folder.path).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.file_name()).filter(|file| is_matrix(Path::new(file)));
    files.filter(|file| !known.contains(&**file)).collect()
}
