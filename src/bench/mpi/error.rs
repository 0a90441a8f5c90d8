//! The errors of the distributed product.

use spmv_matrix::csr::MAX_INDEX;
use spmv_matrix::market::Defect;

/// The reason why a rank cannot take part in the product.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    #[error(
        "each of {ranks} ranks would have {nonzeros} nonzeros, but can index at most {MAX_INDEX}: start more ranks"
    )]
    ManyNonzeros { ranks: usize, nonzeros: usize },
    #[error("a rank {0}")]
    Memory(String),
    #[error(transparent)]
    Entries(#[from] Defect),
}
