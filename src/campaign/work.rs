//! A matrix of a campaign, and what a process measures on it.

use serde::{Deserialize, Serialize};

use spmv_matrix::source::Source;
use spmv_results::row::{Row, RowKey};
use spmv_results::run::StoredFile;

/// A matrix of a campaign.
pub struct Work {
    pub source: Source,
    /// The size of its file in bytes.
    pub bytes: u64,
    /// The name in rows.
    pub name: String,
    /// The rows that it already has. Their cells are not measured again.
    pub existing: Vec<Row>,
    /// The file as it is, if the run is a corpus; `None` for a matrix that is generated.
    pub(super) now: Option<StoredFile>,
    /// The file as it was in the run that is continued, if it had it.
    pub(super) then: Option<StoredFile>,
}

impl Work {
    /// Creates the work of measuring all cells on a matrix.
    pub fn new(source: Source, bytes: u64) -> Self {
        let name = source.to_string();
        Self { source, bytes, name, existing: Vec::new(), now: None, then: None }
    }
}

/// What a process measures on one matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixTask {
    pub source: Source,
    /// The numbers of rows, columns and nonzeros of the matrix when it was read before.
    pub sizes: Option<[usize; 3]>,
    pub part: Part,
}

/// What of a run a process measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub cells: Vec<RowKey>,
    /// Whether the best methods may alternate after the rounds.
    pub has_duel: bool,
    /// The cells that alternate; if none are named, the times of the rounds name them.
    pub duelists: Vec<RowKey>,
    /// The rounds on the CPU that other processes have taken before, and those of this one; `None`: it takes all.
    pub share: Option<[usize; 2]>,
}

impl Part {
    /// Returns all rounds of these cells, and the duel.
    pub fn all(cells: Vec<RowKey>) -> Self {
        Self { cells, has_duel: true, duelists: Vec::new(), share: None }
    }
}

impl MatrixTask {
    /// Returns an error message if the matrix has another size than before.
    pub fn differs_from(&self, now: [usize; 3]) -> Option<String> {
        let then = self.sizes.filter(|then| *then != now)?;
        let shown = |[rows, cols, nnz]: [usize; 3]| format!("{rows} x {cols} with {nnz} nonzeros");
        let (then, now) = (shown(then), shown(now));
        Some(format!(
            "the matrix is now {now}, but its rows in the file belong to {then}; remove these rows to measure \
             it again"
        ))
    }
}
