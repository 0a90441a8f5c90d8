//! The blocks of BCCOO and the positions at which their parts are stored.

use std::ops::Range;

use rayon::prelude::*;

use crate::formats::fill;
use crate::formats::register_blocks::{Shape, block_offsets, block_rows, blocks_of, shape};
use crate::gpu::prelude::*;
use spmv_matrix::disjoint::DisjointMut;

pub const SHAPES: &[&str] = &["1x1", "1x2", "1x4", "2x1", "2x2", "2x4", "4x1", "4x2", "4x4"];

/// Returns the shape with the fewest bytes for the matrix: values, a column index and one bit per block.
pub fn fewest_bytes<T: Scalar>(csr: &Csr<T>) -> Shape {
    let eighths = |shape: &Shape| {
        let offsets = offsets(csr, *shape);
        let per_block = 8 * (shape.area() * size_of::<T>() + size_of::<u32>()) + 1;
        u64::from(offsets[offsets.len() - 1]) * per_block as u64
    };
    let shapes = SHAPES.iter().map(|word| shape(word));
    shapes.min_by_key(eighths).expect("there are nine")
}

/// Returns the number of blocks before each row of blocks, and the total. A row of blocks without entries has one
/// block. The total is at most the number of nonzeros plus the number of rows.
fn offsets<T: Scalar>(csr: &Csr<T>, shape: Shape) -> Vec<u32> {
    let mut offsets = block_offsets(csr, &(0..csr.rows()), shape);
    let (mut empty, mut before) = (0, 0);
    for offset in &mut offsets[1..] {
        empty += u32::from(*offset == before);
        before = *offset;
        *offset += empty;
    }
    offsets
}

/// Bounds the bytes of the blocks in whole tiles, with a carry per tile.
pub fn memory(extent: &Extent) -> u64 {
    let blocks = (extent.nnz + extent.rows).min(fill::most_places(extent));
    let threads = extent.number("threads").unwrap_or(128);
    let values_of_thread = extent.number("items").map_or(64, |items| 16 * items);
    // Per block: a column, a bit, and a share of its thread's row (at least four blocks); carries are less.
    let values = fill::most_places(extent) + threads * values_of_thread;
    values * extent.value + (blocks + threads * 16) * 6
}

/// Returns whether blocks of the requested shape, each with a single entry, may be refused. Those of the default shape
/// do not have more values than blocks of 1 x 1.
pub fn may_refuse(extent: &Extent) -> bool {
    let Shape { rows, cols } = shape(extent.word("block").unwrap_or("1x1"));
    let blocks = extent.rows.div_ceil(rows as u64) + extent.nnz;
    fill::is_refused(blocks * (rows * cols) as u64, extent.nnz)
}

/// The division of blocks into tiles: a tile has `threads` threads with `items` consecutive blocks each.
#[derive(Clone, Copy)]
pub struct Tiling {
    pub shape: Shape,
    pub threads: usize,
    pub items: usize,
}

impl Tiling {
    fn tile(self) -> usize {
        self.threads * self.items
    }

    /// Returns the index of a block's column: by tile, item, then thread, so that neighbouring threads read neighbours.
    fn column_place(self, block: usize) -> usize {
        let (tile, inside) = (block / self.tile(), block % self.tile());
        (tile * self.items + inside % self.items) * self.threads + inside / self.items
    }

    /// Returns the index of a value: in the order of the columns, with the rows of a block `threads` entries apart.
    fn value_place(self, block: usize, row: usize, col: usize) -> usize {
        let Shape { rows, cols } = self.shape;
        let (item, thread) = (self.column_place(block) / self.threads, self.column_place(block) % self.threads);
        ((item * rows + row) * self.threads + thread) * cols + col
    }
}

/// A matrix in BCCOO, padded to whole tiles.
pub struct Blocks<T> {
    /// The row of blocks in which each thread begins.
    pub first_rows: Vec<u32>,
    /// One bit per block, from the lowest: whether it is the last of its row of blocks.
    pub ends: Vec<u32>,
    /// The column of each block, in units of blocks.
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

impl<T: Scalar> Blocks<T> {
    pub fn of(csr: &Csr<T>, tiling: Tiling) -> Result<Self, Unavailable> {
        let offsets = offsets(csr, tiling.shape);
        let blocks = offsets[offsets.len() - 1] as usize;
        fill::check((blocks * tiling.shape.area()) as u64, csr.nnz())?;
        let padded = blocks.next_multiple_of(tiling.tile());
        let mut columns = vec![0; padded];
        let mut values = vec![T::zero(); padded * tiling.shape.area()];
        let arrays = (DisjointMut::new(&mut columns), DisjointMut::new(&mut values));
        let indices = (0..offsets.len() - 1).into_par_iter().with_min_len(16);
        indices.for_each_init(Vec::new, |columns, index| {
            let rows = block_rows(&(0..csr.rows()), tiling.shape.rows, index);
            blocks_of(csr, rows.clone(), tiling.shape.cols, columns);
            write(csr, tiling, rows, offsets[index] as usize, columns, (&arrays.0, &arrays.1));
        });
        Ok(Self {
            first_rows: first_rows(&offsets, padded, tiling.items),
            ends: ends(&offsets, padded),
            columns,
            values,
        })
    }
}

/// Writes a row of blocks, whose first block has the number `first`, to its positions in both arrays.
fn write<T: Scalar>(
    csr: &Csr<T>,
    tiling: Tiling,
    rows: Range<usize>,
    first: usize,
    columns: &[u32],
    arrays: (&DisjointMut<u32>, &DisjointMut<T>),
) {
    // SAFETY: each index is in range and belongs to one block, and each block belongs to one row of blocks.
    let put = |place: usize, column| unsafe { *arrays.0.at(place) = column };
    // SAFETY: each index is in range and belongs to one block, and each block belongs to one row of blocks.
    let put_value = |place: usize, value| unsafe { *arrays.1.at(place) = value };
    for (block, &column) in (first..).zip(columns) {
        put(tiling.column_place(block), column);
    }
    for (row, entries) in rows.map(|row| csr.row(row)).enumerate() {
        let mut index = 0;
        for k in entries {
            let (column, cols) = (csr.column_indices()[k] as usize, tiling.shape.cols);
            while (columns[index] as usize) < column / cols {
                index += 1;
            }
            put_value(tiling.value_place(first + index, row, column % cols), csr.values()[k]);
        }
    }
}

/// Returns the row of blocks of every `items`-th block; for padding blocks, the number of rows of blocks.
fn first_rows(offsets: &[u32], padded: usize, items: usize) -> Vec<u32> {
    let mut row = 0;
    let row_of = |block: usize| {
        while row + 1 < offsets.len() && offsets[row + 1] as usize <= block {
            row += 1;
        }
        row as u32
    };
    (0..padded).step_by(items).map(row_of).collect()
}

/// Returns the bits that mark the last block of each row of blocks.
fn ends(offsets: &[u32], padded: usize) -> Vec<u32> {
    let mut ends = vec![0; padded.div_ceil(32)];
    for offset in &offsets[1..] {
        let last = offset - 1;
        ends[last as usize / 32] |= 1 << (last % 32);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::of_blocks;

    #[test]
    fn the_shape_has_the_fewest_bytes() {
        for word in SHAPES {
            let shape = shape(word);
            assert_eq!(fewest_bytes(&of_blocks(shape.rows, shape.cols)), shape);
        }
        // Every other row has an entry: 8 · 36 + 1 eighths of a byte as 4 × 1, 2 (8 · 20 + 1) as 2 × 1.
        let column: Vec<_> = (0..20).map(|row| (2 * row, 0, 1.0)).collect();
        assert_eq!(fewest_bytes(&Csr::<f64>::from_triplets(40, 1, &column)), shape("4x1"));
    }

    #[test]
    fn mostly_fill_is_refused() {
        let scattered: Vec<_> = (0..400).map(|k| (k, k * 27 % 400, 1.0)).collect();
        let csr = Csr::<f64>::from_triplets(400, 400, &scattered);
        let reason = Blocks::of(&csr, Tiling { shape: shape("4x4"), threads: 2, items: 4 }).err();
        assert!(reason.unwrap().0.starts_with("would store 16.00 entries"));
    }
}
