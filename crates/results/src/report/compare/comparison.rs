//! The pairs of two files and their means: for each method, and over all.

use std::collections::{BTreeSet, HashSet};

use anyhow::{Error, Result};

use super::mean::Mean;
use super::pair::{Compared, Key, Pair, pairs};
use crate::files::read::RecordedRow;
use crate::report::groups::grouped;

#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    pub(super) a: Compared<'a>,
    pub(super) b: Compared<'a>,
    /// The pairs, in the order of A, followed by the rows that only B has, in the order of B.
    pub(super) pairs: Vec<Pair<'a>>,
    /// The mean of each method that is ok in both files, in the order of the pairs, with the label of the method.
    pub(super) methods: Vec<(String, Mean<'a>)>,
    pub(super) overall: Option<Mean<'a>>,
    pub(super) keys: BTreeSet<Key<'a>>,
    /// Whether the tables have means over matrices whose values repeat and over others apart.
    pub by_values: bool,
}

/// The key of a row that is ok in one file, and its row in the other file, which is not ok.
pub(super) type Loss<'a> = (Key<'a>, Option<&'a RecordedRow>);

impl<'a> Comparison<'a> {
    /// Compares runs. They are independent of each other, unless there are several of each side `in_turns`, of which the
    /// first of A was followed by the first of B, and so on: then the machine's drift from one turn to the next cancels.
    /// Returns an error if the files were measured in different ways, or if no rows can be paired.
    pub fn of(a: Compared<'a>, b: Compared<'a>, in_turns: bool) -> Result<Self> {
        let pairs = pairs(&a, &b, in_turns).map_err(Error::msg)?;
        let keys: HashSet<_> = pairs.iter().map(|pair| pair.key.without_matrix()).collect();
        let keys = BTreeSet::from_iter(keys);
        let changed: Vec<_> = pairs.iter().filter_map(|pair| Some((pair.key, pair.change.clone()?))).collect();
        let overall = Mean::of(&changed);
        let methods = grouped(changed, |(key, _)| key.without_matrix()).into_iter();
        let mean = |(method, changed): (Key, Vec<_>)| Some((method.label(&keys), Mean::of(&changed)?));
        let methods = methods.filter_map(mean).collect();
        Ok(Self { a, b, pairs, methods, overall, keys, by_values: false })
    }

    pub fn lost(&self) -> Vec<Loss<'a>> {
        self.losses(|pair| [pair.a, pair.b])
    }

    /// Returns the losses from the first to the second of two sides.
    pub(super) fn losses(&self, sides: fn(&Pair<'a>) -> [Option<&'a RecordedRow>; 2]) -> Vec<Loss<'a>> {
        let loss = |pair: &Pair<'a>| {
            let sides = sides(pair);
            let is_lost = sides.map(|line| line.is_some_and(RecordedRow::is_ok)) == [true, false];
            is_lost.then_some((pair.key, sides[1]))
        };
        self.pairs.iter().filter_map(loss).collect()
    }

    /// Returns how many of the pairs are faster, the same, slower, or not known to be either; `None` without pairs.
    pub fn counts(&self) -> Option<[usize; 4]> {
        Some(self.overall.as_ref()?.counts)
    }

    pub(super) fn means(&self) -> impl Iterator<Item = (&str, &Mean<'a>)> {
        let overall = self.overall.iter().map(|mean| ("over all", mean));
        self.methods.iter().map(|(label, mean)| (&label[..], mean)).chain(overall)
    }
}
