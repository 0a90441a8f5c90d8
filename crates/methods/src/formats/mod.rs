//! Conversions of CSR that methods of both devices use.

pub mod block_fill;
pub mod coordinates;
pub mod csr_k;
pub mod diagonals;
#[cfg(test)]
pub mod examples;
pub mod fill;
pub mod register_blocks;
pub mod strips;

use std::ops::Range;

use spmv_matrix::Csr;

/// Returns the range of the entries of these rows.
pub fn entries_of<T>(csr: &Csr<T>, rows: &Range<usize>) -> Range<usize> {
    csr.row_offsets()[rows.start] as usize..csr.row_offsets()[rows.end] as usize
}

/// Replaces each count by the sum of those before it. The last is 0 and becomes the total.
fn offsets_of(mut counts: Vec<u32>) -> Vec<u32> {
    let mut before = 0;
    for count in &mut counts {
        before += std::mem::replace(count, before);
    }
    counts
}
