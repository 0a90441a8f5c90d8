//! The rows of one of two files, by what they measure.

use std::collections::BTreeMap;

use super::error::CompareError;
use super::key::Key;
use crate::bench::plan::CacheState;
use crate::record::read::RecordedRow;
use spmv_matrix::order::Order;

/// The rows of one of the two files.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The name of the file in messages.
    pub name: &'a str,
    /// The rows that are compared.
    pub lines: &'a [RecordedRow],
}

/// The rows of one file by key.
pub(super) struct Rows<'a> {
    /// The keys, in the order of the file.
    pub(super) keys: Vec<Key<'a>>,
    pub(super) measured: BTreeMap<Key<'a>, &'a RecordedRow>,
    /// Matrices on which no method ran, each with the row that gives the reason.
    ended: BTreeMap<&'a str, &'a RecordedRow>,
    /// The cache state and order of all rows.
    pub(super) way: Option<(CacheState, Order)>,
}

impl<'a> Rows<'a> {
    pub(super) fn of(side: &Compared<'a>) -> Result<Self, CompareError> {
        let mut rows =
            Self { keys: vec![], measured: BTreeMap::new(), ended: BTreeMap::new(), way: None };
        for line in side.lines {
            let key = Key::of(line);
            if key.method.is_empty() {
                rows.ended.insert(key.matrix, line);
                continue;
            }
            rows.check_way(side, line)?;
            check_time(side, line, &key)?;
            rows.keys.push(key);
            if rows.measured.insert(key, line).is_some() {
                let (file, row) = (side.name.to_owned(), key.describe(&line.row.file));
                return Err(CompareError::Twice { file, row });
            }
        }
        Ok(rows)
    }

    /// Returns an error if a row has another cache state or order than the rows before it. Files without these
    /// columns have hot caches and the natural order, because older versions had no others.
    fn check_way(&mut self, side: &Compared, line: &RecordedRow) -> Result<(), CompareError> {
        let way = (line.row.cache.unwrap_or(CacheState::Hot), line.row.order.unwrap_or_default());
        let known = *self.way.get_or_insert(way);
        let mixed = |column, one, other| CompareError::Mixed {
            file: side.name.to_owned(),
            column,
            one,
            other,
        };
        unlike(known, way).map_or(Ok(()), |(column, one, other)| Err(mixed(column, one, other)))
    }

    /// Returns the row of a key, or the row that gives the reason if no method ran on its matrix.
    pub(super) fn find(&self, key: &Key) -> Option<&'a RecordedRow> {
        self.measured.get(key).or_else(|| self.ended.get(key.matrix)).copied()
    }
}

/// Returns the column in which two ways of measuring differ, and its value in each.
pub(super) fn unlike(
    one: (CacheState, Order),
    other: (CacheState, Order),
) -> Option<(&'static str, &'static str, &'static str)> {
    let cache = (one.0 != other.0).then(|| ("cache", one.0.name(), other.0.name()));
    cache.or_else(|| (one.1 != other.1).then(|| ("order", one.1.name(), other.1.name())))
}

/// Returns an error if a row is ok but has no valid time.
fn check_time(side: &Compared, line: &RecordedRow, key: &Key) -> Result<(), CompareError> {
    if !line.is_ok() || line.row.typical_ms().is_some_and(|ms| ms > 0.0 && ms.is_finite()) {
        return Ok(());
    }
    let column = if line.row.median_ms.is_some() { "median_ms" } else { "avg_spmv_ms" };
    let value = line.row.typical_ms().map(|ms| format!("{ms:?}")).unwrap_or_default();
    let (file, row) = (side.name.to_owned(), key.describe(&line.row.file));
    Err(CompareError::NoTime { file, row, column, value })
}
