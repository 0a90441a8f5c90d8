//! Reads recorded rows and shows them: tables and charts are first built as data, then written as text, Markdown,
//! SVG and HTML. No code here runs a method.

pub mod advice;
pub mod chart;
pub mod compare;
pub mod identity;
pub mod matched;
pub mod means;
pub mod names;
pub mod numeric;
pub mod overview;
pub mod page;
pub mod published;
pub mod ranking;
pub mod select;
pub mod standings;
pub mod views;

use std::collections::BTreeMap;

use crate::table::Table;
use chart::Chart;
use means::Kinds;

/// A titled part of a page: a chart, a table, or both with the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// What is shown, and of which rows (precision, device, cache and order where they matter).
    pub title: String,
    /// What the reader needs to know: matrices left out, formulas, the meaning of marks.
    pub notes: Vec<String>,
    pub chart: Option<Chart>,
    /// The line below a chart that is a file of its own: the matrices, their settings, where and when measured.
    pub foot: String,
    pub table: Option<Table>,
    /// The kinds of matrices that its means are over, which the page explains.
    pub kinds: Kinds,
}

impl View {
    fn of(
        notes: Vec<String>,
        chart: impl Into<Option<Chart>>,
        table: impl Into<Option<Table>>,
    ) -> Self {
        Self { notes, chart: chart.into(), table: table.into(), ..Self::default() }
    }
}

/// Groups items by key, in the order in which the keys first appear.
fn grouped<K: Ord + Clone, T>(
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

/// Returns for each key the item with the least number, the first if several are equal.
fn least<K: Ord, T: Copy>(items: impl IntoIterator<Item = (K, (T, f64))>) -> BTreeMap<K, (T, f64)> {
    let mut least = BTreeMap::new();
    for (key, item) in items {
        let known = least.entry(key).or_insert(item);
        if item.1 < known.1 {
            *known = item;
        }
    }
    least
}

#[cfg(test)]
pub(crate) fn row(file: &str, method: &str, ms: f64) -> crate::row::Row {
    crate::row::Row {
        file: file.into(),
        method_name: Some(method.into()),
        avg_spmv_ms: Some(ms),
        precision: Some(spmv_matrix::scalar::Precision::F64),
        device: Some(spmv_matrix::device::Device::Cpu),
        threads: Some(2),
        status: Some(crate::row::Status::Ok),
        ..Default::default()
    }
}
