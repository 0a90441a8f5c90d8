//! Blocks: two to four neighbouring rows with (nearly) the same columns.

use std::cmp::Reverse;
use std::ops::Range;

use super::rows::{BLOCK_FILL, Rows};
use super::window::MAX_HEIGHT;
use spmv_matrix::Csr;

#[derive(Clone, Copy)]
pub struct Block {
    /// The first row, relative to the window's first row.
    pub row: u16,
    height: u8,
    /// Whether some row has no nonzero in some column. Then the columns are in [`Blocks::unions`].
    pub holes: bool,
    /// Where the columns begin: in those of the matrix, or in the unions.
    start: u32,
    width: u32,
}

/// A row that is in no block.
#[derive(Clone, Copy)]
pub struct Single {
    pub row: u16,
    pub width: u32,
}

/// The blocks of a window, and the rows that are in none.
#[derive(Default)]
pub struct Blocks {
    /// The blocks of two, three and four rows.
    pub of_height: [Vec<Block>; MAX_HEIGHT - 1],
    pub singles: Vec<Single>,
    unions: Vec<u32>,
    /// For each element of the unions, the rows of the block with a nonzero there, as bits.
    present: Vec<u8>,
    /// The number of elements of the unions that are in use.
    used: usize,
}

impl Blocks {
    /// Groups `rest`, the ascending rows outside of bands, into blocks, without those of more than `longest` nonzeros.
    pub fn find<T>(&mut self, csr: &Csr<T>, rows: &Rows, rest: &[u16], longest: usize) {
        self.of_height.iter_mut().for_each(Vec::clear);
        self.singles.clear();
        self.used = 0;
        let joins = |at: usize| rest.get(at).is_some_and(|&row| rows.alike[usize::from(row)]);
        let single = |&row: &u16| Single { row, width: rows.lengths[usize::from(row)] };
        let mut at = 0;
        while at < rest.len() {
            let alone = rest[at + 1..].iter().take_while(|&&row| !rows.alike[usize::from(row)]).count();
            let singles = rest[at..at + alone].iter().map(single);
            self.singles.extend(singles.filter(|single| single.width as usize <= longest));
            at += alone;
            // The row after this one may join it, or there is none.
            let Single { row, width } = single(&rest[at]);
            let start = csr.row_offsets()[rows.first + usize::from(row)];
            let mut block = Block { row, height: 1, holes: false, start, width };
            at += 1;
            while block.height() < MAX_HEIGHT && joins(at) && self.join(csr, rows, &mut block) {
                at += 1;
            }
            if block.height() > 1 {
                self.of_height[block.height() - 2].push(block);
            } else if width as usize <= longest {
                self.singles.push(Single { row, width });
            }
        }
    }

    fn columns<'a, T>(&'a self, csr: &'a Csr<T>, block: &Block) -> &'a [u32] {
        let all = if block.holes { &self.unions } else { csr.column_indices() };
        &all[block.range()]
    }

    /// Returns the columns of all blocks with holes and, for each, the rows of the block with a nonzero there, as bits.
    pub fn unions(&self) -> (&[u32], &[u8]) {
        (&self.unions, &self.present)
    }

    /// Stores the columns of a block without holes as those of blocks with holes are stored.
    pub fn make_union<T>(&mut self, csr: &Csr<T>, block: &mut Block) {
        if !block.holes {
            let (start, end) = (self.used, self.used + block.width());
            self.reserve(block.width());
            self.unions[start..end].copy_from_slice(&csr.column_indices()[block.range()]);
            self.present[start..end].fill(u8::MAX);
            (block.start, block.holes, self.used) = (start as u32, true, end);
        }
    }

    /// Makes room for so many further elements of the unions.
    fn reserve(&mut self, count: usize) {
        let end = self.used + count;
        if self.unions.len() < end {
            self.unions.resize(2 * end, 0);
            self.present.resize(2 * end, 0);
        }
    }

    /// Adds the row below a block to it, if its nonzeros and those of the block fill their columns well enough.
    fn join<T>(&mut self, csr: &Csr<T>, rows: &Rows, block: &mut Block) -> bool {
        let first = rows.first + usize::from(block.row);
        let row = csr.row(first + block.height());
        let nonzeros = row.end - csr.row_offsets()[first] as usize;
        let below = &csr.column_indices()[row];
        if self.columns(csr, block) != below {
            let (part, whole) = (BLOCK_FILL.0 as usize, BLOCK_FILL.1 as usize);
            let most = nonzeros * whole / (part * (block.height() + 1));
            return self.unite(csr, block, below, most);
        }
        if block.holes {
            self.present[block.range()].iter_mut().for_each(|rows| *rows |= 1 << block.height);
        }
        block.height += 1;
        true
    }

    /// Adds a row with other columns to a block. Returns `false` as soon as it is certain that they have more than
    /// `most` columns together.
    fn unite<T>(&mut self, csr: &Csr<T>, block: &mut Block, below: &[u32], most: usize) -> bool {
        self.reserve(most);
        let end = self.used + most;
        let (known, union) = self.unions[..end].split_at_mut(self.used);
        let (known_rows, rows) = self.present[..end].split_at_mut(self.used);
        let range = block.range();
        let above = if block.holes { &known[range.clone()] } else { &csr.column_indices()[range.clone()] };
        let rows_above = |k: usize| if block.holes { known_rows[range.start + k] } else { (1 << block.height) - 1 };
        let row_below = 1 << block.height;
        let mut only_above = most.saturating_sub(below.len());
        let mut only_below = most.saturating_sub(above.len());
        let (mut i, mut j, mut width) = (0, 0, 0);
        while i < above.len() && j < below.len() {
            if above[i] == below[j] {
                (union[width], rows[width]) = (above[i], rows_above(i) | row_below);
                (i, j) = (i + 1, j + 1);
            } else if above[i] < below[j] {
                if only_above == 0 {
                    return false;
                }
                (union[width], rows[width]) = (above[i], rows_above(i));
                (i, only_above) = (i + 1, only_above - 1);
            } else {
                if only_below == 0 {
                    return false;
                }
                (union[width], rows[width]) = (below[j], row_below);
                (j, only_below) = (j + 1, only_below - 1);
            }
            width += 1;
        }
        if width + above.len() - i + below.len() - j > most {
            return false;
        }
        for (k, &column) in above.iter().enumerate().skip(i) {
            (union[width], rows[width]) = (column, rows_above(k));
            width += 1;
        }
        for &column in &below[j..] {
            (union[width], rows[width]) = (column, row_below);
            width += 1;
        }
        (block.start, block.width, block.holes) = (self.used as u32, width as u32, true);
        block.height += 1;
        self.used += width;
        true
    }
}

impl Block {
    pub fn height(&self) -> usize {
        self.height.into()
    }

    pub fn width(&self) -> usize {
        self.width as usize
    }

    /// Returns where its columns are.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.width()
    }
}

/// Sorts groups of `size` elements by width, the widest first and in order if equal.
pub fn sort_groups<E: Copy>(all: &mut [E], size: usize, width: impl Fn(&E) -> u32) {
    let (mut unsorted, mut ends) = (Vec::with_capacity(size), Vec::new());
    for group in all.chunks_mut(size) {
        let (mut narrowest, mut widest) = (u32::MAX, 0);
        for width in group.iter().map(&width) {
            (narrowest, widest) = (narrowest.min(width), widest.max(width));
        }
        let most = (widest - narrowest) as usize;
        if most > 4 * group.len() {
            group.sort_by_key(|element| Reverse(width(element)));
        } else if most > 0 {
            unsorted.clear();
            unsorted.extend_from_slice(group);
            sort_by_counting(&unsorted, group, &mut ends, most, |element| (widest - width(element)) as usize);
        }
    }
}

/// Writes the elements in the order of their keys, which are at most `most`.
fn sort_by_counting<E: Copy>(from: &[E], to: &mut [E], ends: &mut Vec<usize>, most: usize, key: impl Fn(&E) -> usize) {
    // `ends[k]` is where the next element with key `k` belongs.
    ends.clear();
    ends.resize(most + 2, 0);
    from.iter().for_each(|element| ends[key(element) + 1] += 1);
    for k in 0..=most {
        ends[k + 1] += ends[k];
    }
    for element in from {
        let end = &mut ends[key(element)];
        to[*end] = *element;
        *end += 1;
    }
}
