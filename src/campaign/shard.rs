//! `--shard k/n`: splits a corpus into shards that take about the same time. The split is the same on every
//! machine.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::resume::Begun;
use super::work::Work;
use crate::campaign::progress::estimate::{Estimate, entries};
use spmv_matrix::cache::hex;
use spmv_matrix::source::Source;
use spmv_results::run::{Corpus, Shard};
use spmv_results::settings::Settings;

/// About the number of methods: a constant, because the split must not depend on what a machine can run.
const METHODS: usize = 30;

/// The matrices of a shard.
pub struct ShardMatrices {
    /// In the order of measurement.
    pub matrices: Vec<Work>,
    pub corpus: Corpus,
    /// The number of all matrices now, if it is another set than that of which the run that is continued is a shard.
    pub others: Option<usize>,
}

impl ShardMatrices {
    /// Selects the matrices of the shard from those of a command, `all`, with the `folders` that it names. A shard that
    /// is continued keeps its matrices: if files came or went, other shards would not know of it.
    pub fn of(
        all: Vec<(Source, u64)>,
        folders: &[PathBuf],
        shard: Shard,
        settings: &Settings,
        begun: &mut Begun,
    ) -> Self {
        let mut all = distinct(all, folders);
        begun.continue_with(&mut all);
        let (number_of_all, hash) = (all.len(), hash(&all));
        let then = begun.corpus().filter(|then| then.shard == shard);
        let fixed = then.filter(|then| shard.of > 1 && then.hash != hash);
        let owners = owners(&all, shard.of, settings);
        let own = |(place, matrix): (usize, Work)| match fixed {
            Some(then) => {
                let file = then.files.iter().find(|(_, name)| *name == matrix.name)?;
                Some((file.0, matrix))
            }
            None => (owners[place] == shard.number - 1).then_some((place, matrix)),
        };
        let own: Vec<_> = all.into_iter().enumerate().filter_map(own).collect();
        let files = own.iter().map(|(place, matrix)| (*place, matrix.name.clone())).collect();
        let matrices: Vec<_> = own.into_iter().map(|(_, matrix)| matrix).collect();
        let stored = begun.stored(&matrices);
        let (number, hash) = fixed.map_or((number_of_all, hash), |then| (then.matrices, then.hash.clone()));
        Self {
            matrices,
            corpus: Corpus { shard, matrices: number, hash, files, stored },
            others: fixed.map(|_| number_of_all),
        }
    }
}

/// Returns the matrices without duplicates, also if a path is written in another way.
fn distinct(all: Vec<(Source, u64)>, folders: &[PathBuf]) -> Vec<Work> {
    let mut seen = BTreeSet::new();
    let all = all.into_iter().map(|(source, bytes)| Work::in_folders(source, bytes, folders));
    all.filter(|matrix| seen.insert(matrix.place().to_owned())).collect()
}

/// Hashes what the division into shards depends on.
fn hash(all: &[Work]) -> String {
    let mut hash = Sha256::new();
    for matrix in all {
        hash.update(format!("{}\0{}\0", matrix.below(), matrix.bytes));
    }
    hex(hash)
}

/// Estimates the time for a matrix in nanoseconds. It depends only on the command line and the file size.
fn work(source: &Source, bytes: u64, settings: &Settings) -> u128 {
    let seconds = Estimate::of(entries(source, bytes), settings).seconds(METHODS);
    (1e9 * seconds) as u128
}

fn owners(all: &[Work], shards: usize, settings: &Settings) -> Vec<usize> {
    let works = all.iter().map(|matrix| work(&matrix.source, matrix.bytes, settings));
    divided(&works.collect::<Vec<_>>(), shards)
}

/// Returns the index of the shard of each matrix: in decreasing order of work, each matrix is assigned to the
/// shard with the least work so far (Graham's LPT rule: no shard exceeds 4/3 of the optimum).
fn divided(works: &[u128], shards: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..works.len()).collect();
    order.sort_by_key(|&place| (std::cmp::Reverse(works[place]), place));
    // If there are more shards than matrices, the others stay empty.
    let used = shards.min(works.len());
    let (mut totals, mut owners) = (vec![0; used], vec![0; works.len()]);
    for place in order {
        let least = (0..used).min_by_key(|&shard| totals[shard]).expect("there is at least one shard");
        totals[least] += works[place];
        owners[place] = least;
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_results::settings::Protocol;

    #[test]
    fn work_is_by_hand() {
        let settings = Settings::new(Protocol::MergeSpmv);
        let work = |name: &str, bytes| work(&Source::parse(name.as_ref()).unwrap(), bytes, &settings);
        // A million entries and 1 ms per product: three processes read for 0.11 s, have a duel of 1.8 s, and prepare 30
        // methods in 45 ms each. A method has six turns of 100 ms, with 17 ms for what belongs to each.
        let million = 3 * (1_910_000_000 + 30 * 45_000_000) + 30 * 6 * 117_000_000;
        // Ten entries: 200000 products in 2 ms, and 5 ms and 7 ms for a preparation and a turn.
        let ten = 3 * (6_001_100 + 30 * 5_000_400) + 30 * (2_000_000 + 6 * 7_000_100);
        for (name, bytes, nanoseconds) in [
            ("a.mtx", 12_000_000, million),
            ("a.tar.gz", 3_000_000, million),
            ("gen:dense,rows=1000,cols=1000", 0, million),
            ("a.mtx", 120, ten),
        ] {
            let found = work(name, bytes);
            assert!(found.abs_diff(nanoseconds) < 100, "{name}, {bytes} bytes: {found}");
        }
        assert!(work("a.mtx.gz", u64::MAX) > million, "no overflow");
        // In decreasing order, into the shard with the least work.
        assert_eq!(divided(&[5, 9, 4, 4, 7], 2), [1, 0, 0, 1, 1]);
        assert_eq!(divided(&[5, 9], usize::MAX), [1, 0]);
    }

    #[test]
    fn shards_know_their_places_and_the_whole() {
        let all: Vec<_> = ["b", "a", "c", "a"].iter().map(|name| (Source::File(name.into()), 7)).collect();
        let settings = Settings::new(Protocol::MergeSpmv);
        let corpus = |all: &[(Source, u64)], number| {
            let (shard, mut begun) = (Shard { number, of: 2 }, Begun::default());
            ShardMatrices::of(all.to_vec(), &[], shard, &settings, &mut begun).corpus
        };
        let (first, second) = (corpus(&all, 1), corpus(&all, 2));
        assert_eq!(first.files, [(0, "b".to_owned()), (2, "c".to_owned())]);
        assert_eq!(second.files, [(1, "a".to_owned())], "named twice, it is measured once");
        assert_eq!((first.matrices, &first.hash), (3, &second.hash));
        assert_ne!(corpus(&all[..2], 1).hash, first.hash);
    }
}
