//! The results of one matrix: its rows in groups that may be compared, and what is known of the matrix.

mod group;
pub mod model_error;
pub mod stage_row;
pub mod winner;

use serde::{Deserialize, Serialize};

use crate::row::{MatrixFacts, Row, Status};
pub use group::{Group, Reordering};
use spmv_matrix::remarks;

/// `docs/schema/matrix.schema.json` describes the fields, also those of [`Group`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MatrixReport {
    #[serde(flatten)]
    pub facts: MatrixFacts,
    pub load_ms: Option<f64>,
    pub load_mbs: Option<f64>,
    pub from_cache: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub duplicates: u64,
    /// One group per order, precision, cache state, device and number of threads.
    pub groups: Vec<Group>,
    /// The row that gives the reason if nothing was measured.
    pub ended: Option<Row>,
}

impl MatrixReport {
    pub fn without_groups(file: String, run_id: &str, status: Status, reason: String) -> Self {
        let facts = MatrixFacts { file, ..MatrixFacts::default() };
        let ended = Some(Row::of_matrix(&facts, run_id).ended(status, reason));
        Self { facts, ended, ..Self::default() }
    }

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
    pub fn end(&self) -> Option<(&'static str, &str)> {
        let row = self.ended.as_ref()?;
        Some((row.status?.name(), row.reason.text()?))
    }

    pub fn is_bad(&self) -> bool {
        self.rows().any(Row::is_bad)
    }
}
