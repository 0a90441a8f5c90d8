use super::super::error::Fault;
use super::super::field::{Field, Symmetry};
use super::super::matrix::ReadMatrix;
use super::super::options::Options;
use super::super::text::Text;
use super::triplets::Triplets;

/// The entries of a file in its order, and what the file says about them.
pub struct Stored<'c> {
    pub rows: usize,
    pub cols: usize,
    pub field: Field,
    pub symmetry: Symmetry,
    pub entries: Triplets<'c>,
    /// The size of the text in bytes.
    pub bytes: u64,
    pub remarks: Vec<String>,
}

impl<'c> Stored<'c> {
    /// Returns the entries of a general matrix about which there is nothing to remark.
    pub const fn general([rows, cols]: [usize; 2], field: Field, entries: Triplets<'c>, bytes: u64) -> Self {
        let symmetry = Symmetry::General;
        Self { rows, cols, field, symmetry, entries, bytes, remarks: Vec::new() }
    }

    /// Makes the matrix of a file.
    pub fn matrix(self, text: &Text, options: &Options) -> Result<ReadMatrix, Fault> {
        let stored = self.entries.len() as u64;
        let mirror = self.symmetry.mirror_sign().filter(|_| options.expand);
        let built = self.entries.into_csr(self.rows, self.cols, mirror)?;
        Ok(ReadMatrix {
            csr: built.csr,
            field: self.field,
            symmetry: self.symmetry,
            stored,
            kind: None,
            duplicates: built.duplicates,
            triangles: built.triangles,
            text_bytes: self.bytes,
            file_bytes: text.input.size,
            remarks: self.remarks,
        })
    }
}
