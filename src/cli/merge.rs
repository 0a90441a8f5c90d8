//! `spmv-bench merge`: the files of a corpus' shares joined, if they belong together and nothing is missing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use super::corpus::results::{done, read_record, read_rows};
use super::corpus::same::differences;
use super::run_facts::{Recording, beside};
use super::{Verdict, World};
use crate::record::file::RowFile;
use crate::record::row::Row;
use crate::record::run::{Corpus, RunRecord, Shard};

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Files that corpus --shard --output has written, each with its FILE.run.json beside it
    #[arg(required = true, value_name = "CSV")]
    pub files: Vec<PathBuf>,
    /// Write the rows to a file, and the facts of the run to FILE.run.json, not to stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A share's file.
struct Part {
    path: PathBuf,
    record: RunRecord,
    corpus: Corpus,
    rows: HashMap<String, Vec<Row>>,
}

/// Runs the command.
pub fn run(args: &MergeArgs, world: &mut World) -> Result<Verdict> {
    let mut parts = args.files.iter().map(|path| Part::read(path)).collect::<Result<Vec<_>>>()?;
    parts.sort_by_key(|part| part.corpus.shard.number);
    check(&parts)?;
    let missing = missing(&parts);
    let (record, rows) = join(parts);
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    match &args.output {
        Some(path) => {
            let mut file = RowFile::open::<Row>(path)?;
            ensure!(
                file.is_empty(),
                "{} is there already: remove it, or name another",
                path.display()
            );
            file.add(&rows)?;
            Recording::begin(Some(beside(path)), record, world.readings, true, world.stderr)?;
        }
        None => {
            let mut writer = csv::Writer::from_writer(&mut *world.stdout);
            rows.iter().try_for_each(|row| writer.serialize(row))?;
            writer.flush()?;
        }
    }
    for line in &missing {
        writeln!(world.stderr, "missing: {line}")?;
    }
    Ok(if missing.is_empty() { Verdict::Ok } else { Verdict::Bad })
}

impl Part {
    fn read(path: &Path) -> Result<Self> {
        let record = read_record(&beside(path))?;
        let corpus = record.corpus.clone();
        let corpus = corpus.with_context(|| format!("{} is not of a corpus", path.display()))?;
        Ok(Self { path: path.to_owned(), record, corpus, rows: read_rows(path)? })
    }
}

/// Whether the files are shares of one corpus that were measured alike.
fn check(parts: &[Part]) -> Result<()> {
    let first = &parts[0];
    for pair in parts.windows(2) {
        let [a, b] = [&pair[0], &pair[1]].map(|part| part.path.display());
        let [of_a, of_b] = [&pair[0].corpus, &pair[1].corpus];
        let (share, shares) = (of_a.shard.number, of_a.shard.of);
        ensure!(shares == of_b.shard.of, "{a} is of {shares} shares, {b} of {}", of_b.shard.of);
        ensure!(of_a.shard != of_b.shard, "{a} and {b} are both share {share} of {shares}");
    }
    for other in &parts[1..] {
        let (a, b) = (first.path.display(), other.path.display());
        let [all, others] = [first.corpus.matrices, other.corpus.matrices];
        if first.corpus.hash != other.corpus.hash {
            bail!(
                "{a} and {b} are of other matrices ({all} and {others}, with their files' sizes)"
            );
        }
        let differing = differences(&first.record, &other.record);
        ensure!(
            differing.is_empty(),
            "{a} and {b} were measured otherwise: {}",
            differing.join("; ")
        );
    }
    Ok(())
}

/// Shares without a file, and matrices and methods without a row.
fn missing(parts: &[Part]) -> Vec<String> {
    let of = parts[0].corpus.shard.of;
    let there: BTreeSet<_> = parts.iter().map(|part| part.corpus.shard.number).collect();
    let shares = (1..=of).filter(|number| !there.contains(number));
    let mut missing: Vec<_> = shares.map(|number| format!("share {number}/{of}")).collect();
    for Part { path, record, corpus, rows } in parts {
        for (_, file) in &corpus.files {
            let rows = rows.get(file).map_or(&[][..], Vec::as_slice);
            let Some(done) = done(rows, &record.cells) else { continue };
            let open = record.cells.iter().filter(|cell| !done.contains(cell));
            let open: Vec<_> = open.map(|cell| &*cell.method).collect();
            let (path, Shard { number, .. }) = (path.display(), corpus.shard);
            let (count, methods) = (open.len(), open.join(", "));
            missing.push(format!("{file} in {path} (share {number}): {count} rows ({methods})"));
        }
    }
    missing
}

/// The facts of the whole, and the rows by matrix in the order of an undivided run.
fn join(parts: Vec<Part>) -> (RunRecord, Vec<Vec<Row>>) {
    let (mut files, mut sessions) = (BTreeMap::new(), Vec::new());
    let mut rows = BTreeMap::new();
    let first = parts[0].record.clone();
    let cell_places: HashMap<_, _> =
        first.cells.iter().enumerate().map(|(place, cell)| (cell, place)).collect();
    for part in &parts {
        files.extend(part.corpus.files.iter().cloned());
        sessions.extend(part.record.sessions.iter().cloned());
    }
    let places: HashMap<_, _> = files.iter().map(|(place, file)| (file, *place)).collect();
    for (file, mut own) in parts.into_iter().flat_map(|part| part.rows) {
        own.sort_by_key(|row| row.cell().and_then(|cell| cell_places.get(&cell).copied()));
        // What is no longer in the folder comes last.
        let place = places.get(&file).copied().unwrap_or(usize::MAX);
        rows.insert((place, file), own);
    }
    let whole = Shard { number: 1, of: 1 };
    let corpus = first.corpus.clone().map(|corpus| Corpus {
        shard: whole,
        files: files.clone().into_iter().collect(),
        ..corpus
    });
    (RunRecord { corpus, sessions, ..first }, rows.into_values().collect())
}
