//! The tiles of a thread: section 3 of the paper.

use super::shape::Shape;
use crate::cpu::prelude::*;
use crate::simd::{Aligned, LINE};

/// The flag in `tile_rows` of a dirty tile: a row that ends before the tile's last row is empty, so the
/// rows that start in the tile are not consecutive.
pub const DIRTY: u32 = 1 << 31;

/// Consecutive tiles, allocated by the thread that owns them. The unchecked accesses of the kernel rely on its
/// invariants:
///
/// | name | invariant |
/// |---|---|
/// | TILES | each tile has its row, its flags, ω offsets, and ω · σ column indices and values |
/// | COLUMNS | all column indices are columns of the matrix |
/// | FLAGS | the offset of a lane is the number of flags in the lanes before it |
/// | ROWS | the row that starts at a flag is one of the rows that the chunk writes |
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
    /// The values, column-major in each tile, aligned so that no register that is loaded crosses a cache line.
    pub values: Aligned<T>,
    /// The last product's sum for the row of the first tile.
    pub calibrator: T,
}

/// Bounds the bytes of all chunks: descriptors of up to 20 bytes per 16 nonzeros, an offset per row of dirty tiles.
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
        self.values = Aligned::with_capacity(tiles.len() * shape.nonzeros());
        for (index, tile) in tiles.enumerate() {
            let start = tile * shape.nonzeros();
            let next = self.push_descriptor(csr, shape, start, index, row);
            self.push_nonzeros(csr, shape, start, row == next);
            row = next;
        }
        self.tile_rows.push(row as u32);
        self.rows.end = (row + 1).min(csr.rows());
    }

    /// Copies the nonzeros of a tile: in CSR order if they are in one row, otherwise transposed.
    fn push_nonzeros(&mut self, csr: &Csr<T>, shape: Shape, start: usize, one_row: bool) {
        let values = self.values.append(shape.nonzeros(), T::zero());
        if one_row {
            let nonzeros = start..start + shape.nonzeros();
            self.columns.extend_from_slice(&csr.column_indices()[nonzeros.clone()]);
            values.copy_from_slice(&csr.values()[nonzeros]);
            return;
        }
        for (step, values) in values.chunks_exact_mut(shape.lanes).enumerate() {
            let nonzeros = (0..shape.lanes).map(|lane| start + lane * shape.sigma + step);
            self.columns.extend(nonzeros.clone().map(|k| csr.column_indices()[k]));
            values.iter_mut().zip(nonzeros).for_each(|(value, k)| *value = csr.values()[k]);
        }
    }

    /// Adds the descriptor of a tile: finds the rows that start after its first nonzero, which is in `row`.
    /// Returns the row of the nonzero after the tile.
    fn push_descriptor(&mut self, csr: &Csr<T>, shape: Shape, start: usize, index: usize, row: usize) -> usize {
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
            + size_of_val(&self.values[..])
            + LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::of_cells;

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
        let values = &chunk.values;
        assert_eq!(values[..6], [1.0, 5.0, 9.0, 13.0, 2.0, 6.0]);
        assert!(values[16..].iter().zip(17..).all(|(&value, k)| value == f64::from(k)));
    }
}
