//! The memory that a rank needs to load its share and to measure with it.

use super::partition::Partition;
use crate::bench::need;
use crate::bench::run::RunSettings;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::order::Order;

/// Bytes per row of the whole matrix: its lengths while they are summed over all ranks, and the initial y.
const ROW: u64 = 3 * 8;
/// Bytes per column: its number, and the values that a rank receives and sends.
const COLUMN: u64 = 4 + 2 * 8;
/// Bytes per row of a share while its entries are collected, besides CSR.
const COLLECTED_ROW: u64 = 2 * 8;

/// Returns an upper bound of the memory in bytes that a rank needs, from the moment when the matrix is divided to the
/// last product.
pub fn need(partition: &Partition, rank: usize, cols: usize, run: &RunSettings) -> u64 {
    let touched = partition.touched(rank);
    let entries = touched.clone().map(|row| partition.length(row) as u64).sum();
    let share =
        Extent::announced(touched.len() + 1, cols, partition.nonzeros(rank).len() as u64, 1);
    let collected = Extent { nnz: entries, ..share }.csr() + COLLECTED_ROW * share.rows;
    let in_precision = |&precision| need::all(&share, &run.settings, precision, Order::Natural);
    // If all of x is gathered, the product has a copy of the share.
    let measured = run.precisions.iter().map(in_precision).max().unwrap_or_default() + share.csr();
    collected.max(measured) + ROW * partition.rows() as u64 + COLUMN * cols as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::need::SMALL;
    use crate::bench::plan::{Protocol, Settings};

    #[test]
    fn a_rank_needs_its_share_and_lists_of_all_rows_and_columns() {
        let run = RunSettings::new(Settings::new(Protocol::MergeSpmv));
        // 1000 rows of 999 entries are a million items, of which each of 10 ranks has 100 rows.
        let partition = Partition::new(vec![999; 1000], 10);
        let share = Extent::announced(101, 1000, 99_900, 1);
        let lists = 24 * 1000 + 20 * 1000;
        let measured = 2 * share.csr() + need::run(&share, &run.settings);
        assert!(share.csr() > 1_198_800 && measured > 3 * share.csr() + SMALL);
        assert_eq!(need(&partition, 3, 1000, &run), measured + lists);
        // While it is collected, a row that is divided among all ranks is complete on each of them: 12 bytes per entry,
        // and 44 for the offsets of two rows.
        let partition = Partition::new(vec![1_000_000], 100);
        let collected = 12 * 1_000_000 + 44;
        assert_eq!(need(&partition, 5, 1000, &run), collected + 24 + 20 * 1000);
    }
}
