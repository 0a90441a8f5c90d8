//! `spmv-bench fetch --verify`.

use std::collections::BTreeSet;

use anyhow::Result;

use super::args::FetchArgs;
use super::choose::ids;
use crate::cli::{Verdict, World};
use crate::datasets::Datasets;
use crate::fetch::folder::Folder;
use crate::fetch::ledger::{Ledger, Line};
use crate::fetch::verify::{Finding, verify};

/// Hashes the ledger's files, of all matrices or of those named.
pub fn run(
    args: &FetchArgs,
    datasets: &Datasets,
    folder: &Folder,
    world: &mut World,
) -> Result<Verdict> {
    let ledger = Ledger::read(folder)?;
    let named = ids(&args.words, datasets)?;
    let is_named = |line: &&Line| args.words.is_empty() || named.contains(&line.matrix);
    let interrupted = || world.interrupted.load(std::sync::atomic::Ordering::Relaxed);
    let (mut right, mut wrong, mut missing) = (0, 0, 0);
    for line in ledger.lines().iter().filter(is_named) {
        let file = folder.file(&line.file);
        let file = file.display();
        match verify(folder, line, &interrupted)? {
            Finding::Right => right += 1,
            Finding::Wrong(how) => {
                wrong += 1;
                writeln!(world.stdout, "{file}: {how}")?;
            }
            Finding::Missing => {
                missing += 1;
                writeln!(world.stdout, "{file}: missing")?;
            }
        }
    }
    let brought: BTreeSet<&str> = ledger.lines().iter().map(|line| line.matrix.as_str()).collect();
    let unknown: BTreeSet<&String> =
        named.iter().filter(|id| !brought.contains(id.as_str())).collect();
    for id in &unknown {
        writeln!(world.stdout, "{id}: not brought into {}", folder.path().display())?;
    }
    missing += unknown.len();
    if !args.quiet {
        writeln!(world.stderr, "files: {right} right, {wrong} wrong, {missing} missing")?;
    }
    Ok(if wrong + missing == 0 { Verdict::Ok } else { Verdict::Bad })
}
