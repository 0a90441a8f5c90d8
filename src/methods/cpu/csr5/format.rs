//! The tiles of a thread: section 3 of the paper.

use std::ops::Range;

use super::Shape;
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::scalar::Scalar;

/// In a tile's row: some row that ends before its last one is empty, so that the rows that start in
/// the tile are not consecutive.
pub const DIRTY: u32 = 1 << 31;

const CACHE_LINE: usize = 64;

/// Consecutive tiles, in the memory of the thread that owns them.
#[derive(Default)]
pub struct Chunk<T> {
    /// The rows of y that are this thread's to write: those that start in its tiles, but for the
    /// first, whose sum becomes the calibrator.
    pub rows: Range<usize>,
    /// `tile_ptr`: the row of each tile's first nonzero, with [`DIRTY`]; and that of the nonzero
    /// after the last tile.
    pub tile_rows: Vec<u32>,
    /// `bit_flag`: bit `step · ω + lane` of a tile is set when a row starts at that nonzero, the
    /// tile's first one excepted.
    pub flags: Vec<u64>,
    /// `y_offset`: ω per tile, the number of flags in the lanes before.
    pub y_offsets: Vec<u8>,
    /// `empty_offset`: for each flag of a dirty tile, how many rows after the tile's row its row is,
    /// less one.
    pub empty_offsets: Vec<u32>,
    /// Where a dirty tile's begin.
    pub empty_starts: Vec<u32>,
    /// The column indices, column-major in each tile.
    pub columns: Vec<u32>,
    /// The values likewise, from `values_start` on.
    pub values: Vec<T>,
    /// Where they begin, so that no register that is loaded lies in two cache lines.
    pub values_start: usize,
    /// What the last product found for the first tile's row.
    pub calibrator: T,
}

/// What all chunks take: descriptors of up to 20 bytes for 16 nonzeros, an offset per row of dirty tiles.
pub fn memory(extent: &Extent) -> u64 {
    extent.nnz * (extent.value + 4 + 2) + 12 * extent.rows.min(extent.nnz)
}

impl<T: Scalar> Chunk<T> {
    /// Takes over `tiles` of the matrix.
    pub fn fill(&mut self, csr: &Csr<T>, shape: Shape, tiles: Range<usize>) {
        let start = tiles.start * shape.nonzeros();
        let mut row = csr.row_offsets.partition_point(|&offset| offset as usize <= start) - 1;
        self.rows.start = (row + 1).min(csr.rows);
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
        self.rows.end = (row + 1).min(csr.rows);
    }

    /// Takes over the tile's nonzeros: as they are when they lie in one row, or else transposed.
    fn push_columns(&mut self, csr: &Csr<T>, shape: Shape, start: usize, one_row: bool) {
        if one_row {
            let nonzeros = start..start + shape.nonzeros();
            self.columns.extend_from_slice(&csr.column_indices[nonzeros.clone()]);
            self.values.extend_from_slice(&csr.values[nonzeros]);
            return;
        }
        for step in 0..shape.sigma {
            let nonzeros = (0..shape.lanes).map(|lane| start + lane * shape.sigma + step);
            self.columns.extend(nonzeros.clone().map(|k| csr.column_indices[k]));
            self.values.extend(nonzeros.map(|k| csr.values[k]));
        }
    }

    /// Finds the rows that start after the tile's first nonzero, which is `row`'s. Returns the row of
    /// the nonzero after the tile.
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
        while next < csr.rows && (csr.row_offsets[next] as usize) < end {
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
        while next <= csr.rows && csr.row_offsets[next] as usize == end {
            next += 1;
        }
        next - 1
    }

    /// How many it has.
    pub fn tiles(&self) -> usize {
        self.tile_rows.len() - 1
    }

    /// The row of its first nonzero.
    pub fn first_row(&self) -> usize {
        self.row(0)
    }

    /// The row of a tile's first nonzero, or of the one after the last tile.
    #[inline(always)]
    pub fn row(&self, tile: usize) -> usize {
        (self.tile_rows[tile] & !DIRTY) as usize
    }

    /// Bytes of its arrays, wherever the allocator has put them.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&self.tile_rows[..])
            + size_of_val(&self.flags[..])
            + size_of_val(&self.y_offsets[..])
            + size_of_val(&self.empty_offsets[..])
            + size_of_val(&self.empty_starts[..])
            + size_of_val(&self.columns[..])
            + size_of_val(&self.values[self.values_start..])
            + CACHE_LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { lanes: 4, sigma: 4 };

    /// Rows of 3, 0, 0, 10, 3 and 36 nonzeros in tiles of 4 × 4.
    fn small() -> Chunk<f64> {
        let lengths = [3, 0, 0, 10, 3, 36];
        let cells = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (row, k)));
        let triplets: Vec<_> =
            cells.enumerate().map(|(k, (row, col))| (row, col, k as f64)).collect();
        let csr = Csr::<f64>::from_triplets(6, 36, &triplets);
        let mut chunk = Chunk::default();
        chunk.fill(&csr, SHAPE, 0..3);
        chunk
    }

    /// Worked out by hand.
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
        assert_eq!(values[..6], [0.0, 4.0, 8.0, 12.0, 1.0, 5.0]);
        assert!(values[16..].iter().enumerate().all(|(k, &value)| value == (k + 16) as f64));
        assert_eq!(values.as_ptr().addr() % CACHE_LINE, 0);
    }
    #[test]
    fn each_broken_invariant_is_named() {
        type Break = fn(&mut Chunk<f64>);
        let cases: [(&str, Break); 9] = [
            ("TILES", |chunk| _ = chunk.values.pop()),
            ("TILES", |chunk| _ = chunk.empty_starts.pop()),
            ("COLUMNS", |chunk| chunk.columns[7] = 36),
            ("FLAGS", |chunk| chunk.y_offsets[1] = 0),
            ("FLAGS", |chunk| chunk.flags[0] |= 1 << 20),
            ("FLAGS", |chunk| chunk.flags[1] = 1 << 15),
            ("ROWS", |chunk| chunk.empty_offsets[1] = 5),
            ("ROWS", |chunk| _ = chunk.empty_offsets.pop()),
            ("ROWS", |chunk| chunk.rows.start = 2),
        ];
        small().check(SHAPE, 36).unwrap();
        for (name, break_it) in cases {
            let mut chunk = small();
            break_it(&mut chunk);
            let broken = chunk.check(SHAPE, 36).expect_err(name).to_string();
            assert!(broken.starts_with(name), "{name}: {broken}");
        }
    }
}
