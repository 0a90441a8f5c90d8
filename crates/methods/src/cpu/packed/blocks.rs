//! Blocks: one to four neighbouring rows with (nearly) the same columns.

use std::cmp::Reverse;
use std::mem::take;
use std::ops::Range;

use super::window::MAX_HEIGHT;
use spmv_matrix::Csr;

/// A row joins the block above it if at least this fraction of the block's slots still contains nonzeros.
pub const BLOCK_FILL: f64 = 0.85;
/// Rows shorter than this do not join a block.
const BLOCK_WIDTH: usize = 4;

/// The number of slices whose blocks are sorted together by width. Fewer would mix more widths in a slice. More would
/// take more rows from the places where neighbouring rows use the same elements of x.
const SORTED: usize = 64;

#[derive(Clone, Copy)]
pub struct Block {
    row: u32,
    width: u32,
    /// Where the columns begin: in those of the matrix or, if they are of no single row, in [`Blocks::unions`].
    start: u32,
    is_union: bool,
    height: u8,
    /// Whether some row has no nonzero in one of the columns.
    pub holes: bool,
}

/// The blocks of a window by height, and what is kept to find those of the next window.
#[derive(Default)]
pub struct Blocks {
    pub of_height: [Vec<Block>; MAX_HEIGHT],
    unions: Vec<u32>,
    union: Vec<u32>,
    unsorted: Vec<Block>,
    ends: Vec<usize>,
}

impl Blocks {
    /// Groups the rows into blocks, in order. Rows of more than `longest` nonzeros are left out.
    pub fn find<T>(&mut self, csr: &Csr<T>, rows: &[usize], longest: usize) {
        self.of_height.iter_mut().for_each(Vec::clear);
        self.unions.clear();
        let mut open: Option<Block> = None;
        for &row in rows {
            let length = csr.row(row).len();
            if length > longest {
                continue;
            }
            if let Some(block) = &mut open {
                let adjacent = block.rows().end == row && block.height() < MAX_HEIGHT;
                if adjacent && length >= BLOCK_WIDTH && self.join(csr, block) {
                    continue;
                }
                self.of_height[block.height() - 1].push(*block);
            }
            open = Some(Block::of_row(csr, row));
        }
        open.into_iter().for_each(|last| self.of_height[last.height() - 1].push(last));
    }

    pub fn columns<'a, T>(&'a self, csr: &'a Csr<T>, block: &Block) -> &'a [u32] {
        columns(csr, &self.unions, block)
    }

    /// Adds the row below a block to it, if its nonzeros and those of the block fill their columns well enough.
    fn join<T>(&mut self, csr: &Csr<T>, block: &mut Block) -> bool {
        let row = csr.row(block.rows().end);
        let (a, b) = (columns(csr, &self.unions, block), &csr.column_indices()[row.clone()]);
        // This is cheap and excludes most pairs of rows of an irregular matrix.
        if a.first() != b.first() && a.last() != b.last() {
            return false;
        }
        if a != b {
            let nonzeros = row.end - csr.row_offsets()[block.row as usize] as usize;
            let most = (nonzeros as f64 / BLOCK_FILL) as usize / (block.height() + 1);
            let start = self.unions.len();
            if !unite(a, b, most, &mut self.union) {
                return false;
            }
            let width = self.union.len();
            block.holes |= width != block.width() || width != row.len();
            (block.start, block.width, block.is_union) = (start as u32, width as u32, true);
            self.unions.extend(&self.union);
        }
        block.height += 1;
        true
    }

    /// Sorts the blocks of a height by width, the widest first and in order if equal, in groups of `SORTED` registers.
    pub fn sort<const LANES: usize>(&mut self, height: usize) {
        let mut list = take(&mut self.of_height[height - 1]);
        for group in list.chunks_mut(SORTED * LANES) {
            if !group.is_sorted_by_key(|block| Reverse(block.width)) {
                self.sort_group(group);
            }
        }
        self.of_height[height - 1] = list;
    }

    fn sort_group(&mut self, group: &mut [Block]) {
        let widest = group.iter().map(Block::width).max().unwrap_or(0);
        if widest > 4 * group.len() {
            return group.sort_by_key(|block| Reverse(block.width));
        }
        // A counting sort: `ends[k]` is where the next block that is `k` narrower than the widest belongs.
        self.ends.clear();
        self.ends.resize(widest + 2, 0);
        group.iter().for_each(|block| self.ends[widest - block.width() + 1] += 1);
        for key in 0..=widest {
            self.ends[key + 1] += self.ends[key];
        }
        self.unsorted.clear();
        self.unsorted.extend_from_slice(group);
        for block in &self.unsorted {
            let end = &mut self.ends[widest - block.width()];
            group[*end] = *block;
            *end += 1;
        }
    }
}

impl Block {
    pub fn of_row<T>(csr: &Csr<T>, row: usize) -> Self {
        let (start, width) = (csr.row_offsets()[row], csr.row(row).len() as u32);
        Self { row: row as u32, width, start, is_union: false, height: 1, holes: false }
    }

    pub fn rows(&self) -> Range<usize> {
        self.row as usize..self.row as usize + self.height()
    }

    pub fn height(&self) -> usize {
        self.height.into()
    }

    pub fn width(&self) -> usize {
        self.width as usize
    }
}

fn columns<'a, T>(csr: &'a Csr<T>, unions: &'a [u32], block: &Block) -> &'a [u32] {
    let all = if block.is_union { unions } else { csr.column_indices() };
    &all[block.start as usize..][..block.width()]
}

/// Writes the union of two ascending lists to `union`. Returns `false` as soon as it is certain that it has more than
/// `most` elements.
fn unite(a: &[u32], b: &[u32], most: usize, union: &mut Vec<u32>) -> bool {
    union.clear();
    if a.len().max(b.len()) > most {
        return false;
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if union.len() + (a.len() - i).max(b.len() - j) > most {
            return false;
        }
        let next = a[i].min(b[j]);
        i += usize::from(a[i] == next);
        j += usize::from(b[j] == next);
        union.push(next);
    }
    union.extend(&a[i..]);
    union.extend(&b[j..]);
    union.len() <= most
}
