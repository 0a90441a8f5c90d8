//! Two result files row by row: what became faster, what slower, and what is no longer right.

pub mod error;
pub mod facts;
pub mod losses;
pub mod pair;
pub mod ratio;
pub mod show;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::lines::RecordedRow;
use error::CompareError;
use pair::{Key, Pair, pairs};
use ratio::Mean;

/// The rows of a file.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// Those that are compared.
    pub lines: &'a [RecordedRow],
}

/// What became of the rows of A in B.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// What times are set off against.
    pub a: Compared<'a>,
    /// What is judged.
    pub b: Compared<'a>,
    /// In A's order, then what only B has, in its.
    pub pairs: Vec<Pair<'a>>,
    /// The mean of each method that is ok on both sides, in the order of the pairs.
    pub methods: Vec<Group<'a>>,
    /// The mean over all pairs; `None` when none is ok on both sides.
    pub overall: Option<Mean<'a>>,
    /// Of all pairs, without their matrices.
    keys: BTreeSet<Key<'a>>,
}

/// The pairs of a method in one precision and on so many threads.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The method, with what tells it from others of the same name.
    pub label: String,
    /// Over its matrices.
    pub mean: Mean<'a>,
}

impl<'a> Comparison<'a> {
    /// Pairs the rows and judges them.
    ///
    /// # Errors
    /// When what would be paired was not measured alike, or nothing pairs.
    pub fn of(a: Compared<'a>, b: Compared<'a>) -> Result<Self, CompareError> {
        let pairs = pairs(&a, &b)?;
        let changed = pairs.iter().filter_map(|pair| Some((pair.key, pair.change?)));
        let overall = Mean::of(changed.clone());
        let keys: BTreeSet<_> = pairs.iter().map(|pair| pair.key.without_matrix()).collect();
        let mut methods: Vec<Group> = Vec::new();
        let mut seen = BTreeSet::new();
        for method in changed.clone().map(|(key, _)| key.without_matrix()) {
            if seen.insert(method) {
                let own = changed.clone().filter(|(key, _)| key.without_matrix() == method);
                let mean = Mean::of(own).expect("it has the pair at hand");
                methods.push(Group { label: method.label(&keys), mean });
            }
        }
        Ok(Self { a, b, pairs, methods, overall, keys })
    }

    /// The labels of rows that only A has, each with their number, and of those that only B has.
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

    /// The method, with what tells it from others of the same name.
    pub fn label(&self, key: &Key) -> String {
        key.label(&self.keys)
    }

    /// The means that B is slower by than `percent`, with their whole intervals: each method's, and
    /// that over all.
    pub fn slower_by(&self, percent: f64) -> Vec<(&str, &Mean<'a>)> {
        let bound = 1.0 + percent / 100.0;
        self.means().filter(|(_, mean)| mean.interval.is_some_and(|(low, _)| low > bound)).collect()
    }

    /// The means without an interval.
    pub fn unjudged(&self) -> Vec<&str> {
        self.means().filter(|(_, mean)| mean.interval.is_none()).map(|(label, _)| label).collect()
    }

    fn means(&self) -> impl Iterator<Item = (&str, &Mean<'a>)> {
        let overall = self.overall.iter().map(|mean| ("over all", mean));
        self.methods.iter().map(|group| (&group.label[..], &group.mean)).chain(overall)
    }
}
