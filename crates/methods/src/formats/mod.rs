//! Conversions of CSR that methods of both devices use.

pub mod coordinates;
pub mod csr_k;
pub mod diagonals;
#[cfg(test)]
pub mod examples;
pub mod fill;
pub mod register_blocks;
pub mod strips;

use std::ops::Range;

use anyhow::ensure;

use spmv_matrix::Csr;

/// Checks that all column indices are less than `cols`.
pub fn check_columns(column_indices: &[u32], cols: usize) -> anyhow::Result<()> {
    let most = column_indices.iter().max().map_or(0, |&column| column as usize + 1);
    ensure!(most <= cols, "COLUMNS: column {} in a matrix of {cols} columns", most - 1);
    Ok(())
}

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
