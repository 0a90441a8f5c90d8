//! The matrices of a run, and how it recognises their files when it is continued.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The shard of a corpus that a run measures, and its matrices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corpus {
    pub shard: Shard,
    pub matrices: usize,
    pub hash: String,
    pub files: Vec<(usize, String)>,
    /// The files of its matrices, as they were when they were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<StoredFile>,
}

/// A matrix file at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// The name in rows, which is the path as it was given.
    pub name: String,
    /// A hash of the path from the root without links, so that the record does not show folders of the machine.
    pub place: String,
    /// The path below the folder that was given, or else the name of the file.
    pub below: String,
    pub bytes: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified_ms: u64,
}

impl StoredFile {
    /// Returns whether the contents may have changed since then.
    pub fn is_changed_since(&self, then: &Self) -> bool {
        (self.bytes, self.modified_ms) != (then.bytes, then.modified_ms)
    }
}

impl Corpus {
    /// Returns for each of these files the one of this corpus that it is: that at the same place. If the folder was
    /// moved or copied, it is the only one of the same size that has the same place below the folder, and is not in
    /// its own place any more.
    pub fn known(&self, now: &[StoredFile]) -> Vec<Option<StoredFile>> {
        let places: BTreeSet<_> = now.iter().map(|file| &file.place).collect();
        let moved: Vec<_> = self.stored.iter().filter(|it| !places.contains(&it.place)).collect();
        let of = |file: &StoredFile| {
            let same = self.stored.iter().find(|then| then.place == file.place);
            same.or_else(|| only_moved(&moved, file)).cloned()
        };
        now.iter().map(of).collect()
    }
}

fn only_moved<'c>(moved: &[&'c StoredFile], file: &StoredFile) -> Option<&'c StoredFile> {
    let is_alike = |then: &&&StoredFile| (&then.below, then.bytes) == (&file.below, file.bytes);
    let mut alike = moved.iter().filter(is_alike);
    let first = alike.next()?;
    alike.next().is_none().then_some(*first)
}

/// One of several parts of a corpus that are measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    pub number: usize,
    pub of: usize,
}

/// The largest permitted number of shards, more than any collection has matrices.
const MAX_SHARDS: usize = 100_000;

impl Shard {
    /// Returns an error if there is no such shard.
    pub fn check(self) -> Result<(), String> {
        let Self { number, of } = self;
        match number {
            _ if of > MAX_SHARDS => Err(format!("{of} shards are too many; at most {MAX_SHARDS} are allowed")),
            1.. if number <= of => Ok(()),
            _ => Err(format!("there is no shard {number} of {of}; the shards are 1/{of} to {of}/{of}")),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Parses a shard of the form `k/n`, the k-th of n.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        let (number, of) = numbers.ok_or("it must be K/N, such as 3/8")?;
        let shard = Self { number, of };
        shard.check().map(|()| shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_k_of_n() {
        assert_eq!("3/8".parse(), Ok(Shard { number: 3, of: 8 }));
        assert_eq!("1/100000".parse(), Ok(Shard { number: 1, of: 100_000 }));
        for text in ["", "3", "a/b", "0/4", "5/4", "-1/2", "1/0", "1/100001"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_is_known_by_its_place_or_after_a_move() {
        let file = |place: &str, below: &str, bytes| StoredFile {
            name: format!("m/{below}"),
            place: place.into(),
            below: below.into(),
            bytes,
            modified_ms: 0,
        };
        let stored = vec![file("1", "a", 7), file("2", "b", 7), file("3", "s/b", 8)];
        let shard = Shard { number: 1, of: 1 };
        let corpus = Corpus { shard, matrices: 3, hash: String::new(), files: vec![], stored };
        for (now, names) in [
            (vec![file("1", "a", 9), file("2", "b", 7)], [Some("m/a"), Some("m/b")]),
            (vec![file("8", "a", 7), file("9", "s/b", 8)], [Some("m/a"), Some("m/s/b")]),
            (vec![file("8", "a", 9), file("9", "c", 7)], [None, None]),
            (vec![file("1", "a", 7), file("9", "a", 7)], [Some("m/a"), None]),
        ] {
            let known = corpus.known(&now);
            let known: Vec<_> = known.iter().map(|it| Some(&it.as_ref()?.name[..])).collect();
            assert_eq!(known, names, "{now:?}");
        }
        assert!(file("1", "a", 7).is_changed_since(&file("1", "a", 8)));
    }
}
