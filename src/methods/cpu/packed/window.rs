//! What a window of rows becomes: the streams that the kernels read from front to back.

use std::ops::Range;

use crate::simd::{Aligned, Mask};

/// What a step of a slice costs, gathering a register of x, in the time of one multiplication.
pub const STEP: usize = 6;
/// What the sum over a register's lanes costs, or storing them one by one.
pub const LANE_SUM: usize = 12;

/// Contiguous rows, packed. All streams are read once and in order: bands, then segments, then long
/// rows. What the kernel relies on is in [`check`](super::check).
pub struct Window<T> {
    /// Its first row.
    pub first_row: usize,
    /// How many it has, at most 2^16.
    pub rows: usize,
    /// Values of a register of the kernel that it is packed for.
    pub width: usize,
    /// The value of each nonzero.
    pub factors: Factors<T>,
    /// The column of each nonzero outside the bands; rows of a block share theirs.
    pub columns: Columns,
    /// Runs of slices that lie on the same diagonals.
    pub bands: Vec<Band>,
    /// The lists of diagonals that bands lie on, each list once.
    pub diagonals: Vec<Diagonal>,
    /// Slices of blocks of equal height.
    pub segments: Vec<Segment>,
    /// The slices of all segments.
    pub slices: Vec<Slice>,
    /// For each step in which some lanes of a slice have run out: how many have not.
    pub lanes: Vec<u8>,
    /// For each step and row of a segment with holes: the lanes that have a nonzero there.
    pub masks: Vec<Mask>,
    /// The first row of each block of each slice, counted from the window's.
    pub block_rows: Vec<u16>,
    /// Rows of their own, from the window's first, and their lengths.
    pub long_rows: Vec<(u16, u32)>,
}

/// `slices` × a register of consecutive rows, all with nonzeros on the same diagonals.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Counted from the window's first.
    pub row: usize,
    /// How many follow each other.
    pub slices: usize,
    /// Its list of diagonals.
    pub diagonals: Range<usize>,
}

/// One diagonal of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Diagonal {
    /// Column minus row.
    pub offset: i32,
    /// The rows of a slice that have a nonzero on it.
    pub mask: Mask,
}

/// Slices whose lanes are blocks of `height` rows that share their columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Rows per block, 1 to [`MAX_HEIGHT`].
    pub height: usize,
    /// Whether some rows lack some of their block's columns.
    pub holes: bool,
    /// How many slices.
    pub slices: usize,
}

/// The most rows of a block.
pub const MAX_HEIGHT: usize = 4;

/// A register of blocks, the longest first; step j holds the j-th column of each block that has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Steps in which all lanes take part.
    pub full: u32,
    /// Steps after these.
    pub partial: u32,
    /// Blocks, fewer than lanes in a last slice.
    pub blocks: u8,
}

/// The columns of a stream.
pub enum Columns {
    /// Distances from `base`.
    Near {
        /// The lowest column.
        base: usize,
        /// Each below 2^16.
        deltas: Vec<u16>,
    },
    /// As they are.
    Far(Vec<u32>),
}

/// The values of a stream.
pub enum Factors<T> {
    /// All alike.
    Same(T),
    /// At most 256 different ones.
    Coded {
        /// The values.
        table: Vec<T>,
        /// An index into `table` for each.
        codes: Vec<u8>,
    },
    /// As they are. Each slice begins at a multiple of a register.
    Full(Aligned<T>),
}

impl Columns {
    /// The narrowest that hold them, with `slack` columns to over-read at the end.
    pub fn of(mut columns: Vec<u32>, slack: usize) -> Self {
        let base = columns.iter().copied().min().unwrap_or(0);
        let farthest = columns.iter().copied().max().unwrap_or(0) - base;
        columns.resize(columns.len() + slack, base);
        if farthest <= u16::MAX.into() {
            let deltas = columns.iter().map(|&column| (column - base) as u16).collect();
            Self::Near { base: base as usize, deltas }
        } else {
            Self::Far(columns)
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Near { deltas, .. } => size_of_val(&deltas[..]),
            Self::Far(columns) => size_of_val(&columns[..]),
        }
    }
}

impl<T> Factors<T> {
    fn bytes(&self) -> usize {
        match self {
            Self::Same(_) => size_of::<T>(),
            Self::Coded { table, codes } => size_of_val(&table[..]) + codes.len(),
            Self::Full(values) => size_of_val(&values[..]),
        }
    }
}

impl<T> Window<T> {
    /// About how long its product takes, in multiplications of registers.
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

    /// Bytes of all streams.
    pub fn bytes(&self) -> usize {
        self.factors.bytes()
            + self.columns.bytes()
            + size_of_val(&self.bands[..])
            + size_of_val(&self.diagonals[..])
            + size_of_val(&self.segments[..])
            + size_of_val(&self.slices[..])
            + self.lanes.len()
            + size_of_val(&self.masks[..])
            + size_of_val(&self.block_rows[..])
            + size_of_val(&self.long_rows[..])
    }
}
