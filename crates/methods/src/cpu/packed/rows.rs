//! What is known of each row of a window before it is decided how the rows are stored.

use std::ops::Range;

use crate::cpu::prelude::*;

/// Rows shorter than this do not become part of a block.
const BLOCK_WIDTH: u32 = 4;

#[derive(Default)]
pub struct Rows {
    /// The first row of the window. Rows are given relative to it.
    pub first: usize,
    pub lengths: Vec<u32>,
    /// Whether a row may form a block with the one before it, which is not in a band. This test is cheap, and excludes
    /// most pairs of rows of an irregular matrix.
    pub alike: Vec<bool>,
    /// Whether the first or the last nonzero is on the same diagonal as that of the row before.
    pub shifted: Vec<bool>,
    /// The lowest and the highest column of all rows that are packed.
    pub columns: Range<u32>,
    first_columns: Vec<u32>,
    last_columns: Vec<u32>,
}

/// Reads the rows of a window. Those with more than `longest` nonzeros are not packed.
pub struct Read<'a, T> {
    pub csr: &'a Csr<T>,
    pub rows: Range<usize>,
    pub longest: usize,
    pub to: &'a mut Rows,
}

impl<T: Scalar> Kernel<T> for Read<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        let Self { csr, rows, longest, to } = self;
        let (len, offsets) = (rows.len(), &csr.row_offsets()[rows.start..=rows.end]);
        let longest = longest as u32;
        to.first = rows.start;
        for list in [&mut to.lengths, &mut to.first_columns, &mut to.last_columns] {
            list.resize(len, 0);
        }
        to.alike.resize(len, false);
        to.shifted.resize(len, false);
        for (length, ends) in to.lengths.iter_mut().zip(offsets.windows(2)) {
            *length = ends[1] - ends[0];
        }
        // Those of an empty row are of no use, but do no harm.
        let columns = csr.column_indices();
        for ((first, last), ends) in to.first_columns.iter_mut().zip(&mut to.last_columns).zip(offsets.windows(2)) {
            *first = *columns.get(ends[0] as usize).unwrap_or(&0);
            *last = *columns.get((ends[1] as usize).wrapping_sub(1)).unwrap_or(&0);
        }
        to.columns = to.columns_of_packed(longest);
        to.compare(longest);
    }
}

impl Rows {
    #[inline(always)]
    fn columns_of_packed(&self, longest: u32) -> Range<u32> {
        let (mut lowest, mut highest) = (u32::MAX, 0);
        for ((&length, &first), &last) in self.lengths.iter().zip(&self.first_columns).zip(&self.last_columns) {
            let is_packed = length.wrapping_sub(1) < longest;
            lowest = lowest.min(if is_packed { first } else { u32::MAX });
            highest = highest.max(if is_packed { last } else { 0 });
        }
        lowest.min(highest)..highest
    }

    /// Compares each row with the one before it.
    #[inline(always)]
    fn compare(&mut self, longest: u32) {
        let lengths = self.lengths.windows(2);
        let columns = self.first_columns.windows(2).zip(self.last_columns.windows(2));
        let flags = self.alike[1..].iter_mut().zip(&mut self.shifted[1..]);
        for ((lengths, (firsts, lasts)), (alike, shifted)) in lengths.zip(columns).zip(flags) {
            let (widest, narrowest) = (lengths[0].max(lengths[1]), lengths[0].min(lengths[1]));
            // If the lengths differ more, a block of the two would not be filled well enough.
            let fills = (widest <= longest) & (widest - narrowest <= widest / 3);
            *alike = fills & (lengths[1] >= BLOCK_WIDTH) & ((firsts[0] == firsts[1]) | (lasts[0] == lasts[1]));
            *shifted = (firsts[1].wrapping_sub(firsts[0]) == 1) | (lasts[1].wrapping_sub(lasts[0]) == 1);
        }
    }
}
