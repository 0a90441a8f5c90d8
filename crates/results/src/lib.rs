//! Results of measurements of sparse matrix-vector products: rows and the facts of their runs, read, joined, filtered,
//! compared, drawn and written. Nothing here measures, and no method is needed to use a result.
//!
//! ```
//! use spmv_results::files::read::parse;
//! use spmv_results::report::matched::speeds;
//! use spmv_results::report::select::Conditions;
//! use spmv_results::report::views::{Recorded, Spec};
//!
//! let file = b"file,num_nonzeros,method_name,avg_spmv_ms,status,run_id
//! cant.mtx,4007383,csr-rows,2,ok,r1
//! cant.mtx,4007383,merge,1,ok,r1
//! rail4284.mtx,11279748,csr-rows,9,ok,r1
//! rail4284.mtx,11279748,merge,3,ok,r1
//! ";
//! let rows = parse("out.csv".as_ref(), file)?;
//! let large: Conditions = "num_nonzeros > 1e7".parse()?;
//! let lines: Vec<_> = rows.iter().filter(|row| large.passes(row)).collect();
//! assert_eq!(speeds(&lines, &"merge".parse()?, &"csr-rows".parse()?)[0].1, 3.0);
//!
//! let bars: Spec = "kind = 'bars'\ntitle = 'Times'\nvalue = 'avg_spmv_ms'".parse()?;
//! let view = bars.view(&Recorded { lines, ..Recorded::default() });
//! let svg = view.chart.ok_or("nothing was measured")?.to_file(&view.title, &view.foot);
//! assert!(svg.starts_with("<svg"));
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
