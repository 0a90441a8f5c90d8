//! The task of measuring one matrix.

use serde::{Deserialize, Serialize};

use spmv_matrix::source::Source;
use spmv_results::row::key::RowKey;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixTask {
    pub source: Source,
    /// The numbers of rows, columns and nonzeros of the matrix when it was read before.
    pub sizes: Option<[usize; 3]>,
    pub cells: Vec<RowKey>,
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
