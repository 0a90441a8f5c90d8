use super::field::{Field, Symmetry};
use crate::Csr;

/// A matrix and the facts that its file states about it.
#[derive(Debug)]
pub struct ReadMatrix {
    /// The matrix, expanded if requested. Duplicates are summed and explicit zeros retained.
    pub csr: Csr<f64>,
    pub field: Field,
    /// The symmetry, which determines the part of the matrix that the file stores.
    pub symmetry: Symmetry,
    /// The number of entries in the file.
    pub stored: u64,
    /// The kind of problem, from the comment `% kind: …`.
    pub kind: Option<String>,
    /// The number of stored entries that have the position of an earlier entry.
    pub duplicates: u64,
    /// The numbers of entries that a symmetric file in the coordinate format stores above and below the diagonal, if it
    /// is expanded; otherwise 0.
    pub triangles: [u64; 2],
    /// The size of the uncompressed text in bytes.
    pub text_bytes: u64,
    pub file_bytes: u64,
    /// Sentences about what the reader had to guess.
    pub remarks: Vec<String>,
}
