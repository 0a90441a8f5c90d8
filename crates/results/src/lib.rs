//! Results of measurements of sparse matrix-vector products: rows and the facts of their runs, read, joined, filtered,
//! compared, drawn and written. Nothing here measures, and no method is needed to use a result.
//!
//! ```no_run
//! use spmv_results::files::read::read;
//! use spmv_results::report::overview::{self, Question};
//!
//! let lines = read("out.csv".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A module uses only modules above it, which a test checks:
//!
//! | module | contents |
//! |---|---|
//! | [`settings`] | how each method is measured, and what a run measures |
//! | [`metrics`] | formulas that convert times into rates, and the peak bandwidth |
//! | [`statistics`] | means, medians, intervals and fits |
//! | [`table`] | tables as data, written as text, Markdown, LaTeX and HTML; the terminal |
//! | [`row`] | a row of results: its columns, what identifies it, and several rows as one |
//! | [`run`] | the record of a run, and differences between two runs |
//! | [`matrix`] | the rows of a matrix in groups that may be compared, and the winner |
//! | [`text`] | the report of a matrix as text |
//! | [`files`] | files of rows and runs in all formats, written and read |
//! | [`filter`] | filters of rows and matrices |
//! | [`report`] | recorded rows as tables, charts and pages; the comparison of two files |
//! | [`papers`] | the experiments of the papers: what is measured, shown and claimed |

pub mod files;
pub mod filter;
pub mod matrix;
pub mod metrics;
pub mod papers;
pub mod report;
pub mod row;
pub mod run;
pub mod settings;
pub mod statistics;
pub mod table;
pub mod text;
