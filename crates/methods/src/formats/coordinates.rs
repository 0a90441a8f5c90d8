//! Entries in coordinate format: the row indices of COO, and the entries that HYB does not store in ELL.

use rayon::prelude::*;

use super::offsets_of;
use crate::method::{Parameter, Request};
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

pub const WIDTH: Parameter = Parameter {
    name: "width",
    values: &["0", "1", "2", "4", "8", "16", "32", "64"],
    meaning: "the largest number of entries of a row in ELL; default by cusp's rule",
};

/// A column of ELL is worth its padding if at least one row in this many fills it …
const RELATIVE_SPEED: usize = 3;
/// … and at least this many rows fill it.
const BREAK_EVEN: usize = 4096;

/// The number of rows that one task copies.
const ROWS_PER_TASK: usize = 1024;

pub fn row_indices(row_offsets: &[u32]) -> Vec<u32> {
    let mut row_indices = vec![0; row_offsets.last().map_or(0, |&entries| entries as usize)];
    for_each_row(row_offsets, &mut row_indices, |row, indices| indices.fill(row as u32));
    row_indices
}

/// Calls `write` for each row with its part of an array that has the elements between these offsets for each row.
fn for_each_row<E: Send>(offsets: &[u32], all: &mut [E], write: impl Fn(usize, &mut [E]) + Sync) {
    let mut left = all;
    let mut tasks = Vec::new();
    for first in (0..offsets.len() - 1).step_by(ROWS_PER_TASK) {
        let offsets = &offsets[first..(first + ROWS_PER_TASK + 1).min(offsets.len())];
        let count = (offsets[offsets.len() - 1] - offsets[0]) as usize;
        tasks.push((first, offsets, left.split_off_mut(..count).expect("elements of each row")));
    }
    tasks.into_par_iter().for_each(|(first, offsets, mut left)| {
        for (row, ends) in (first..).zip(offsets.windows(2)) {
            write(row, left.split_off_mut(..(ends[1] - ends[0]) as usize).expect("elements of each row"));
        }
    });
}

/// Returns the number of entries per row that are stored in ELL: the requested width, or by cusp's rule the
/// smallest width that few rows exceed. It is at most the length of the longest row.
pub fn width<T: Scalar>(csr: &Csr<T>, request: &Request) -> usize {
    let longest = csr.row_lengths().max().unwrap_or(0) as usize;
    request.number(WIDTH.name).unwrap_or_else(|| rule(csr)).min(longest)
}

/// Returns the largest number of rows that are too few for another column of ELL, of a matrix with so many rows.
pub fn few(rows: usize) -> usize {
    (rows.saturating_sub(1) / RELATIVE_SPEED).max(BREAK_EVEN - 1)
}

fn rule<T: Scalar>(csr: &Csr<T>) -> usize {
    let few = few(csr.rows());
    if csr.rows() <= few {
        return 0;
    }
    let mut lengths: Vec<u32> = csr.row_lengths().collect();
    let (_, width, _) = lengths.select_nth_unstable_by(few, |a, b| b.cmp(a));
    *width as usize
}

/// The entries that are not in ELL, in coordinate format.
pub struct Rest<T> {
    /// The row index of each entry, in ascending order.
    pub row_indices: Vec<u32>,
    pub column_indices: Vec<u32>,
    pub values: Vec<T>,
}

impl<T: Scalar> Rest<T> {
    /// Returns all entries after the first `width` of each row.
    pub fn of(csr: &Csr<T>, width: usize) -> Self {
        let lengths = csr.row_lengths().map(|length| length.saturating_sub(width as u32));
        let offsets = offsets_of(lengths.chain([0]).collect());
        let row_indices = row_indices(&offsets);
        let count = row_indices.len();
        let mut rest = Self { row_indices, column_indices: vec![0; count], values: vec![T::zero(); count] };
        let of_row = |row: usize, count: usize| csr.row(row).end - count..csr.row(row).end;
        for_each_row(&offsets, &mut rest.column_indices, |row, columns| {
            columns.copy_from_slice(&csr.column_indices()[of_row(row, columns.len())]);
        });
        for_each_row(&offsets, &mut rest.values, |row, values| {
            values.copy_from_slice(&csr.values()[of_row(row, values.len())]);
        });
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::of_lengths;

    /// Computes the width as cusp's loop does: the first that too few rows exceed to be worth another column.
    fn cusp(csr: &Csr<f64>) -> usize {
        let longer = |width: usize| csr.row_lengths().filter(|&l| l as usize > width).count();
        let few = |rows: usize| 3 * rows < csr.rows() || rows < 4096;
        (0..).find(|&width| few(longer(width))).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn the_width_equals_cusps() {
        for (rows, longer, expected) in [
            (0, 0, 0),
            (4095, 4095, 0),
            (4096, 4096, 5),
            (4096, 4095, 2),
            (20_000, 4095, 2),
            (20_001, 6666, 2),
            (20_001, 6667, 5),
        ] {
            let csr = of_lengths(9, (0..rows).map(|row| if row < longer { 5 } else { 2 }));
            assert_eq!((rule(&csr), cusp(&csr)), (expected, expected), "{longer} of {rows}");
        }
        let mixed = of_lengths(9, (0..30_000).map(|row| row * row % 9));
        assert_eq!(rule(&mixed), cusp(&mixed));
    }
}
