//! Which rows compete for the least time.

use super::Row;

/// Returns the rows with a time, each with its place, except those of methods that chose one of the other rows.
pub fn contest(rows: &[Row]) -> impl Iterator<Item = (usize, &Row)> {
    let chose_other = move |row: &Row| {
        let is_chosen = |(_, other): (usize, &Row)| other.method_name.as_deref() == row.picked();
        row.picked().is_some() && timed(rows).any(is_chosen)
    };
    timed(rows).filter(move |(_, row)| !chose_other(row))
}

/// Returns the rows with a time, each with its place.
pub fn timed(rows: &[Row]) -> impl Iterator<Item = (usize, &Row)> {
    let rows = rows.iter().enumerate();
    rows.filter(|(_, row)| row.is_ok() && row.typical_ms().is_some())
}
