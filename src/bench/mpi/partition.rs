//! Divides the merge path of the whole matrix into one piece per rank: merge-spmv-sc16, section III, with processes
//! instead of threads. Pure computation; offsets are 64-bit.
//!
//! A rank stores the rows whose ends lie in its piece (it closes them). The entries at the end of its piece that belong
//! to a row which a later rank closes are its tail. The sum of the tail is sent to that rank, which need not be the
//! next one.
//!
//! A rank owns a contiguous part of x. For a square matrix it is the same as its part of y, so that one product can use
//! the result of another; otherwise all parts are equal.

use std::ops::Range;

use spmv_matrix::Csr;
use spmv_methods::cpu::merge::{Coordinate, search};

const _: () = assert!(usize::BITS == 64, "offsets count more than 2^32 nonzeros");

#[derive(Debug)]
pub struct Partition {
    /// The end of each row in the sequence of all nonzeros.
    row_ends: Vec<u64>,
    /// The beginnings of all pieces, and the end of the last.
    cuts: Vec<Coordinate>,
}

impl Partition {
    pub fn new(lengths: Vec<u64>, ranks: usize) -> Self {
        let mut row_ends = lengths;
        let mut nnz = 0;
        for end in &mut row_ends {
            nnz += *end;
            *end = nnz;
        }
        let items = row_ends.len() + nnz as usize;
        let items_per_rank = items.div_ceil(ranks);
        let cut = |rank: usize| search((items_per_rank * rank).min(items), &row_ends, nnz as usize);
        let cuts = (0..=ranks).map(cut).collect();
        Self { row_ends, cuts }
    }

    pub fn ranks(&self) -> usize {
        self.cuts.len() - 1
    }

    pub fn rows(&self) -> usize {
        self.row_ends.len()
    }

    pub fn nnz(&self) -> usize {
        self.row_ends.last().map_or(0, |&end| end as usize)
    }

    pub fn length(&self, row: usize) -> usize {
        self.row_ends[row] as usize - self.begin(row)
    }

    /// Returns the rows that a rank stores.
    pub fn stored(&self, rank: usize) -> Range<usize> {
        self.cuts[rank].row..self.cuts[rank + 1].row
    }

    /// Returns the nonzeros that a rank multiplies.
    pub fn nonzeros(&self, rank: usize) -> Range<usize> {
        self.cuts[rank].nonzero..self.cuts[rank + 1].nonzero
    }

    /// Returns the rows that a rank stores or has entries of.
    pub fn touched(&self, rank: usize) -> Range<usize> {
        let Range { start, end } = self.stored(rank);
        start..end + usize::from(self.has_tail(rank))
    }

    /// Returns the rank's part of the entries of a row that it touches.
    pub fn part(&self, rank: usize, row: usize) -> Range<usize> {
        let (begin, nonzeros) = (self.begin(row), self.nonzeros(rank));
        let end = nonzeros.end.min(self.row_ends[row] as usize);
        nonzeros.start.max(begin) - begin..end - begin
    }

    /// Returns whether the rank has entries of a row that a later rank closes.
    pub fn has_tail(&self, rank: usize) -> bool {
        let Coordinate { row, nonzero } = self.cuts[rank + 1];
        row < self.rows() && nonzero > self.cuts[rank].nonzero.max(self.begin(row))
    }

    /// Returns the rank that closes the row of this rank's tail; `None` without a tail.
    pub fn receiver(&self, rank: usize) -> Option<usize> {
        let later = rank + 1..self.ranks();
        self.has_tail(rank).then(|| later.into_iter().find(|&r| !self.stored(r).is_empty()))?
    }

    /// Returns the ranks whose tails belong to the first row that `rank` stores, in ascending order.
    pub fn senders(&self, rank: usize) -> Vec<usize> {
        (0..rank).filter(|&sender| self.receiver(sender) == Some(rank)).collect()
    }

    fn begin(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.row_ends[before] as usize)
    }
}

/// Divides `len` into parts whose sizes differ by at most one. Returns their beginnings and the end of the last.
pub fn even_cuts(len: usize, parts: usize) -> Vec<usize> {
    (0..=parts).map(|part| (len as u128 * part as u128 / parts as u128) as usize).collect()
}

/// Returns the beginning of each rank's part of x, and the end of the last.
pub fn owned_cuts(partition: &Partition, cols: usize) -> Vec<usize> {
    if cols != partition.rows() {
        return even_cuts(cols, partition.ranks());
    }
    let ends = (0..partition.ranks()).map(|rank| partition.stored(rank).end);
    std::iter::once(0).chain(ends).collect()
}

/// Returns the columns in which a share has entries, in ascending order.
pub fn needed<T>(csr: &Csr<T>) -> Vec<u32> {
    let mut touched = vec![false; csr.cols()];
    csr.column_indices().iter().for_each(|&column| touched[column as usize] = true);
    (0..csr.cols() as u32).filter(|&column| touched[column as usize]).collect()
}

/// Returns a share whose column indices are their positions in `needed`.
pub fn renumbered<T>(csr: Csr<T>, needed: &[u32]) -> Csr<T> {
    let (rows, mut number) = (csr.rows(), vec![0; csr.cols()]);
    for (local, &column) in (0..).zip(needed) {
        number[column as usize] = local;
    }
    let (row_offsets, mut columns, values) = csr.into_arrays();
    columns.iter_mut().for_each(|column| *column = number[*column as usize]);
    // SAFETY: `needed` ascends and has all columns of the share, so the positions ascend in each row.
    unsafe { Csr::new_unchecked(rows, needed.len(), row_offsets, columns, values) }
}

/// Returns a copy with the column indices before [`renumbered`], for a matrix with `cols` columns.
pub fn restored<T: Clone>(csr: &Csr<T>, needed: &[u32], cols: usize) -> Csr<T> {
    let columns = csr.column_indices().iter().map(|&column| needed[column as usize]).collect();
    let (row_offsets, values) = (csr.row_offsets().to_vec(), csr.values().to_vec());
    // SAFETY: `needed` ascends and is below `cols`, as do the columns of each row.
    unsafe { Csr::new_unchecked(csr.rows(), cols, row_offsets, columns, values) }
}

/// Returns the number of the ascending `columns` that lie in each part.
pub fn counts_by_part(columns: &[u32], cuts: &[usize]) -> Vec<i32> {
    let before = |cut: usize| columns.partition_point(|&column| (column as usize) < cut);
    cuts.windows(2).map(|cut| (before(cut[1]) - before(cut[0])) as i32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 rows and 8 nonzeros, three items per rank: row 2 begins in the second piece and ends in the last.
    #[test]
    fn pieces_are_equal_and_rows_are_split() {
        let partition = Partition::new(vec![2, 0, 6, 0], 4);
        let ranks = [0, 1, 2, 3];
        assert_eq!(ranks.map(|rank| partition.nonzeros(rank)), [0..2, 2..4, 4..7, 7..8]);
        assert_eq!(ranks.map(|rank| partition.stored(rank)), [0..1, 1..2, 2..2, 2..4]);
        assert_eq!(ranks.map(|rank| partition.receiver(rank)), [None, Some(3), Some(3), None]);
        assert_eq!(partition.senders(3), [1, 2]);
        assert_eq!([1, 2, 3].map(|rank| partition.part(rank, 2)), [0..2, 2..5, 5..6]);
        assert_eq!((partition.touched(1), partition.touched(2)), (1..3, 2..3));
    }

    /// Eight rows of 2^31 - 1 entries are 2^34 items. With two ranks the first piece ends after 2^33 items; with three
    /// ranks pieces end in the middle of rows.
    #[test]
    fn rows_beyond_32_bits_are_split() {
        let row = (1u64 << 31) - 1;
        let partition = Partition::new(vec![row; 8], 2);
        assert_eq!((partition.nnz() as u64, partition.stored(0)), ((1 << 34) - 8, 0..4));
        assert_eq!(partition.nonzeros(1), (1 << 33) - 4..(1 << 34) - 8);
        let partition = Partition::new(vec![row; 8], 3);
        // ceil(2^34 / 3) = 5726623062 = 2 · 2^31 + 1431655766: the first rank closes two rows.
        assert_eq!(partition.cuts[1], Coordinate { row: 2, nonzero: 5_726_623_060 });
        assert_eq!(partition.part(0, 2), 0..1_431_655_766);
        assert_eq!(partition.part(1, 2), 1_431_655_766..row as usize);
        assert_eq!((partition.receiver(0), partition.receiver(1)), (Some(1), Some(2)));
        // The second cut is at 11453246124 = 5 · 2^31 + 715827884.
        assert_eq!(partition.stored(1), 2..5);
        assert_eq!(partition.part(2, 5), 715_827_884..row as usize);
    }

    #[test]
    fn columns_are_counted_by_owner() {
        assert_eq!(counts_by_part(&[0, 3, 4, 9], &[0, 4, 4, 9, 10]), [2, 0, 1, 1]);
    }

    #[test]
    fn x_is_owned_as_y_is_or_evenly() {
        let partition = Partition::new(vec![2, 0, 6, 0], 4);
        assert_eq!(owned_cuts(&partition, 4), [0, 1, 2, 2, 4]);
        assert_eq!(owned_cuts(&partition, 8), [0, 2, 4, 6, 8]);
    }
}
