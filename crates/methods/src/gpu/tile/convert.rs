//! Converts CSR to tiles as the kernel reads them, and groups them into units, one for each warp.

use rayon::prelude::*;

use super::format::{Format, SIDE, Tile};
use crate::gpu::{csr5, prelude::*};

/// The most tiles of a unit.
pub const UNIT: usize = 4;
/// The bit in a unit's first row number that is set if the row of tiles has several units.
pub const SHARED_ROWS: u32 = 1;
/// The number of rows of tiles that one task converts.
const TOGETHER: usize = 64;

/// The names of the formats, indexed by their numbers.
const NAMES: [&str; 7] = ["CSR", "COO", "ELL", "HYB", "dense", "of dense rows", "of dense columns"];

/// The choices that TileSpMV leaves to the user.
#[derive(Clone, Copy)]
pub struct Choices {
    /// Whether tiles may be in HYB.
    pub hyb: bool,
    /// Whether the entries that tiles would list are taken out of them.
    pub apart: bool,
}

/// A matrix in tiles, or some of its rows of tiles.
#[derive(Default)]
pub struct Tiles<T> {
    /// Four words per tile, ordered by row of tiles, then by column: its column of tiles, its shape, and the offsets of
    /// its values and of its indices. The shape has the number of the format, its size and the number of listed
    /// entries.
    pub heads: Vec<[u32; 4]>,
    pub values: Vec<T>,
    pub indices: Vec<u8>,
    /// The number of tiles in each row of tiles.
    lengths: Vec<usize>,
    /// Row, column and value of the entries outside the tiles, ordered by row.
    pub apart: Vec<(u32, u32, T)>,
}

impl<T: Scalar> Tiles<T> {
    pub fn of(csr: &Csr<T>, choices: Choices) -> Self {
        let tile_rows: Vec<_> = (0..csr.rows().div_ceil(SIDE)).collect();
        let part = |tile_rows: &[usize]| {
            let mut part = Self::default();
            tile_rows.iter().for_each(|&tile_row| part.push_row(csr, tile_row, choices));
            part
        };
        let parts: Vec<_> = tile_rows.par_chunks(TOGETHER).map(part).collect();
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.append(part));
        all
    }

    fn append(&mut self, mut part: Self) {
        let (values, indices) = (self.values.len() as u32, self.indices.len() as u32);
        let moved = |[column, shape, v, i]: [u32; 4]| [column, shape, v + values, i + indices];
        self.heads.extend(part.heads.into_iter().map(moved));
        self.values.append(&mut part.values);
        self.indices.append(&mut part.indices);
        self.lengths.append(&mut part.lengths);
        self.apart.append(&mut part.apart);
    }

    fn push_row(&mut self, csr: &Csr<T>, tile_row: usize, choices: Choices) {
        let first = tile_row * SIDE;
        let height = SIDE.min(csr.rows() - first);
        let (tiles, apart) = (self.heads.len(), self.apart.len());
        let entries = entries(csr, first, height);
        for tile in entries.chunk_by(|a, b| a.0 == b.0) {
            let column = tile[0].0;
            let width = SIDE.min(csr.cols() - column as usize * SIDE);
            let places: Vec<_> = tile.iter().map(|entry| entry.1).collect();
            let values: Vec<_> = tile.iter().map(|entry| csr.values()[entry.2]).collect();
            let tile = Tile { height, width, places: &places, values: &values };
            self.push((tile_row as u32, column), tile, choices);
        }
        self.lengths.push(self.heads.len() - tiles);
        self.apart[apart..].sort_by_key(|&(row, ..)| row);
    }

    /// Appends a tile, and moves its listed entries to `apart` if the choices require it.
    fn push(&mut self, (row, column): (u32, u32), tile: Tile<T>, choices: Choices) {
        let (format, width) = tile.format(choices.hyb);
        if !(choices.apart && matches!(format, Format::Coo | Format::Hyb)) {
            return self.encode(column, tile, (format, width));
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
            self.encode(column, tile, (Format::Ell, width));
        }
    }

    /// Appends a tile. No offset reaches 2³²: a nonzero needs at most 1.78 values, in ELL, and 1.77 index bytes, in
    /// the smallest CSR tiles. The only exception is a dense tile in the corner of the matrix.
    fn encode(&mut self, column: u32, tile: Tile<T>, (format, size): (Format, usize)) {
        let (values, indices) = (self.values.len() as u32, self.indices.len() as u32);
        let mut listed = 0;
        match format {
            Format::Csr => self.push_csr(tile),
            Format::Coo | Format::Ell | Format::Hyb => listed = self.push_ell(tile, size),
            Format::Dense => self.push_columns(tile, Some, tile.width),
            Format::DenseRows => self.push_rows(tile),
            Format::DenseColumns => self.push_full_columns(tile, size),
        }
        let shape = (format as usize | size << 3 | listed << 11) as u32;
        self.heads.push([column, shape, values, indices]);
    }

    /// Appends the offsets of the 16 rows, then the columns, two per byte.
    fn push_csr(&mut self, tile: Tile<T>) {
        let mut start = 0;
        for length in tile.row_lengths() {
            self.indices.push(start);
            start += length as u8;
        }
        self.push_halves(tile.places);
        self.values.extend(tile.values);
    }

    /// Appends up to `width` entries of each row, then the others with both coordinates; returns their number.
    fn push_ell(&mut self, tile: Tile<T>, width: usize) -> usize {
        let mut columns = vec![0; width * tile.height];
        let first = self.values.len();
        self.values.resize(first + columns.len(), T::zero());
        let (mut lengths, mut listed) = ([0; SIDE], Vec::new());
        for (&place, &value) in tile.places.iter().zip(tile.values) {
            let row = usize::from(place / 16);
            if lengths[row] < width {
                let at = lengths[row] * tile.height + row;
                columns[at] = place % 16;
                self.values[first + at] = value;
                lengths[row] += 1;
            } else {
                listed.push(place);
                self.values.push(value);
            }
        }
        self.push_halves(&columns);
        self.indices.extend(&listed);
        listed.len()
    }

    /// Appends all cells of `count` columns, column by column; `rank` maps a column to its rank among them.
    fn push_columns(&mut self, tile: Tile<T>, rank: impl Fn(usize) -> Option<usize>, count: usize) {
        let first = self.values.len();
        self.values.resize(first + count * tile.height, T::zero());
        for (&place, &value) in tile.places.iter().zip(tile.values) {
            let (row, column) = (usize::from(place / 16), usize::from(place % 16));
            let rank = rank(column).expect("a column with an entry");
            self.values[first + rank * tile.height + row] = value;
        }
    }

    fn push_full_columns(&mut self, tile: Tile<T>, count: usize) {
        let lengths = tile.column_lengths();
        let full: Vec<_> = (0..SIDE).filter(|&column| lengths[column] > 0).collect();
        self.indices.extend(full.iter().map(|&column| column as u8));
        self.push_columns(tile, |column| full.binary_search(&column).ok(), count);
    }

    /// Appends the numbers of the nonempty rows, all of which are full, and their values.
    fn push_rows(&mut self, tile: Tile<T>) {
        let lengths = tile.row_lengths();
        self.indices.extend((0..SIDE as u8).filter(|&row| lengths[usize::from(row)] > 0));
        self.values.extend(tile.values);
    }

    /// Appends the lower four bits of `places`, two per byte, the first in the upper half.
    fn push_halves(&mut self, places: &[u8]) {
        let pair = |pair: &[u8]| (pair[0] % 16) << 4 | pair.get(1).map_or(0, |second| second % 16);
        self.indices.extend(places.chunks(2).map(pair));
    }

    /// Returns a note with the number of tiles in each format and of entries outside the tiles.
    pub fn describe(&self) -> String {
        let count = |format| self.heads.iter().filter(|head| head[1] & 7 == format).count();
        let counts = (0..).zip(NAMES).map(|(format, name)| (count(format), name));
        let used = counts.filter(|(count, _)| *count > 0);
        let texts: Vec<_> = used.map(|(count, name)| format!("{count} {name}")).collect();
        format!("tiles: {}; {} entries apart", texts.join(", "), self.apart.len())
    }

    /// Returns the entries outside the tiles as a matrix.
    pub fn outside(&self, rows: usize, cols: usize) -> Option<Csr<T>> {
        let mut lengths = vec![0; rows];
        self.apart.iter().for_each(|&(row, ..)| lengths[row as usize] += 1);
        let columns = self.apart.iter().map(|entry| entry.1).collect();
        let values = self.apart.iter().map(|entry| entry.2).collect();
        Csr::new(rows, cols, spmv_matrix::csr::offsets_of(lengths.into_iter()), columns, values)
    }

    /// Returns the rows, of `rows`, that not exactly one unit writes.
    pub fn shared_rows(&self, rows: usize) -> Vec<u32> {
        let lengths = self.lengths.iter().enumerate();
        let shared = lengths.filter(|&(_, &length)| length == 0 || length > UNIT);
        shared.flat_map(|(k, _)| (SIDE * k) as u32..rows.min(SIDE * (k + 1)) as u32).collect()
    }

    /// Returns the units: each is processed by one warp and contains tiles of one row of tiles. First the first row of
    /// each, whose lowest bit is set if its row of tiles has several units; then its first tile, and at the end the
    /// number of tiles.
    pub fn units(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut rows, mut first_tiles, mut tiles) = (Vec::new(), vec![0], 0);
        for (row, &length) in self.lengths.iter().enumerate() {
            let mark = if length > UNIT { SHARED_ROWS } else { 0 };
            for first in (0..length).step_by(UNIT) {
                rows.push((SIDE * row) as u32 | mark);
                first_tiles.push((tiles + length.min(first + UNIT)) as u32);
            }
            tiles += length;
        }
        (rows, first_tiles)
    }
}

/// Bounds the bytes of [`Tiles`]: each entry is in a tile, with padding and an index, or apart, in CSR and CSR5; a
/// header and a share of a unit per tile; the list of rows that several units write or none; and the rows of the
/// entries apart.
pub fn memory(extent: &Extent) -> u64 {
    let side = SIDE as u64;
    let tiles = (extent.rows.div_ceil(side) * extent.cols.div_ceil(side)).min(extent.nnz);
    let apart = 4 * (extent.nnz + extent.rows) + extent.nnz * extent.value;
    24 * tiles + 4 * extent.rows + apart + (csr5::METHOD.memory)(extent)
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
