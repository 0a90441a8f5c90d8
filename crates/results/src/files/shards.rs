//! The result files of a corpus' shards, and what they have together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};

use super::run_record::{by_matrix, read_record, read_rows, record_to_read};
use crate::row::{Row, open_cells};
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
        let mut parts =
            files.iter().map(|path| ShardFile::read(path)).collect::<Result<Vec<_>>>()?;
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
    rows: HashMap<String, Vec<Row>>,
}

impl ShardFile {
    fn read(path: &Path) -> Result<Self> {
        let facts = record_to_read(path);
        let record = read_record(&facts)?;
        let corpus = record.corpus.clone();
        let corpus = corpus.with_context(|| {
            format!("{} was not written by `spmv-bench corpus`", path.display())
        })?;
        // Checked first, because memory is allocated for the number of shards in the file.
        let shard = corpus.shard.check();
        shard.map_err(|wrong| anyhow!("{}: corpus.shard: {wrong}", facts.display()))?;
        let rows = by_matrix(read_rows(path, &record)?);
        Ok(Self { path: path.to_owned(), record, corpus, rows })
    }
}

/// Checks whether the files are shards of the same corpus, measured with the same settings.
fn check(parts: &[ShardFile]) -> Result<()> {
    let first = &parts[0];
    for pair in parts.windows(2) {
        let [a, b] = [&pair[0], &pair[1]].map(|part| part.path.display());
        let [of_a, of_b] = [&pair[0], &pair[1]].map(|part| part.corpus.shard);
        let (Shard { number, of }, other) = (of_a, of_b.of);
        ensure!(of == other, "{a} is one of {of} shards, and {b} is one of {other}");
        ensure!(of_a != of_b, "{a} and {b} are both shard {number} of {of}");
    }
    for other in &parts[1..] {
        let (a, b) = (first.path.display(), other.path.display());
        let [all, others] = [first.corpus.matrices, other.corpus.matrices];
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
    for (file, rows) in parts.iter_mut().flat_map(|part| part.rows.drain()) {
        let there = all.entry(file).or_default();
        let is_new = |row: &Row| there.iter().all(|other| other.cell() != row.cell());
        let new: Vec<_> = rows.into_iter().filter(is_new).collect();
        there.extend(new);
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
        for (_, file) in &corpus.files {
            let rows = rows.get(file).map_or(&[][..], Vec::as_slice);
            let open = open_cells(rows, &record.cells);
            if open.is_empty() {
                continue;
            }
            let open: Vec<_> = open.iter().map(|cell| &*cell.method).collect();
            let (path, Shard { number, .. }) = (path.display(), corpus.shard);
            let (count, methods) = (open.len(), open.join(", "));
            missing.push(format!("{file} in {path} (shard {number}): {count} rows ({methods})"));
        }
    }
    missing
}

/// Returns the record of the merged run, and the rows in the order of a run without shards.
fn join(parts: &[ShardFile], rows: HashMap<String, Vec<Row>>) -> (RunRecord, Vec<Row>) {
    let (mut files, mut sessions, mut clocks) = (BTreeMap::new(), Vec::new(), None);
    let (mut stored, mut joined) = (Vec::new(), BTreeSet::new());
    let mut ordered = BTreeMap::new();
    let first = parts[0].record.clone();
    let cell_places: HashMap<_, _> =
        first.cells.iter().enumerate().map(|(place, cell)| (cell, place)).collect();
    for part in parts {
        let gpu = part.record.gpu.as_ref();
        clocks = ClockRange::join(clocks, gpu.and_then(|gpu| gpu.clocks.clone()));
        files.extend(part.corpus.files.iter().cloned());
        stored.extend(part.corpus.stored.iter().cloned());
        sessions.extend(part.record.sessions.iter().cloned());
        joined.extend(part.record.joined.iter().chain([&part.record.run_id]).cloned());
    }
    let joined = joined.into_iter().collect();
    let places: HashMap<_, _> = files.iter().map(|(place, file)| (file, *place)).collect();
    for (file, mut own) in rows {
        own.sort_by_key(|row| row.cell().and_then(|cell| cell_places.get(&cell).copied()));
        // Matrices that are no longer in the folder are last.
        let place = places.get(&file).copied().unwrap_or(usize::MAX);
        ordered.insert((place, file), own);
    }
    let shard = Shard { number: 1, of: 1 };
    let files = files.clone().into_iter().collect();
    let corpus = first.corpus.clone().map(|corpus| Corpus { shard, files, stored, ..corpus });
    let gpu = first.gpu.clone().map(|gpu| GpuRecord { clocks, ..gpu });
    let record = RunRecord { corpus, sessions, gpu, joined, ..first };
    (record, ordered.into_values().flatten().collect())
}
