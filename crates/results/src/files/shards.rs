//! The result files of a corpus' shards, and what they have together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};

use super::run_record::{read_record, read_rows, record_to_read};
use crate::row::{Row, RowKey, open_cells};
use crate::run::facts::differences_to_join;
use crate::run::{ClockRange, Corpus, GpuRecord, RunRecord, Shard};

/// A run whose shards were measured separately.
pub struct Merged {
    pub record: RunRecord,
    /// The rows in the order of a run without shards.
    pub rows: Vec<Row>,
    /// Descriptions of shards without a file, and of matrices and methods without a row.
    pub missing: Vec<String>,
}

impl Merged {
    /// Reads the files of shards, each with its run record beside it. Returns an error if they are not of the same
    /// corpus and settings.
    pub fn read(files: &[PathBuf]) -> Result<Self> {
        let mut parts = files.iter().map(|path| ShardFile::read(path)).collect::<Result<Vec<_>>>()?;
        parts.sort_by_key(|part| part.corpus.shard.number);
        check(&parts)?;
        let rows = gathered(&mut parts);
        let missing = missing(&parts, &rows);
        let (record, rows) = join(&parts, rows);
        Ok(Self { record, rows, missing })
    }
}

struct ShardFile {
    path: PathBuf,
    record: RunRecord,
    corpus: Corpus,
    rows: Vec<Row>,
}

impl ShardFile {
    fn read(path: &Path) -> Result<Self> {
        let facts = record_to_read(path);
        let record = read_record(&facts)?;
        let corpus = record
            .corpus
            .clone()
            .with_context(|| format!("{} was not written by `spmv-bench corpus`", path.display()))?;
        // Checked first, because memory is allocated for the number of shards in the file.
        let shard = corpus.shard.check();
        shard.map_err(|wrong| anyhow!("{}: corpus.shard: {wrong}", facts.display()))?;
        let rows = read_rows(path, &record)?;
        Ok(Self { path: path.to_owned(), record, corpus, rows })
    }
}

/// Checks whether the files are shards of the same corpus, measured with the same settings.
fn check(parts: &[ShardFile]) -> Result<()> {
    for pair in parts.windows(2) {
        let [a, b] = [&pair[0], &pair[1]].map(|part| part.path.display());
        let Shard { number, of } = pair[0].corpus.shard;
        let other = pair[1].corpus.shard;
        ensure!(of == other.of, "{a} is one of {of} shards, and {b} is one of {}", other.of);
        ensure!(number != other.number, "{a} and {b} are both shard {number} of {of}");
    }
    let first = &parts[0];
    for other in &parts[1..] {
        let [a, b] = [first, other].map(|part| part.path.display());
        let [all, others] = [first, other].map(|part| part.corpus.matrices);
        ensure!(
            first.corpus.hash == other.corpus.hash,
            "{a} and {b} are not shards of the same matrices: the names or sizes of the {all} and {others} files differ"
        );
        let why = differences_to_join(&first.record, &other.record).join("; ");
        ensure!(why.is_empty(), "{a} and {b} were measured with different settings: {why}");
    }
    Ok(())
}

/// Collects the rows of all parts by matrix. A matrix may occur in several parts, because it can move to another
/// shard if files are added to the folder before a run is resumed.
fn gathered(parts: &mut [ShardFile]) -> HashMap<String, Vec<Row>> {
    let mut all: HashMap<String, Vec<Row>> = HashMap::new();
    for row in parts.iter_mut().flat_map(|part| part.rows.drain(..)) {
        let there = all.entry(row.file.clone()).or_default();
        if there.iter().all(|other| other.cell() != row.cell()) {
            there.push(row);
        }
    }
    all
}

/// Returns descriptions of shards without a file, and of matrices and methods without a row.
fn missing(parts: &[ShardFile], rows: &HashMap<String, Vec<Row>>) -> Vec<String> {
    let of = parts[0].corpus.shard.of;
    let there: BTreeSet<_> = parts.iter().map(|part| part.corpus.shard.number).collect();
    let shards = (1..=of).filter(|number| !there.contains(number));
    let mut missing: Vec<_> = shards.map(|number| format!("shard {number}/{of}")).collect();
    for ShardFile { path, record, corpus, .. } in parts {
        let place = format!("{} (shard {})", path.display(), corpus.shard.number);
        for (_, file) in &corpus.files {
            let rows = rows.get(file).map_or(&[][..], Vec::as_slice);
            let open = open_cells(rows, &record.cells);
            if !open.is_empty() {
                let methods: Vec<_> = open.iter().map(|cell| &*cell.method).collect();
                let count = open.len();
                missing.push(format!("{file} in {place}: {count} rows ({})", methods.join(", ")));
            }
        }
    }
    missing
}

/// Returns the record of the merged run, and the rows in the order of a run without shards.
fn join(parts: &[ShardFile], rows: HashMap<String, Vec<Row>>) -> (RunRecord, Vec<Row>) {
    let first = parts[0].record.clone();
    let records = parts.iter().map(|part| &part.record);
    let corpora = parts.iter().map(|part| &part.corpus);
    let files: BTreeMap<_, _> = corpora.clone().flat_map(|it| it.files.iter().cloned()).collect();
    let rows = in_order(rows, &files, &first.cells);
    let clocks = records.clone().map(|record| record.gpu.as_ref()?.clocks.clone());
    let clocks = clocks.reduce(ClockRange::join).flatten();
    let joined = records.clone().flat_map(|it| it.joined.iter().chain([&it.run_id]).cloned());
    let joined: BTreeSet<_> = joined.collect();
    let corpus = Corpus {
        shard: Shard { number: 1, of: 1 },
        files: files.into_iter().collect(),
        stored: corpora.flat_map(|corpus| corpus.stored.iter().cloned()).collect(),
        ..parts[0].corpus.clone()
    };
    let record = RunRecord {
        corpus: Some(corpus),
        sessions: records.flat_map(|record| record.sessions.iter().cloned()).collect(),
        gpu: first.gpu.clone().map(|gpu| GpuRecord { clocks, ..gpu }),
        joined: joined.into_iter().collect(),
        ..first
    };
    (record, rows)
}

/// Returns the rows in the order of these files and cells. Matrices that are no longer in the folder are last.
fn in_order(rows: HashMap<String, Vec<Row>>, files: &BTreeMap<usize, String>, cells: &[RowKey]) -> Vec<Row> {
    let files: HashMap<_, _> = files.iter().map(|(place, file)| (file, *place)).collect();
    let cells: HashMap<_, _> = (0..).zip(cells).map(|(place, cell)| (cell, place)).collect();
    let mut ordered = BTreeMap::new();
    for (file, mut own) in rows {
        own.sort_by_key(|row| row.cell().and_then(|cell| cells.get(&cell).copied()));
        let place = files.get(&file).copied().unwrap_or(usize::MAX);
        ordered.insert((place, file), own);
    }
    ordered.into_values().flatten().collect()
}
