//! What is known of each row of a window before it is decided how the rows are stored.

use std::ops::Range;

use crate::cpu::prelude::*;

/// A row joins the block above it if at least this fraction of the block's slots still contains nonzeros: 17 / 20.
pub const BLOCK_FILL: (u32, u32) = (17, 20);
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
            let [above, below] = [lengths[0], lengths[1]];
            // The ends that only one of the rows has.
            let only_above = u32::from(firsts[0] < firsts[1]) + u32::from(lasts[0] > lasts[1]);
            let only_below = u32::from(firsts[1] < firsts[0]) + u32::from(lasts[1] > lasts[0]);
            let fills = may_fill(above, below, only_below) & may_fill(below, above, only_above);
            let are_packed = (above <= longest) & (below <= longest);
            *alike = fills & are_packed & (below >= BLOCK_WIDTH) & (only_above + only_below <= 1);
            *shifted = (firsts[1].wrapping_sub(firsts[0]) == 1) | (lasts[1].wrapping_sub(lasts[0]) == 1);
        }
    }
}

/// Whether a block of two rows of these lengths could be filled well enough if the other one has at least so many
/// columns that this one does not have. Products may wrap beyond 2^26 nonzeros, which at most costs a block.
#[inline(always)]
fn may_fill(this: u32, other: u32, only_other: u32) -> bool {
    let (part, whole) = BLOCK_FILL;
    let columns = this.wrapping_add(only_other);
    (2 * part).wrapping_mul(columns) <= whole.wrapping_mul(this.wrapping_add(other))
}
