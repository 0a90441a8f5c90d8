//! Compares two result files row by row: which rows became faster, slower, or wrong.

pub mod error;
pub mod key;
pub mod losses;
pub mod pair;
pub mod ratio;
pub mod rows;
pub mod show;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use error::CompareError;
use key::Key;
use pair::{Pair, pairs};
use ratio::Mean;
pub use rows::Compared;

use super::grouped::grouped;

/// The result of comparing file B with file A.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The file that is the baseline.
    pub a: Compared<'a>,
    /// The file that is judged.
    pub b: Compared<'a>,
    /// The pairs, in the order of A, followed by the rows that only B has, in the order of B.
    pub pairs: Vec<Pair<'a>>,
    /// The mean of each method that is ok in both files, in the order of the pairs.
    pub methods: Vec<Group<'a>>,
    /// The mean over all pairs, or `None` if no pair is ok in both files.
    pub overall: Option<Mean<'a>>,
    /// The keys of all pairs, without their matrices.
    keys: BTreeSet<Key<'a>>,
}

/// The pairs of a method in one precision, on one device and with one number of threads.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The method, with whatever distinguishes it from others of the same name.
    pub label: String,
    /// The mean over the matrices.
    pub mean: Mean<'a>,
}

impl<'a> Comparison<'a> {
    /// Pairs the rows and judges the changes.
    ///
    /// # Errors
    /// Returns an error if the files were measured in different ways, or if no rows can be paired.
    pub fn of(a: Compared<'a>, b: Compared<'a>) -> Result<Self, CompareError> {
        let pairs = pairs(&a, &b)?;
        let changed = pairs.iter().filter_map(|pair| Some((pair.key, pair.change?)));
        let changed: Vec<_> = changed.collect();
        let overall = Mean::of(&changed);
        let keys: BTreeSet<_> = pairs.iter().map(|pair| pair.key.without_matrix()).collect();
        let methods = grouped(changed, |(key, _)| key.without_matrix()).into_iter();
        let group = |(method, changed): (Key<'a>, Vec<_>)| {
            Some(Group { label: method.label(&keys), mean: Mean::of(&changed)? })
        };
        let methods = methods.filter_map(group).collect();
        Ok(Self { a, b, pairs, methods, overall, keys })
    }

    /// Returns the labels of the rows that only A has, and of those that only B has, each with the number of
    /// rows.
    pub fn unpaired(&self) -> [BTreeMap<String, usize>; 2] {
        let of = |missing: fn(&Pair) -> bool| {
            let mut counts = BTreeMap::new();
            for pair in self.pairs.iter().filter(|pair| missing(pair)) {
                *counts.entry(self.label(&pair.key)).or_default() += 1;
            }
            counts
        };
        [of(|pair| pair.b.is_none()), of(|pair| pair.a.is_none())]
    }

    /// Returns the method, with whatever distinguishes it from others of the same name.
    pub fn label(&self, key: &Key) -> String {
        key.label(&self.keys)
    }

    /// Returns the means, of each method and over all, whose whole interval is above a slow-down of B by
    /// `percent`.
    pub fn slower_by(&self, percent: f64) -> Vec<(&str, &Mean<'a>)> {
        let bound = 1.0 + percent / 100.0;
        self.means().filter(|(_, mean)| mean.interval.is_some_and(|(low, _)| low > bound)).collect()
    }

    /// Returns the labels of the means that have no interval.
    pub fn unjudged(&self) -> Vec<&str> {
        self.means().filter(|(_, mean)| mean.interval.is_none()).map(|(label, _)| label).collect()
    }

    fn means(&self) -> impl Iterator<Item = (&str, &Mean<'a>)> {
        let overall = self.overall.iter().map(|mean| ("over all", mean));
        self.methods.iter().map(|group| (&group.label[..], &group.mean)).chain(overall)
    }
}
