//! Which rows compete for the least time.

use std::collections::BTreeSet;

use super::Row;

/// Leaves out the items of methods that only chose another one that has an item in the same place, such as a matrix.
/// `of` returns the place of an item, its method, and the method that this one chose.
pub fn contest<'a, T, P: Ord>(
    items: impl IntoIterator<Item = T>,
    of: impl Fn(&T) -> (P, &'a str, Option<&'a str>),
) -> Vec<T> {
    let items: Vec<_> = items.into_iter().collect();
    let measured: BTreeSet<_> = items.iter().map(|item| (of(item).0, of(item).1)).collect();
    let competes = |item: &T| {
        let (place, _, picked) = of(item);
        picked.is_none_or(|picked| !measured.contains(&(place, picked)))
    };
    items.into_iter().filter(competes).collect()
}

/// Returns the rows of a matrix that compete, each with its place.
pub fn contestants(rows: &[Row]) -> Vec<(usize, &Row)> {
    contest(timed(rows), |(_, row)| ((), row.method_name.as_deref().unwrap_or_default(), row.picked.as_deref()))
}

/// Returns the rows with a time, each with its place.
pub fn timed(rows: &[Row]) -> impl Iterator<Item = (usize, &Row)> {
    let rows = rows.iter().enumerate();
    rows.filter(|(_, row)| row.is_ok() && row.typical_ms().is_some())
}
