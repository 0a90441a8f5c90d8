//! Reads recorded rows and shows them: tables and charts as data first, then as text, Markdown, SVG and
//! HTML. Nothing here runs a method.

pub mod chart;
pub mod column;
pub mod compare;
pub mod ginkgo;
pub mod lines;
pub mod matched;
pub mod origin;
pub mod overview;
pub mod page;
pub mod published;
pub mod select;
pub mod standings;
pub mod statistics;
pub mod table;
pub mod values;
pub mod views;

use serde::Serialize;

use chart::Chart;
use table::Table;

/// One thing to look at: a chart, a table, or both of the same numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct View {
    /// What it shows, and of which rows: precision, device, caches and order where they matter.
    pub title: String,
    /// What must be known to read it: matrices left out, formulas, what a mark means.
    pub notes: Vec<String>,
    /// The picture.
    pub chart: Option<Chart>,
    /// Below the picture where it is a file of its own: of which matrices it is, how, where and when they were
    /// measured.
    pub foot: String,
    /// The numbers.
    pub table: Option<Table>,
}
