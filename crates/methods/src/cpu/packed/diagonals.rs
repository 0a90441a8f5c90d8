//! The diagonals of slices of consecutive rows, and whether they are few enough for a band.

use std::mem::swap;
use std::ops::Range;

use super::window::Diagonal;
use spmv_matrix::Csr;

/// The number of lists that are compared with that of a slice: the last ones.
const COMPARED: usize = 8;

#[derive(Default)]
pub struct Diagonals {
    /// The diagonals of the last slice that was a band, in ascending order.
    pub of_slice: Vec<Diagonal>,
    /// Whether the last slice has the same diagonals as the one before.
    repeated: bool,
    merged: Vec<Diagonal>,
    /// The position of each list in the window's `diagonals`.
    lists: Vec<Range<usize>>,
    last: Range<usize>,
}

impl Diagonals {
    pub fn clear(&mut self) {
        self.of_slice.clear();
        self.lists.clear();
        self.last = 0..0;
    }

    /// Finds the diagonals of the rows. Returns `false` if a band does not suit them: if they are on more than `most`
    /// diagonals, or if a diagonal would leave the matrix.
    pub fn find<T>(&mut self, csr: &Csr<T>, rows: Range<usize>, most: usize) -> bool {
        self.repeated = self.repeats(csr, rows.clone());
        let suits = self.repeated || self.merge(csr, rows.clone(), most);
        if !suits || !self.are_inside(csr, rows) {
            self.of_slice.clear();
        }
        !self.of_slice.is_empty()
    }

    /// Returns whether no diagonal leaves the matrix in these rows.
    fn are_inside<T>(&self, csr: &Csr<T>, rows: Range<usize>) -> bool {
        let offset = |diagonal: &Diagonal| i64::from(diagonal.offset);
        let first = rows.start as i64 + self.of_slice.first().map_or(0, offset);
        let last = rows.end as i64 + self.of_slice.last().map_or(0, offset);
        first >= 0 && last <= csr.cols() as i64
    }

    /// Returns whether each of the rows has exactly the diagonals of the slice before, all of which are full.
    fn repeats<T>(&self, csr: &Csr<T>, rows: Range<usize>) -> bool {
        let full = (1 << rows.len()) - 1;
        !self.of_slice.is_empty()
            && self.of_slice.iter().all(|diagonal| u32::from(diagonal.mask) == full)
            && rows.into_iter().all(|row| {
                let columns = &csr.column_indices()[csr.row(row)];
                let differs = columns.iter().zip(&self.of_slice).fold(0, |differs, (&column, diagonal)| {
                    differs | (column ^ (row as u32).wrapping_add_signed(diagonal.offset))
                });
                columns.len() == self.of_slice.len() && differs == 0
            })
    }

    /// Merges the diagonals of all rows. Returns `false` as soon as there are more than `most`.
    fn merge<T>(&mut self, csr: &Csr<T>, rows: Range<usize>, most: usize) -> bool {
        self.of_slice.clear();
        for (lane, row) in rows.enumerate() {
            self.merged.clear();
            let mut known = &self.of_slice[..];
            for &column in &csr.column_indices()[csr.row(row)] {
                let offset = column as i32 - row as i32;
                while let [first, rest @ ..] = known
                    && first.offset < offset
                {
                    self.merged.push(*first);
                    known = rest;
                }
                let mut diagonal = Diagonal { offset, mask: 1 << lane };
                if let [first, rest @ ..] = known
                    && first.offset == offset
                {
                    diagonal.mask |= first.mask;
                    known = rest;
                }
                self.merged.push(diagonal);
                if self.merged.len() + known.len() > most {
                    return false;
                }
            }
            self.merged.extend(known);
            swap(&mut self.of_slice, &mut self.merged);
        }
        true
    }

    /// Returns the position of the last slice's list in `all`, and appends the list unless it is one of the last.
    pub fn list_in(&mut self, all: &mut Vec<Diagonal>) -> Range<usize> {
        if !self.repeated {
            let mut lists = self.lists.iter().rev().take(COMPARED);
            let known = lists.find(|list| all[(*list).clone()] == self.of_slice).cloned();
            self.last = known.unwrap_or_else(|| {
                let list = all.len()..all.len() + self.of_slice.len();
                all.extend(&self.of_slice);
                self.lists.push(list.clone());
                list
            });
        }
        self.last.clone()
    }
}
