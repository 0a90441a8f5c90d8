//! The output of runs: rows, reports and run records, and the writers of their formats. Nothing here measures.

pub mod cells;
pub mod column;
pub mod facts;
pub mod file;
pub mod filter;
pub mod ginkgo;
pub mod group;
pub mod infinite;
pub mod lines;
pub mod markdown;
pub mod output;
pub mod read;
pub mod regression;
pub mod row;
pub mod run;
pub mod setting;
pub mod sort;
pub mod stages;
pub mod table;
pub mod terminal;
pub mod text;
pub mod tuning;
pub mod write;

use serde::{Deserialize, Serialize};

pub use group::Group;
use row::{MatrixFacts, Row, Status};
use spmv_matrix::remarks;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MatrixReport {
    #[serde(flatten)]
    pub facts: MatrixFacts,
    /// The time to read or generate the matrix, in milliseconds.
    pub load_ms: Option<f64>,
    /// The size of the file divided by that time, in MB/s (10^6 bytes per second); `None` for a generated matrix.
    pub load_mbs: Option<f64>,
    /// Whether the matrix was read from the cache of parsed matrices; `load_mbs` then counts the bytes of the CSR
    /// arrays.
    pub from_cache: bool,
    /// A note about reading the matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The number of duplicate entries, which were added to other entries.
    pub duplicates: u64,
    /// One group per order, precision, cache state, device and number of threads.
    pub groups: Vec<Group>,
    /// The row that gives the reason if nothing was measured.
    pub ended: Option<Row>,
}

impl MatrixReport {
    /// Creates the report of a matrix that was not measured.
    pub fn without_groups(file: String, run_id: &str, status: Status, reason: String) -> Self {
        let facts = MatrixFacts { file, ..MatrixFacts::default() };
        let ended = Some(Row::of_matrix(&facts, run_id).ended(status, reason));
        Self { facts, ended, ..Self::default() }
    }

    /// Returns whether the report is empty, so that not even the name of the matrix is known.
    pub fn is_unknown(&self) -> bool {
        self.facts.file.is_empty()
    }

    /// Returns the warnings about the matrix for stderr.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = remarks::of_duplicates(self.duplicates).into_iter().chain(self.note.clone());
        warnings.map(|warning| format!("{}: {warning}", self.facts.file)).collect()
    }

    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows).chain(&self.ended)
    }

    /// Returns whether the matrix has at most one row or column; merge-spmv skips such matrices.
    pub fn is_trivial(&self) -> bool {
        self.facts.shape.as_ref().is_some_and(|shape| shape.rows <= 1 || shape.cols <= 1)
    }

    /// Returns the status and the reason if nothing was measured.
    fn end(&self) -> Option<(&'static str, &str)> {
        let row = self.ended.as_ref()?;
        Some((row.status?.name(), row.reason.as_deref()?))
    }

    /// Returns the reason if nothing was measured.
    pub fn unreadable(&self) -> Option<&str> {
        self.ended.as_ref().and_then(|row| row.reason.as_deref())
    }

    /// Returns whether any row is wrong, failed or exceeded its time limit.
    pub fn is_bad(&self) -> bool {
        self.rows().any(Row::is_bad)
    }
}
