//! `spmv-bench fetch --verify`: verifies the hashes of the downloaded files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, ensure};

use super::args::FetchArgs;
use super::choose::ids;
use crate::cli::command::{CommandStatus, Env};
use crate::collection::Datasets;
use crate::collection::fetch::FetchError;
use crate::collection::fetch::folder::Folder;
use crate::collection::fetch::ledger::Ledger;
use crate::collection::fetch::row::LedgerRow;
use crate::collection::fetch::verify::{Finding, verify};
use spmv_matrix::archive::is_matrix;

/// The numbers of files in the summary.
#[derive(Default)]
struct Tally {
    right: usize,
    wrong: usize,
    missing: usize,
    /// Files whose hash is not known.
    unknown: usize,
}

/// Verifies the hashes of the files in the ledger, of all matrices or of the named ones. The status is bad if a
/// file is wrong, missing or not in the ledger, or if there is no file at all.
pub fn run(
    args: &FetchArgs,
    datasets: &Datasets,
    folder: &Folder,
    env: &mut Env,
) -> Result<CommandStatus> {
    let named = ids(&args.words, datasets)?;
    let shown = folder.path().display();
    ensure!(
        folder.path().is_dir(),
        "{shown}: there is no such folder to verify; use --to for another folder, or `spmv-bench fetch` \
         without --verify to download matrices"
    );
    let ledger = Ledger::read(folder)?;
    let is_named = |line: &&LedgerRow| args.words.is_empty() || named.contains(&line.matrix);
    let interrupted = || env.interrupted.load(std::sync::atomic::Ordering::Relaxed);
    let mut tally = Tally::default();
    for line in lines(&ledger).filter(is_named) {
        let finding = find(folder, &ledger, line, &interrupted)?;
        tally.take(&folder.file(&line.file), finding, env.stdout)?;
    }
    let downloaded: BTreeSet<&str> = lines(&ledger).map(|line| line.matrix.as_str()).collect();
    for id in named.iter().filter(|id| !downloaded.contains(id.as_str())).collect::<BTreeSet<_>>() {
        writeln!(env.stdout, "{id}: not downloaded into {}", folder.path().display())?;
        tally.missing += 1;
    }
    if args.words.is_empty() {
        tally.unknown = unknown(folder, &ledger, env.stdout)?;
    }
    if !args.quiet {
        tally.write(env.stderr)?;
    }
    Ok(tally.verdict())
}

/// Returns one line per file: the lines of the ledger, and the pending lines of a run that was killed.
fn lines(ledger: &Ledger) -> impl Iterator<Item = &LedgerRow> {
    let entered = |file: &str| ledger.owner(file).is_some();
    let pending = ledger.pending().iter().filter(move |line| !entered(&line.file));
    ledger.lines().iter().chain(pending)
}

/// Verifies a file. It is right if it matches its line in the ledger or its pending line: a killed run may
/// already have renamed the new file.
fn find(
    folder: &Folder,
    ledger: &Ledger,
    line: &LedgerRow,
    interrupted: &dyn Fn() -> bool,
) -> Result<Finding, FetchError> {
    let found = verify(folder, line, interrupted)?;
    match ledger.pending().iter().find(|pending| pending.file == line.file) {
        Some(pending) if found != Finding::Right => {
            let announced = verify(folder, pending, interrupted)?;
            Ok(if announced == Finding::Right { announced } else { found })
        }
        _ => Ok(found),
    }
}

/// Prints the matrix files in the folder that are not in the ledger. Returns their number.
fn unknown(folder: &Folder, ledger: &Ledger, out: &mut dyn Write) -> io::Result<usize> {
    let known: BTreeSet<&str> = lines(ledger).map(|line| line.file.as_str()).collect();
    let entries = fs::read_dir(folder.path()).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name()).filter(|name| is_matrix(Path::new(name)));
    let unknown: BTreeSet<_> =
        names.filter(|name| !name.to_str().is_some_and(|name| known.contains(name))).collect();
    for name in &unknown {
        let path = folder.path().join(name);
        writeln!(out, "{}: its SHA-256 is not in the ledger", path.display())?;
    }
    Ok(unknown.len())
}

impl Tally {
    fn take(&mut self, file: &Path, finding: Finding, out: &mut dyn Write) -> io::Result<()> {
        let file = file.display();
        match finding {
            Finding::Right => self.right += 1,
            Finding::Wrong(how) => {
                self.wrong += 1;
                writeln!(out, "{file}: {how}")?;
            }
            Finding::Missing => {
                self.missing += 1;
                writeln!(out, "{file}: missing")?;
            }
        }
        Ok(())
    }

    fn write(&self, stderr: &mut dyn Write) -> io::Result<()> {
        let Self { right, wrong, missing, unknown } = self;
        writeln!(
            stderr,
            "files: {right} right, {wrong} wrong, {missing} missing, {unknown} unknown"
        )
    }

    fn verdict(&self) -> CommandStatus {
        let is_bad = self.right == 0 || self.wrong + self.missing + self.unknown > 0;
        if is_bad { CommandStatus::Bad } else { CommandStatus::Ok }
    }
}
