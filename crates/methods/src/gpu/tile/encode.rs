//! Tiles as the kernel reads them: a header of four words, values, and indices of one byte.

use super::format::{Format, SIDE, Tile};
use spmv_matrix::scalar::Scalar;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded<T> {
    /// Four words per tile: its column of tiles, its shape, and the offsets of its values and of its indices. The shape has
    /// the number of the format, its size and the number of listed entries.
    pub tiles: Vec<[u32; 4]>,
    pub values: Vec<T>,
    pub indices: Vec<u8>,
}

impl<T: Scalar> Encoded<T> {
    /// Appends a tile. No offset reaches 2³²: a nonzero needs at most 1.78 values, in ELL, and 1.77 index bytes, in
    /// the smallest CSR tiles. The only exception is a dense tile in the corner of the matrix.
    pub fn push(&mut self, column: u32, tile: Tile<T>, (format, size): (Format, usize)) {
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
        self.tiles.push([column, shape, values, indices]);
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

    /// Appends up to `width` entries of each row, then the other entries with both coordinates. Returns the number of
    /// the latter.
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

    pub fn append(&mut self, mut other: Self) {
        let (values, indices) = (self.values.len() as u32, self.indices.len() as u32);
        let moved = |[column, shape, v, i]: [u32; 4]| [column, shape, v + values, i + indices];
        self.tiles.extend(other.tiles.drain(..).map(moved));
        self.values.append(&mut other.values);
        self.indices.append(&mut other.indices);
    }
}
