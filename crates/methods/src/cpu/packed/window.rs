//! A packed window: the streams that the kernels read from front to back.

use std::ops::Range;

use super::factors::Factors;
use crate::simd::Mask;
use spmv_matrix::scalar::Scalar;

/// The estimated cost of a step of a slice, which gathers a register of x, in multiplications of registers.
pub const STEP: usize = 6;
/// The estimated cost of summing the lanes of a register, or of storing them one by one, in multiplications
/// of registers.
pub const LANE_SUM: usize = 12;

/// Contiguous rows, packed. All streams are read once and in order: bands, then segments, then long rows.
/// The invariants on which the kernel relies are listed in [`check`](super::check).
pub struct Window<T> {
    /// The first row of the window.
    pub first_row: usize,
    /// The number of rows, at most 2^16.
    pub rows: usize,
    /// The number of values per register of the kernel for which the window is packed.
    pub width: usize,
    /// The value of each nonzero.
    pub factors: Factors<T>,
    /// The column index of each nonzero outside the bands. The rows of a block share their column indices.
    pub columns: Columns,
    /// The bands: runs of slices on the same diagonals.
    pub bands: Vec<Band>,
    /// The lists of diagonals of the bands. Equal lists are stored once.
    pub diagonals: Vec<Diagonal>,
    /// The segments: slices of blocks of equal height.
    pub segments: Vec<Segment>,
    /// The slices of all segments.
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

/// A run of slices, each of as many consecutive rows as a register has lanes. All have nonzeros on the same
/// diagonals.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The first row, relative to the window's first row.
    pub row: usize,
    /// The number of slices.
    pub slices: usize,
    /// The list of diagonals, as a range of the window's `diagonals`.
    pub diagonals: Range<usize>,
}

/// One diagonal of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The number of slices.
    pub slices: usize,
}

/// The largest number of rows in a block.
pub const MAX_HEIGHT: usize = 4;

/// As many blocks as a register has lanes, the longest first. Step j contains the j-th column of each block
/// that has one.
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

/// The column indices of a window.
pub enum Columns {
    /// Distances from the lowest column.
    Near {
        /// The lowest column of the window.
        base: u32,
        /// The distance of each column from `base`.
        deltas: Vec<u16>,
    },
    /// The column indices without compression.
    Far(Vec<u32>),
}

impl Columns {
    /// Returns an empty stream for at most `capacity` column indices between these two, in the narrowest type.
    pub fn between(first: u32, last: u32, capacity: usize) -> Self {
        match last - first <= u16::MAX.into() {
            true => Self::Near { base: first, deltas: Vec::with_capacity(capacity) },
            false => Self::Far(Vec::with_capacity(capacity)),
        }
    }

    /// Returns the column index at index `at`.
    pub fn get(&self, at: usize) -> usize {
        match self {
            Self::Near { base, deltas } => *base as usize + usize::from(deltas[at]),
            Self::Far(columns) => columns[at] as usize,
        }
    }

    /// Ends the stream with `slack` valid column indices, so that loads of whole registers may read past its end.
    pub fn end(&mut self, slack: usize) {
        match self {
            Self::Near { deltas, .. } => {
                deltas.resize(deltas.len() + slack, 0);
                deltas.shrink_to_fit();
            }
            Self::Far(columns) => {
                columns.resize(columns.len() + slack, 0);
                columns.shrink_to_fit();
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Near { deltas, .. } => size_of_val(&deltas[..]),
            Self::Far(columns) => size_of_val(&columns[..]),
        }
    }
}

impl<T: Scalar> Default for Window<T> {
    /// Returns a window without rows.
    fn default() -> Self {
        Self {
            first_row: 0,
            rows: 0,
            width: 0,
            factors: Factors::Same(T::zero()),
            columns: Columns::Far(Vec::new()),
            bands: Vec::new(),
            diagonals: Vec::new(),
            segments: Vec::new(),
            slices: Vec::new(),
            lanes: Vec::new(),
            masks: Vec::new(),
            block_rows: Vec::new(),
            long_rows: Vec::new(),
        }
    }
}

impl<T> Window<T> {
    /// Returns the estimated time of the window's product, in multiplications of registers.
    pub fn cost(&self) -> usize {
        let bands: usize =
            self.bands.iter().map(|band| band.slices * (2 * band.diagonals.len() + 6)).sum();
        let mut slices = &self.slices[..];
        let mut steps = 0;
        for segment in &self.segments {
            let (own, rest) = slices.split_at(segment.slices);
            let of =
                |slice: &Slice| (slice.full + slice.partial) as usize * (STEP + segment.height);
            steps += own.iter().map(of).sum::<usize>() + own.len() * LANE_SUM * segment.height;
            slices = rest;
        }
        let long: usize =
            self.long_rows.iter().map(|&(_, length)| length as usize * STEP / 8 + LANE_SUM).sum();
        bands + steps + long
    }

    /// Returns the bytes of the values, of the column indices, and of all other streams of these windows.
    pub fn bytes(windows: &[Self]) -> (usize, usize, usize) {
        windows.iter().fold((0, 0, 0), |(factors, columns, rest), window| {
            let (of_factors, of_columns) = (window.factors.bytes(), window.columns.bytes());
            (factors + of_factors, columns + of_columns, rest + window.bytes_of_structure())
        })
    }

    fn bytes_of_structure(&self) -> usize {
        size_of_val(&self.bands[..])
            + size_of_val(&self.diagonals[..])
            + size_of_val(&self.segments[..])
            + size_of_val(&self.slices[..])
            + self.lanes.len()
            + size_of_val(&self.masks[..])
            + size_of_val(&self.block_rows[..])
            + size_of_val(&self.long_rows[..])
    }
}
