//! Packs a window: decides for each of its rows how it is stored, and then writes the streams, whose sizes are known.
//!
//! The setup should cost no more than a few products, so each nonzero is read once to decide and once to write, the
//! comparisons stop as early as possible, and blocks are sorted by counting. Lists that a window needs only while it is
//! packed are kept for the next one.

use std::mem::take;

use super::blocks::{Block, Blocks, Single, sort_groups};
use super::diagonals::Diagonals;
use super::factors::Form;
use super::rows::{Read, Rows};
use super::window::{LANE_SUM, MAX_HEIGHT, STEP, Window};
use super::write::Writer;
use crate::cpu::prelude::*;

/// Returns the smallest fraction of the slots of a band that contain nonzeros. Below it, the empty slots have more
/// bytes than the 16-bit column indices of slices.
fn band_fill<T>() -> f64 {
    size_of::<T>() as f64 / (size_of::<T>() + size_of::<u16>()) as f64
}

#[derive(Clone, Copy)]
pub struct Packing {
    /// The instruction set of the kernel, whose registers have as many values as a slice has lanes: 4, 8 or 16.
    pub isa: Isa,
    /// The largest number of values in a table of codes; `None` if values are stored unchanged.
    pub table: Option<usize>,
    /// Rows with more nonzeros than this are not packed: all threads share them.
    pub longest: usize,
}

/// The number of slices whose blocks are sorted together by width. Fewer would mix more widths in a slice. More would
/// take more rows from the places where neighbouring rows use the same elements of x.
const SORTED: usize = 64;

pub struct Packer {
    packing: Packing,
    rows: Rows,
    diagonals: Diagonals,
    /// The rows outside of bands.
    rest: Vec<u16>,
    blocks: Blocks,
    /// The blocks of all slices of several rows per block, in the order in which they are stored.
    stored: Vec<Block>,
    sizes: Sizes,
}

impl Packer {
    pub fn new(packing: Packing) -> Self {
        Self {
            packing,
            rows: Rows::default(),
            diagonals: Diagonals::default(),
            rest: vec![],
            blocks: Blocks::default(),
            stored: vec![],
            sizes: Sizes::default(),
        }
    }

    /// Packs the rows `rows`, at most 2^16.
    pub fn pack<T: Scalar + Lanes>(&mut self, csr: &Csr<T>, rows: Range<usize>) -> Window<T> {
        match self.packing.isa.wide_lanes::<T>() {
            4 => self.pack_for::<T, 4>(csr, rows),
            8 => self.pack_for::<T, 8>(csr, rows),
            16 => self.pack_for::<T, 16>(csr, rows),
            lanes => unreachable!("no register has {lanes} values"),
        }
    }

    fn pack_for<T: Scalar + Lanes, const LANES: usize>(&mut self, csr: &Csr<T>, rows: Range<usize>) -> Window<T> {
        let Packing { isa, longest, .. } = self.packing;
        let form = match self.packing.table {
            Some(most) => Form::of(&csr.values()[entries_of(csr, &rows)], most),
            None => Form::Full,
        };
        let mut window = Window { first_row: rows.start, rows: rows.len(), width: LANES, ..Window::default() };
        self.sizes = Sizes::default();
        isa.run(Read { csr, rows, longest, to: &mut self.rows });
        self.find_bands::<T, LANES>(csr, &mut window);
        self.blocks.find(csr, &self.rows, &self.rest, longest);
        self.find_slices::<T, LANES>(csr, &mut window);
        let writer = Writer::<T, LANES> {
            csr,
            blocks: &self.blocks,
            stored: &self.stored,
            window: &window,
            columns: self.sizes.columns,
            within: self.rows.columns.clone(),
            factors: self.sizes.factors,
            form,
        };
        let (columns, factors, masks) = isa.run_wide(writer);
        Window { columns, factors, masks, ..window }
    }

    /// Makes bands of slices of consecutive rows that are on few diagonals, and lists the other rows.
    fn find_bands<T, const LANES: usize>(&mut self, csr: &Csr<T>, window: &mut Window<T>) {
        self.diagonals.clear();
        self.rest.clear();
        let most_per_nonzero = 1.0 / (band_fill::<T>() * LANES as f64);
        let longest = self.packing.longest;
        let (slices, rest) = self.rows.lengths.as_chunks::<LANES>();
        for (slice, lengths) in slices.iter().enumerate() {
            let row = slice * LANES;
            let most = (lengths.iter().sum::<u32>() as f64 * most_per_nonzero) as usize;
            let widest = lengths.iter().fold(0, |widest, &length| length.max(widest)) as usize;
            // Rows on the same diagonals nearly always begin or end on the same one as the row before.
            let shifted = self.rows.shifted[row + 1..row + LANES].iter().map(|&is| u8::from(is)).sum::<u8>();
            let suits = widest <= most.min(longest) && usize::from(shifted) >= LANES / 2;
            let rows = window.first_row + row..window.first_row + row + LANES;
            if suits && self.diagonals.find(csr, rows, most) {
                let list = self.diagonals.list_in(&mut window.diagonals);
                self.sizes.add(0, list.len() * LANES, LANES);
                window.add_to_bands(row, list);
                if let Some(next) = self.rows.alike.get_mut(row + LANES) {
                    *next = false;
                }
            } else {
                self.rest.extend(row as u16..(row + LANES) as u16);
            }
        }
        let rows = self.rows.lengths.len();
        self.rest.extend((rows - rest.len()..rows).map(|row| row as u16));
    }

    /// Puts the blocks into slices, the blocks with most rows first. Blocks whose slice would have too few lanes are
    /// split into rows. Rows that differ too much in length are stored last, one by one.
    fn find_slices<T, const LANES: usize>(&mut self, csr: &Csr<T>, window: &mut Window<T>) {
        self.stored.clear();
        for height in (2..=MAX_HEIGHT).rev() {
            let mut all = take(&mut self.blocks.of_height[height - 2]);
            sort_groups(&mut all, SORTED * LANES, |block| block.width() as u32);
            let before = self.stored.len();
            for blocks in all.chunks(LANES) {
                let rows = blocks.iter().flat_map(|block| block.row..block.row + height as u16);
                let singles = rows.map(|row| Single { row, width: self.rows.lengths[usize::from(row)] });
                if pays_by_rows(height, blocks[0].width(), blocks.len(), singles.clone(), LANES) {
                    self.blocks.singles.extend(singles);
                } else {
                    let columns = window.add_slice::<LANES>(blocks.iter().map(|block| (block.row, block.width())));
                    self.sizes.add(columns, columns * height, LANES);
                    self.stored.extend(blocks);
                }
            }
            let holes = self.stored[before..].iter().any(|block| block.holes);
            if holes {
                self.stored[before..].iter_mut().for_each(|block| self.blocks.make_union(csr, block));
            }
            window.add_segment(height, holes);
            self.blocks.of_height[height - 2] = all;
        }
        sort_groups(&mut self.blocks.singles, SORTED * LANES, |single| single.width);
        for singles in self.blocks.singles.chunks(LANES) {
            if pays_by_rows(1, singles[0].width as usize, singles.len(), singles.iter().copied(), LANES) {
                for &Single { row, width } in singles {
                    self.sizes.add(width as usize, width as usize, LANES);
                    window.long_rows.push((row, width));
                }
            } else {
                let all = singles.iter().map(|single| (single.row, single.width as usize));
                let columns = window.add_slice::<LANES>(all);
                self.sizes.add(columns, columns, LANES);
            }
        }
        window.add_segment(1, false);
    }
}

/// The number of column indices, and of factors with the empty slots that align each slice and long row.
#[derive(Clone, Copy, Default)]
struct Sizes {
    columns: usize,
    factors: usize,
}

impl Sizes {
    fn add(&mut self, columns: usize, factors: usize, lanes: usize) {
        self.columns += columns;
        self.factors += factors.next_multiple_of(lanes);
    }
}

/// Returns whether so many blocks, the widest of this width, are faster to multiply row by row, because they are few or
/// differ too much in length. `rows` are all their rows.
fn pays_by_rows(height: usize, width: usize, blocks: usize, rows: impl Iterator<Item = Single>, lanes: usize) -> bool {
    let together = width * (STEP + height) + height * LANE_SUM;
    // Most slices are decided by the number of their rows alone.
    let by_rows = blocks * height * LANE_SUM;
    let steps = |row: Single| (row.width as usize).div_ceil(lanes) * (STEP + 1);
    together > by_rows && together > by_rows + rows.map(steps).sum::<usize>()
}
