//! The tiles of a thread: section 3 of the paper.

use std::ops::Range;

use anyhow::{Context, Result, ensure};
use crossbeam_utils::CachePadded;

use super::Shape;
use crate::formats::check_columns;
use spmv_matrix::Csr;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;

/// The flag in `tile_rows` of a dirty tile: a row that ends before the tile's last row is empty, so the
/// rows that start in the tile are not consecutive.
pub const DIRTY: u32 = 1 << 31;

const CACHE_LINE: usize = 64;

/// Consecutive tiles, allocated by the thread that owns them.
#[derive(Default)]
pub struct Chunk<T> {
    /// The rows of y that this thread writes: those that start in its tiles. The row of the first nonzero
    /// is not included; its sum becomes the calibrator.
    pub rows: Range<usize>,
    /// `tile_ptr`: the row of each tile's first nonzero, combined with [`DIRTY`]. The last element is the
    /// row of the nonzero after the last tile.
    pub tile_rows: Vec<u32>,
    /// `bit_flag`: bit `step · ω + lane` of a tile is set if a row starts at that nonzero. The bit of the
    /// tile's first nonzero is never set.
    pub flags: Vec<u64>,
    /// `y_offset`: ω values per tile, for each lane the number of flags in the lanes before it.
    pub y_offsets: Vec<u8>,
    /// `empty_offset`: for each flag of a dirty tile, the distance of its row from the tile's row, minus one.
    pub empty_offsets: Vec<u32>,
    /// The index in `empty_offsets` of a dirty tile's first element.
    pub empty_starts: Vec<u32>,
    pub columns: Vec<u32>,
    /// The values, column-major in each tile, from index `values_start` on.
    pub values: Vec<T>,
    /// The index of the first value, chosen so that no register that is loaded crosses a cache line.
    pub values_start: usize,
    /// The last product's sum for the row of the first tile.
    pub calibrator: T,
}

/// Returns an upper bound of the bytes of all chunks: descriptors of up to 20 bytes per 16 nonzeros, and an
/// offset per row of dirty tiles.
pub fn memory(extent: &Extent) -> u64 {
    extent.nnz * (extent.value + 4 + 2) + 12 * extent.rows.min(extent.nnz)
}

impl<T: Scalar> Chunk<T> {
    pub fn fill(&mut self, csr: &Csr<T>, shape: Shape, tiles: Range<usize>) {
        let start = tiles.start * shape.nonzeros();
        let mut row = csr.row_offsets().partition_point(|&offset| offset as usize <= start) - 1;
        self.rows.start = (row + 1).min(csr.rows());
        self.flags = vec![0; tiles.len() * shape.words()];
        self.tile_rows.reserve(tiles.len() + 1);
        self.empty_starts.reserve(tiles.len());
        self.y_offsets.reserve(tiles.len() * shape.lanes);
        self.columns.reserve(tiles.len() * shape.nonzeros());
        self.values.reserve(tiles.len() * shape.nonzeros() + CACHE_LINE / size_of::<T>());
        self.values_start = self.values.as_ptr().align_offset(CACHE_LINE);
        self.values.resize(self.values_start, T::zero());
        for (index, tile) in tiles.enumerate() {
            let start = tile * shape.nonzeros();
            let next = self.push_descriptor(csr, shape, start, index, row);
            self.push_columns(csr, shape, start, row == next);
            row = next;
        }
        self.tile_rows.push(row as u32);
        self.rows.end = (row + 1).min(csr.rows());
    }

    /// Copies the nonzeros of a tile: in CSR order if they are in one row, otherwise transposed.
    fn push_columns(&mut self, csr: &Csr<T>, shape: Shape, start: usize, one_row: bool) {
        if one_row {
            let nonzeros = start..start + shape.nonzeros();
            self.columns.extend_from_slice(&csr.column_indices()[nonzeros.clone()]);
            self.values.extend_from_slice(&csr.values()[nonzeros]);
            return;
        }
        for step in 0..shape.sigma {
            let nonzeros = (0..shape.lanes).map(|lane| start + lane * shape.sigma + step);
            self.columns.extend(nonzeros.clone().map(|k| csr.column_indices()[k]));
            self.values.extend(nonzeros.map(|k| csr.values()[k]));
        }
    }

    /// Adds the descriptor of a tile: finds the rows that start after its first nonzero, which is in `row`.
    /// Returns the row of the nonzero after the tile.
    fn push_descriptor(
        &mut self,
        csr: &Csr<T>,
        shape: Shape,
        start: usize,
        index: usize,
        row: usize,
    ) -> usize {
        let end = start + shape.nonzeros();
        let flags = &mut self.flags[index * shape.words()..][..shape.words()];
        let empty_start = self.empty_offsets.len();
        let mut counts = [0; 16];
        let mut next = row + 1;
        while next < csr.rows() && (csr.row_offsets()[next] as usize) < end {
            if !csr.row(next).is_empty() {
                let nonzero = csr.row(next).start - start;
                let (lane, step) = (nonzero / shape.sigma, nonzero % shape.sigma);
                let bit = step * shape.lanes + lane;
                flags[bit / 64] |= 1 << (bit % 64);
                counts[lane] += 1;
                self.empty_offsets.push((next - row - 1) as u32);
            }
            next += 1;
        }
        let before = counts[..shape.lanes].iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum - count)
        });
        self.y_offsets.extend(before);
        let offsets = &self.empty_offsets[empty_start..];
        let dirty = offsets.iter().enumerate().any(|(flag, &offset)| offset as usize != flag);
        if !dirty {
            self.empty_offsets.truncate(empty_start);
        }
        self.empty_starts.push(empty_start as u32);
        self.tile_rows.push(row as u32 | if dirty { DIRTY } else { 0 });
        while next <= csr.rows() && csr.row_offsets()[next] as usize == end {
            next += 1;
        }
        next - 1
    }

    pub fn tiles(&self) -> usize {
        self.tile_rows.len() - 1
    }

    pub fn first_row(&self) -> usize {
        self.row(0)
    }

    /// Returns the row of a tile's first nonzero, or that of the nonzero after the last tile.
    #[inline(always)]
    pub fn row(&self, tile: usize) -> usize {
        (self.tile_rows[tile] & !DIRTY) as usize
    }

    /// Returns the size of the arrays in bytes. It does not depend on the alignment that the allocator chose.
    pub fn bytes(&self) -> usize {
        size_of::<CachePadded<Self>>()
            + size_of_val(&self.tile_rows[..])
            + size_of_val(&self.flags[..])
            + size_of_val(&self.y_offsets[..])
            + size_of_val(&self.empty_offsets[..])
            + size_of_val(&self.empty_starts[..])
            + size_of_val(&self.columns[..])
            + size_of_val(&self.values[self.values_start..])
            + CACHE_LINE
    }

    /// The invariants of a chunk, on which the unchecked accesses of the kernel rely.
    ///
    /// | name | invariant |
    /// |---|---|
    /// | TILES | each tile has its row, its flags, ω offsets, and ω · σ column indices and values |
    /// | COLUMNS | all column indices are columns of the matrix |
    /// | FLAGS | a tile has no more flags than nonzeros, and none if it is within one row; the offset of a lane is the number of flags in the lanes before it |
    /// | ROWS | the row that starts at a flag is one of the rows that the chunk writes |
    pub fn check(&self, shape: Shape, cols: usize) -> Result<()> {
        let tiles = self.tiles();
        let values = self.values.len().checked_sub(self.values_start);
        let lengths =
            [self.flags.len(), self.y_offsets.len(), self.empty_starts.len(), self.columns.len()];
        let of_tile = [shape.words(), shape.lanes, 1, shape.nonzeros()];
        let right = lengths == of_tile.map(|length| length * tiles);
        ensure!(
            right && values == Some(self.columns.len()),
            "TILES: arrays of lengths {lengths:?} for {tiles} tiles"
        );
        check_columns(&self.columns, cols)?;
        (0..tiles).try_for_each(|tile| self.check_tile(shape, tile))
    }

    fn check_tile(&self, shape: Shape, tile: usize) -> Result<()> {
        let words = &self.flags[tile * shape.words()..][..shape.words()];
        let has_flag = |bit: &usize| words[bit / 64] >> (bit % 64) & 1 == 1;
        let mut before = 0;
        for (lane, &offset) in
            self.y_offsets[tile * shape.lanes..][..shape.lanes].iter().enumerate()
        {
            ensure!(
                usize::from(offset) == before,
                "FLAGS: tile {tile}, lane {lane}: offset {offset}, not {before}"
            );
            before += (lane..shape.nonzeros()).step_by(shape.lanes).filter(has_flag).count();
        }
        let all = words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        ensure!(before == all, "FLAGS: {} flags after the nonzeros of tile {tile}", all - before);
        let within_row = self.row(tile) == self.row(tile + 1);
        ensure!(
            !within_row || all == 0,
            "FLAGS: {all} flags in tile {tile}, which is within one row"
        );
        let row = self.row(tile) + 1;
        ensure!(
            row >= self.rows.start,
            "ROWS: tile {tile} begins in row {}, before the chunk",
            row - 1
        );
        let last = match self.tile_rows[tile] & DIRTY {
            0 => all.checked_sub(1),
            _ => {
                let offsets = self.empty_offsets.get(self.empty_starts[tile] as usize..);
                let offsets = offsets.and_then(|offsets| offsets.get(..all));
                let offsets =
                    offsets.with_context(|| format!("ROWS: too few offsets for tile {tile}"))?;
                offsets.iter().max().map(|&offset| offset as usize)
            }
        };
        if let Some(last) = last.map(|offset| row + offset) {
            ensure!(last < self.rows.end, "ROWS: tile {tile} writes row {last}, after the chunk");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::{assert_named, of_cells};

    const SHAPE: Shape = Shape { lanes: 4, sigma: 4 };

    /// Returns the tiles (4 × 4) of a matrix whose rows have 3, 0, 0, 10, 3 and 36 nonzeros.
    fn small() -> Chunk<f64> {
        let lengths = [3, 0, 0, 10, 3, 36];
        let cells = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (row, k)));
        let mut chunk = Chunk::default();
        chunk.fill(&of_cells(6, 36, &Vec::from_iter(cells)), SHAPE, 0..3);
        chunk
    }

    /// The expected values were computed by hand.
    #[test]
    fn tiles_of_a_small_matrix() {
        let chunk = small();
        assert_eq!(chunk.tile_rows, [DIRTY, 5, 5, 5]);
        // Row 3 starts at nonzero 3, lane 0 and step 3, and row 4 at 13, lane 3 and step 1.
        assert_eq!(chunk.flags, [1 << 12 | 1 << 7, 0, 0]);
        assert_eq!(chunk.y_offsets[..4], [0, 1, 1, 1]);
        assert_eq!((&chunk.empty_offsets[..], chunk.empty_starts[0]), (&[2, 3][..], 0));
        assert_eq!(chunk.rows, 1..6);
        let values = &chunk.values[chunk.values_start..];
        assert_eq!(values[..6], [1.0, 5.0, 9.0, 13.0, 2.0, 6.0]);
        assert!(values[16..].iter().zip(17..).all(|(&value, k)| value == f64::from(k)));
        assert_eq!(values.as_ptr().addr() % CACHE_LINE, 0);
    }

    #[test]
    fn the_check_names_each_violated_invariant() {
        assert_named(
            small,
            |chunk| chunk.check(SHAPE, 36),
            &[
                ("TILES", |chunk| _ = chunk.values.pop()),
                ("TILES", |chunk| _ = chunk.empty_starts.pop()),
                ("COLUMNS", |chunk| chunk.columns[7] = 36),
                ("FLAGS", |chunk| chunk.y_offsets[1] = 0),
                ("FLAGS", |chunk| chunk.flags[0] |= 1 << 20),
                ("FLAGS", |chunk| chunk.flags[1] = 1 << 15),
                ("ROWS", |chunk| chunk.empty_offsets[1] = 5),
                ("ROWS", |chunk| _ = chunk.empty_offsets.pop()),
                ("ROWS", |chunk| chunk.rows.start = 2),
            ],
        );
    }
}
