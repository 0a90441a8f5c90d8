//! Groups of items with the same key.

use std::collections::BTreeMap;

/// Groups items by key, in the order in which the keys first appear.
pub fn grouped<K: Ord + Clone, T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let (mut places, mut groups) = (BTreeMap::new(), Vec::<(K, Vec<T>)>::new());
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
