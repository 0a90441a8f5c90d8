//! Reads recorded rows and shows them: tables and charts are first built as data, then written as text, Markdown,
//! SVG and HTML. No code here runs a method.

pub mod chart;
pub mod column;
pub mod compare;
pub mod derived;
mod grouped;
pub mod identity;
pub mod matched;
pub mod names;
pub mod origin;
pub mod overview;
pub mod page;
pub mod published;
mod ranking;
pub mod select;
pub mod standings;
pub mod statistics;
pub mod values;
pub mod views;

use crate::record::table::Table;
use chart::Chart;

/// A titled part of a page: a chart, a table, or both with the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The title: what is shown, and of which rows (precision, device, cache and order where they matter).
    pub title: String,
    /// What the reader needs to know: matrices left out, formulas, the meaning of marks.
    pub notes: Vec<String>,
    /// The chart, if there is one.
    pub chart: Option<Chart>,
    /// The line below the chart where the chart is a file of its own: the matrices, their settings, and where and
    /// when they were measured.
    pub foot: String,
    /// The table, if there is one.
    pub table: Option<Table>,
}
