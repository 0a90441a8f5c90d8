//! Converts CSR to tiles and groups them into units, one for each warp.

use rayon::prelude::*;

use super::encode::Encoded;
use super::format::{Format, SIDE, Tile};
use crate::gpu::prelude::*;

const UNIT: usize = 4;
/// The bit in a unit's first row number that is set if the row of tiles has several units.
const SHARED_ROWS: u32 = 1;
/// The number of rows of tiles that one task converts.
const TOGETHER: usize = 64;

/// The names of the formats, indexed by their numbers.
const NAMES: [&str; 7] = ["CSR", "COO", "ELL", "HYB", "dense", "of dense rows", "of dense columns"];

/// The choices that TileSpMV leaves to the user.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// Whether tiles may be in HYB.
    pub hyb: bool,
    /// Whether the entries that tiles would list are taken out of them.
    pub apart: bool,
}

/// A matrix in tiles, or some of its rows of tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiles<T> {
    /// The encoded tiles, ordered by row of tiles, then by column.
    pub encoded: Encoded<T>,
    lengths: Vec<usize>,
    /// Row, column and value of the entries outside the tiles, ordered by row.
    pub apart: Vec<(u32, u32, T)>,
}

/// The units: each is processed by one warp and contains tiles of one row of tiles.
#[derive(Debug, PartialEq)]
pub struct Units {
    /// The first row of each unit. The lowest bit is set if its row of tiles has several units.
    pub rows: Vec<u32>,
    /// The first tile of each unit, followed by the number of tiles.
    pub tiles: Vec<u32>,
}

impl<T: Scalar> Tiles<T> {
    pub fn of(csr: &Csr<T>, choices: Choices) -> Self {
        let tile_rows: Vec<_> = (0..csr.rows().div_ceil(SIDE)).collect();
        let part = |tile_rows: &[usize]| {
            let mut part = Self::none();
            tile_rows.iter().for_each(|&tile_row| part.push_row(csr, tile_row, choices));
            part
        };
        let parts: Vec<_> = tile_rows.par_chunks(TOGETHER).map(part).collect();
        let mut all = Self::none();
        for mut part in parts {
            all.encoded.append(part.encoded);
            all.lengths.append(&mut part.lengths);
            all.apart.append(&mut part.apart);
        }
        all
    }

    pub fn none() -> Self {
        Self { encoded: Encoded::default(), lengths: Vec::new(), apart: Vec::new() }
    }

    pub fn push_row(&mut self, csr: &Csr<T>, tile_row: usize, choices: Choices) {
        let first = tile_row * SIDE;
        let height = SIDE.min(csr.rows() - first);
        let (tiles, apart) = (self.encoded.tiles.len(), self.apart.len());
        let entries = entries(csr, first, height);
        for tile in entries.chunk_by(|a, b| a.0 == b.0) {
            let column = tile[0].0;
            let width = SIDE.min(csr.cols() - column as usize * SIDE);
            let places: Vec<_> = tile.iter().map(|entry| entry.1).collect();
            let values: Vec<_> = tile.iter().map(|entry| csr.values()[entry.2]).collect();
            let tile = Tile { height, width, places: &places, values: &values };
            self.push((tile_row as u32, column), tile, choices);
        }
        self.lengths.push(self.encoded.tiles.len() - tiles);
        self.apart[apart..].sort_by_key(|&(row, ..)| row);
    }

    /// Appends a tile, and moves its listed entries to `apart` if the choices require it.
    fn push(&mut self, (row, column): (u32, u32), tile: Tile<T>, choices: Choices) {
        let (format, width) = tile.format(choices.hyb);
        if !(choices.apart && matches!(format, Format::Coo | Format::Hyb)) {
            return self.encoded.push(column, tile, (format, width));
        }
        let (mut places, mut values, mut lengths) = (Vec::new(), Vec::new(), [0; SIDE]);
        for (&place, &value) in tile.places.iter().zip(tile.values) {
            let (r, c) = (u32::from(place / 16), u32::from(place % 16));
            if lengths[r as usize] == width {
                self.apart.push((16 * row + r, 16 * column + c, value));
                continue;
            }
            lengths[r as usize] += 1;
            places.push(place);
            values.push(value);
        }
        if width > 0 {
            let tile = Tile { places: &places, values: &values, ..tile };
            self.encoded.push(column, tile, (Format::Ell, width));
        }
    }

    /// Returns a note with the number of tiles in each format and of entries outside the tiles.
    pub fn describe(&self) -> String {
        let count = |format| self.encoded.tiles.iter().filter(|head| head[1] & 7 == format).count();
        let counts = (0..).zip(NAMES).map(|(format, name)| (count(format), name));
        let used = counts.filter(|(count, _)| *count > 0);
        let texts: Vec<_> = used.map(|(count, name)| format!("{count} {name}")).collect();
        format!("tiles: {}; {} entries apart", texts.join(", "), self.apart.len())
    }

    /// Returns the rows, of `rows`, that not exactly one unit writes.
    pub fn shared_rows(&self, rows: usize) -> Vec<u32> {
        let lengths = self.lengths.iter().enumerate();
        let shared = lengths.filter(|&(_, &length)| length == 0 || length > UNIT);
        shared.flat_map(|(k, _)| (SIDE * k) as u32..rows.min(SIDE * (k + 1)) as u32).collect()
    }

    pub fn units(&self) -> Units {
        let mut units = Units { rows: Vec::new(), tiles: vec![0] };
        let mut tiles = 0;
        for (row, &length) in self.lengths.iter().enumerate() {
            let mark = if length > UNIT { SHARED_ROWS } else { 0 };
            for first in (0..length).step_by(UNIT) {
                units.rows.push((SIDE * row) as u32 | mark);
                units.tiles.push((tiles + length.min(first + UNIT)) as u32);
            }
            tiles += length;
        }
        units
    }
}

/// Bounds the bytes of [`Tiles`]: values with padding and indices, a header and a share of a unit per tile, and the
/// entries apart with their rows and columns; and the list of rows that several units write or none.
pub fn memory(extent: &Extent) -> u64 {
    let side = SIDE as u64;
    let tiles = (extent.rows.div_ceil(side) * extent.cols.div_ceil(side)).min(extent.nnz);
    extent.nnz * (extent.value * 9 / 5 + 2)
        + 24 * tiles
        + 8 * (12 * tiles).min(extent.nnz - tiles)
        + 4 * extent.rows
}

/// Returns the column of tiles, the position in the tile and the index of each entry of some rows, ordered by tile.
fn entries<T>(csr: &Csr<T>, first: usize, height: usize) -> Vec<(u32, u8, usize)> {
    let entry = |row: usize, k: usize| {
        let column = csr.column_indices()[k];
        (column / 16, (16 * row as u32 + column % 16) as u8, k)
    };
    let of_row = |row: usize| csr.row(first + row).map(move |k| entry(row, k));
    let mut entries: Vec<_> = (0..height).flat_map(of_row).collect();
    entries.sort_unstable();
    entries
}
