//! Items by key.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Groups items by key, in the order in which the keys first appear.
pub(super) fn grouped<K: Eq + Hash + Clone, T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut places = HashMap::new();
    let mut groups = Vec::<(K, Vec<T>)>::new();
    for item in items {
        let key = key(&item);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(item);
    }
    groups
}

/// Returns for each key the item with the least number, the first if several are equal.
pub(super) fn least<K: Ord, T: Copy>(items: impl IntoIterator<Item = (K, (T, f64))>) -> BTreeMap<K, (T, f64)> {
    let mut least = BTreeMap::new();
    for (key, item) in items {
        let known = least.entry(key).or_insert(item);
        if item.1 < known.1 {
            *known = item;
        }
    }
    least
}
