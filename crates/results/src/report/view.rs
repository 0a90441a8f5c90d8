//! A part of a page, as data.

use super::chart::Chart;
use super::means::Kinds;
use crate::table::Table;

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
    pub(super) fn of(notes: Vec<String>, chart: impl Into<Option<Chart>>, table: impl Into<Option<Table>>) -> Self {
        Self { notes, chart: chart.into(), table: table.into(), ..Self::default() }
    }
}
