//! A packed window: the streams that the kernels read from front to back.

use std::iter::repeat_n;
use std::ops::Range;

use super::factors::Factors;
use crate::simd::Mask;

/// The estimated cost of a step of a slice, which gathers a register of x, in multiplications of registers.
pub const STEP: usize = 6;
/// The estimated cost of summing or storing the lanes of a register one by one, in multiplications of registers.
pub const LANE_SUM: usize = 12;

/// Contiguous rows, packed. All streams are read once and in order: bands, then segments, then long rows. The unchecked
/// accesses of the kernel rely on these invariants:
///
/// | name | invariant |
/// |---|---|
/// | ROWS | all stored rows are in the window |
/// | BANDS | x has a column for each row of a band and each of its diagonals |
/// | SLICES | each partial step has its number of lanes, fewer than a register, and each step of a segment with holes its masks |
/// | FACTORS | from each index at which the kernel loads factors, the stream has a whole register |
/// | CODES | each code is an index into its table |
/// | COLUMNS | from each index at which the kernel loads column indices, the stream has a whole register, and all of these are columns of the matrix |
#[derive(Default)]
pub struct Window<T> {
    pub first_row: usize,
    /// The number of rows, at most 2^16.
    pub rows: usize,
    /// The number of values per register of the kernel for which the window is packed.
    pub width: usize,
    pub factors: Factors<T>,
    /// The column index of each nonzero outside the bands. The rows of a block share their column indices.
    pub columns: Columns,
    pub bands: Vec<Band>,
    /// The lists of diagonals of the bands. Equal lists are stored once.
    pub diagonals: Vec<Diagonal>,
    pub segments: Vec<Segment>,
    pub slices: Vec<Slice>,
    /// For each step in which some lanes of a slice have ended, the number of lanes that have not.
    pub lanes: Vec<u8>,
    /// For each step and row of a segment with holes, the lanes that have a nonzero there.
    pub masks: Vec<Mask>,
    /// The first row of each block of each slice, relative to the window's first row.
    pub block_rows: Vec<u16>,
    /// The rows that are stored one by one, relative to the window's first row, with their lengths.
    pub long_rows: Vec<(u16, u32)>,
}

/// A run of slices, each of as many consecutive rows as a register has lanes, all on the same diagonals.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The first row, relative to the window's first row.
    pub row: usize,
    pub slices: usize,
    /// The list of diagonals, as a range of the window's `diagonals`.
    pub diagonals: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagonal {
    /// The column index minus the row index.
    pub offset: i32,
    /// The rows of a slice that have a nonzero on this diagonal.
    pub mask: Mask,
}

/// Slices whose lanes are blocks of `height` rows with the same columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The number of rows per block, 1 to [`MAX_HEIGHT`].
    pub height: usize,
    /// Whether some rows have no nonzero in some of their block's columns.
    pub holes: bool,
    pub slices: usize,
}

pub const MAX_HEIGHT: usize = 4;

/// As many blocks as a register has lanes, the longest first. Step j has the j-th column of each block that has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The number of steps in which all lanes have a block.
    pub full: u32,
    /// The number of steps after these, in which some lanes have ended.
    pub partial: u32,
    /// The number of blocks; the last slice may have fewer blocks than lanes.
    pub blocks: u8,
    /// Whether there is a block in each lane, and the blocks begin in consecutive rows.
    pub consecutive: bool,
}

pub enum Columns {
    Near {
        base: u32,
        /// The distance of each column from `base`.
        deltas: Vec<u16>,
    },
    Far(Vec<u32>),
}

impl Default for Columns {
    fn default() -> Self {
        Self::Far(Vec::new())
    }
}

impl<T> Window<T> {
    /// Adds a slice to the last band, or begins a band with it. `row` is relative to the window's first row, and
    /// `diagonals` is the slice's list.
    pub fn add_to_bands(&mut self, row: usize, diagonals: Range<usize>) {
        match self.bands.last_mut() {
            Some(band) if band.row + band.slices * self.width == row && band.diagonals == diagonals => band.slices += 1,
            _ => self.bands.push(Band { row, slices: 1, diagonals }),
        }
    }

    /// Adds a slice of blocks with these first rows and widths, the widest first, and returns the sum of the widths.
    pub fn add_slice<const LANES: usize>(&mut self, all: impl ExactSizeIterator<Item = (u16, usize)> + Clone) -> usize {
        let mut widths = [0; LANES];
        let mut sum = 0;
        let mut consecutive = all.len() == LANES;
        let (first, steps) = all.clone().next().unwrap_or_default();
        for ((width, expected), (row, of_block)) in widths.iter_mut().zip(first..).zip(all.clone()) {
            *width = of_block;
            sum += of_block;
            consecutive &= row == expected;
        }
        for lanes in (1..LANES).rev() {
            let steps = widths[lanes - 1] - widths[lanes];
            self.lanes.extend(repeat_n(lanes as u8, steps));
        }
        let full = widths[LANES - 1];
        let (full, partial) = (full as u32, (steps - full) as u32);
        self.slices.push(Slice { full, partial, blocks: all.len() as u8, consecutive });
        self.block_rows.extend(all.map(|(row, _)| row));
        sum
    }

    /// Makes a segment of the slices that are in none, if there are any.
    pub fn add_segment(&mut self, height: usize, holes: bool) {
        let slices = self.slices.len() - self.segments.iter().map(|segment| segment.slices).sum::<usize>();
        if slices > 0 {
            self.segments.push(Segment { height, holes, slices });
        }
    }

    /// Returns the estimated time of the window's product, in multiplications of registers.
    pub fn cost(&self) -> usize {
        let bands: usize = self.bands.iter().map(|band| band.slices * (2 * band.diagonals.len() + 6)).sum();
        let (mut slices, mut steps) = (self.slices.iter(), 0);
        for Segment { height, slices: count, .. } in &self.segments {
            for slice in slices.by_ref().take(*count) {
                steps += (slice.full + slice.partial) as usize * (STEP + height) + LANE_SUM * height;
            }
        }
        let long: usize = self.long_rows.iter().map(|&(_, length)| length as usize * STEP / 8 + LANE_SUM).sum();
        bands + steps + long
    }

    /// Returns the bytes of the values, of the column indices, and of all other streams.
    pub fn bytes(&self) -> [usize; 3] {
        let columns = match &self.columns {
            Columns::Near { deltas, .. } => size_of_val(&deltas[..]),
            Columns::Far(columns) => size_of_val(&columns[..]),
        };
        let structure = size_of_val(&self.bands[..])
            + size_of_val(&self.diagonals[..])
            + size_of_val(&self.segments[..])
            + size_of_val(&self.slices[..])
            + self.lanes.len()
            + size_of_val(&self.masks[..])
            + size_of_val(&self.block_rows[..])
            + size_of_val(&self.long_rows[..]);
        [self.factors.bytes(), columns, structure]
    }
}
