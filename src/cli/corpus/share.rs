//! `--shard k/n`: shares of a corpus that take about as long as each other, the same on every machine.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::bench::plan::Settings;
use crate::cache::hex;
use crate::cli::progress::estimate::{Estimate, entries};
use crate::matrix::source::Source;
use crate::record::run::{Corpus, Shard};

/// About as many methods as the program has. How many a machine can run must not matter.
const METHODS: usize = 30;

/// More shares than any collection has matrices.
const MOST: usize = 100_000;

/// The share of a corpus that one run measures.
pub struct Share {
    /// What and how many bytes each, in order.
    pub sources: Vec<(Source, u64)>,
    /// For the run's record.
    pub corpus: Corpus,
}

impl Share {
    /// The share of `all`, each matrix of which counts once.
    pub fn of(all: Vec<(Source, u64)>, shard: Shard, settings: &Settings) -> Self {
        let mut seen = BTreeSet::new();
        let all: Vec<_> =
            all.into_iter().filter(|(source, _)| seen.insert(source.to_string())).collect();
        let mut hash = Sha256::new();
        for (source, bytes) in &all {
            hash.update(format!("{source}\0{bytes}\0"));
        }
        let works: Vec<_> =
            all.iter().map(|(source, bytes)| work(source, *bytes, settings)).collect();
        let owners = owners(&works, shard.of);
        let (matrices, mut files, mut sources) = (all.len(), Vec::new(), Vec::new());
        for (place, (source, bytes)) in all.into_iter().enumerate() {
            if owners[place] == shard.number - 1 {
                files.push((place, source.to_string()));
                sources.push((source, bytes));
            }
        }
        Self { sources, corpus: Corpus { shard, matrices, hash: hex(hash), files } }
    }
}

/// About how long a matrix takes, in nanoseconds. It depends on nothing but the command line and the file's size.
fn work(source: &Source, bytes: u64, settings: &Settings) -> u128 {
    let seconds = Estimate::of(entries(source, bytes), settings).seconds(METHODS);
    (1e9 * seconds) as u128
}

/// The share that each matrix belongs to: the one with the most work first, always into the share that
/// has the least so far (Graham's rule: no share has more than 4/3 of the least possible).
fn owners(works: &[u128], shares: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..works.len()).collect();
    order.sort_by_key(|&place| (std::cmp::Reverse(works[place]), place));
    // Further shares stay empty.
    let used = shares.min(works.len());
    let (mut totals, mut owners) = (vec![0; used], vec![0; works.len()]);
    for place in order {
        let least = (0..used).min_by_key(|&share| totals[share]).expect("one share at least");
        totals[least] += works[place];
        owners[place] = least;
    }
    owners
}

/// `k/n`.
pub fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    let Some((number, of)) = numbers else { return Err("it must be K/N, such as 3/8".into()) };
    let shard = Shard { number, of };
    is_share(shard).map(|()| shard)
}

/// Whether there is such a share.
///
/// # Errors
/// Why not.
pub fn is_share(Shard { number, of }: Shard) -> Result<(), String> {
    if of > MOST {
        return Err(format!("{of} shares are too many; there can be {MOST} at most"));
    }
    if number == 0 || number > of {
        return Err(format!(
            "there is no share {number} of {of}; the shares are 1/{of} to {of}/{of}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bench::plan::Protocol;

    proptest! {
        /// Every matrix is in one share, and no share has more than the mean and a matrix more.
        #[test]
        fn shares_are_a_partition_and_even(
            works in prop::collection::vec(1u128..1000, 1..60),
            shares in 1usize..9,
        ) {
            let owners = owners(&works, shares);
            let total = |share| -> u128 {
                let own = owners.iter().zip(&works).filter(|(owner, _)| **owner == share);
                own.map(|(_, work)| work).sum()
            };
            let totals: Vec<u128> = (0..shares).map(total).collect();
            let (all, largest) = (works.iter().sum::<u128>(), *works.iter().max().unwrap());
            prop_assert_eq!(totals.iter().sum::<u128>(), all);
            let most = all + largest * (shares as u128 - 1);
            prop_assert!(totals.iter().all(|&total| total * shares as u128 <= most), "{totals:?}");
        }
    }

    #[test]
    fn work_is_by_hand() {
        let settings = Settings::new(Protocol::MergeSpmv);
        let work =
            |name: &str, bytes| work(&Source::parse(name.as_ref()).unwrap(), bytes, &settings);
        // A million entries: a tenth of a second to read, a product of a millisecond, and 30 methods of two seconds
        // each, with 100 products for setup and verification and 47 ms besides.
        let million = 110_000_000 + 30 * (2_000_000_000 + 100_000_000 + 47_000_000);
        for (name, bytes) in
            [("a.mtx", 12_000_000), ("a.tar.gz", 3_000_000), ("gen:dense,rows=1000,cols=1000", 0)]
        {
            assert!(work(name, bytes).abs_diff(million) < 100, "{name}: {}", work(name, bytes));
        }
        // The largest first, into the emptiest share.
        assert_eq!(owners(&[5, 9, 4, 4, 7], 2), [1, 0, 0, 1, 1]);
        assert_eq!(owners(&[5, 9], usize::MAX), [1, 0]);
    }

    #[test]
    fn a_share_is_k_of_n() {
        assert_eq!(shard("3/8"), Ok(Shard { number: 3, of: 8 }));
        assert_eq!(shard("1/100000"), Ok(Shard { number: 1, of: 100_000 }));
        for text in ["", "3", "a/b", "0/4", "5/4", "-1/2", "1/0", "1/100001"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_know_their_places_and_the_whole() {
        let all: Vec<_> =
            ["b", "a", "c", "a"].iter().map(|name| (Source::File(name.into()), 7)).collect();
        let settings = Settings::new(Protocol::MergeSpmv);
        let share = |number| Share::of(all.clone(), Shard { number, of: 2 }, &settings).corpus;
        let (first, second) = (share(1), share(2));
        assert_eq!(first.files, [(0, "b".to_owned()), (2, "c".to_owned())]);
        assert_eq!(second.files, [(1, "a".to_owned())], "named twice, it is measured once");
        assert_eq!((first.matrices, &first.hash), (3, &second.hash));
        assert_ne!(Share::of(all[..2].to_vec(), first.shard, &settings).corpus.hash, first.hash);
    }
}
