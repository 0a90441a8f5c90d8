//! Block CSR with small dense blocks: the format of BCSR and of OSKI's register blocking.
//!
//! An r × c block begins at a multiple of r, counted from the first of the given rows, and at a multiple of c of the
//! columns. Only the last block of a block row may be moved left so that it ends inside the matrix. SIMD lanes run
//! along the longer side: blocks that are at least as tall as wide are stored column by column, others row by row.

use std::fmt::{self, Display};
use std::ops::Range;

use rayon::prelude::*;

use super::{entries_of, fill, offsets_of};
use crate::method::Unavailable;
use crate::method::profile::MAX_BLOCK_SIDE;
use spmv_matrix::Csr;
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;

/// The number of rows and columns of a block, each from 1 to [`MAX_BLOCK_SIDE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub rows: usize,
    pub cols: usize,
}

impl Shape {
    /// Returns all shapes up to the largest, by rows and then by columns.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=MAX_BLOCK_SIDE).flat_map(|rows| (1..=MAX_BLOCK_SIDE).map(move |cols| Self { rows, cols }))
    }

    pub fn area(self) -> usize {
        self.rows * self.cols
    }

    /// Returns the index of row `row` and column `col` of a block among the values of the block.
    fn place(self, row: usize, col: usize) -> usize {
        if self.rows >= self.cols { col * self.rows + row } else { row * self.cols + col }
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

/// A contiguous range of rows of a matrix, stored in dense blocks. The product on a CPU relies on these invariants:
/// - BLOCKS: each block row has the blocks between its offsets, each with a column and all its values;
/// - COLUMNS: all columns of a block are columns of the matrix.
#[derive(Clone)]
pub struct RegisterBlocks<T> {
    pub shape: Shape,
    pub rows: Range<usize>,
    /// For each block row the number of blocks before it, and at the end the total number of blocks.
    pub block_offsets: Vec<u32>,
    /// The first column of each block.
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

/// The blocks of `cols` columns in which some rows, at most R, have entries, in ascending order: the index of each, and
/// the range of its entries in each row.
struct Walk<'a, const R: usize> {
    columns: &'a [u32],
    cols: u32,
    /// The entries of each row that are left.
    left: [(usize, usize); R],
}

impl<'a, const R: usize> Walk<'a, R> {
    #[inline]
    fn new<T>(csr: &'a Csr<T>, rows: Range<usize>, cols: usize) -> Self {
        let mut left = [(0, 0); R];
        for (left, row) in left.iter_mut().zip(rows) {
            let Range { start, end } = csr.row(row);
            *left = (start, end);
        }
        Self { columns: csr.column_indices(), cols: cols as u32, left }
    }
}

impl<const R: usize> Iterator for Walk<'_, R> {
    type Item = (u32, [(usize, usize); R]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut first = u32::MAX;
        for (start, end) in self.left {
            first = first.min(if start < end { self.columns[start] } else { u32::MAX });
        }
        if first == u32::MAX {
            return None;
        }
        let index = first / self.cols;
        let last = index * self.cols + (self.cols - 1);
        let mut entries = self.left;
        for (entries, left) in entries.iter_mut().zip(&mut self.left) {
            while left.0 < left.1 && self.columns[left.0] <= last {
                left.0 += 1;
            }
            entries.1 = left.0;
        }
        Some((index, entries))
    }
}

/// Calls a function that is compiled for each number of rows of a block.
macro_rules! by_height {
    ($rows:expr, $function:ident $arguments:tt) => {
        match $rows {
            1 => $function::<_, 1>$arguments,
            2 => $function::<_, 2>$arguments,
            3 => $function::<_, 3>$arguments,
            4 => $function::<_, 4>$arguments,
            5 => $function::<_, 5>$arguments,
            6 => $function::<_, 6>$arguments,
            7 => $function::<_, 7>$arguments,
            8 => $function::<_, 8>$arguments,
            rows => unreachable!("blocks of {rows} rows"),
        }
    };
}

/// Writes to `blocks` in ascending order the indices of the blocks of `cols` columns in which these rows have entries.
pub fn blocks_of<T>(csr: &Csr<T>, rows: Range<usize>, cols: usize, blocks: &mut Vec<u32>) {
    fn write<T, const R: usize>(csr: &Csr<T>, rows: Range<usize>, cols: usize, blocks: &mut Vec<u32>) {
        blocks.extend(Walk::<R>::new(csr, rows, cols).map(|(index, _)| index));
    }
    blocks.clear();
    by_height!(rows.len().max(1), write(csr, rows, cols, blocks));
}

pub fn block_rows(rows: &Range<usize>, r: usize, index: usize) -> Range<usize> {
    let start = rows.start + index * r;
    start..rows.end.min(start + r)
}

/// Returns the number of blocks before each block row, and the total at the end, at most the number of nonzeros.
pub fn block_offsets<T: Scalar>(csr: &Csr<T>, rows: &Range<usize>, shape: Shape) -> Vec<u32> {
    if shape.area() == 1 {
        let first = csr.row_offsets()[rows.start];
        return csr.row_offsets()[rows.start..=rows.end].iter().map(|offset| offset - first).collect();
    }
    by_height!(shape.rows, offsets_of_blocks(csr, rows, shape.cols))
}

fn offsets_of_blocks<T: Scalar, const R: usize>(csr: &Csr<T>, rows: &Range<usize>, cols: usize) -> Vec<u32> {
    let indices = (0..rows.len().div_ceil(R)).into_par_iter().with_min_len(256);
    let count = |index| Walk::<R>::new(csr, block_rows(rows, R, index), cols).count() as u32;
    let mut counts: Vec<u32> = indices.map(count).collect();
    counts.push(0);
    offsets_of(counts)
}

impl<T: Scalar> RegisterBlocks<T> {
    /// Converts these rows to blocks. `block_offsets` is the result of [`block_offsets`]. The matrix must
    /// have at least as many columns as a block.
    pub fn new(csr: &Csr<T>, rows: Range<usize>, shape: Shape, block_offsets: Vec<u32>) -> Self {
        if shape.area() == 1 {
            let entries = entries_of(csr, &rows);
            let columns = csr.column_indices()[entries.clone()].par_iter().copied().collect();
            let values = csr.values()[entries].par_iter().copied().collect();
            return Self { shape, rows, block_offsets, columns, values };
        }
        let count = block_offsets[block_offsets.len() - 1] as usize;
        let mut columns = vec![0; count];
        let mut values = vec![T::zero(); count * shape.area()];
        let arrays = (DisjointMut::new(&mut columns), DisjointMut::new(&mut values));
        by_height!(shape.rows, fill_blocks(csr, &rows, shape, &block_offsets, &arrays));
        Self { shape, rows, block_offsets, columns, values }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.block_offsets[..]) + size_of_val(&self.columns[..]) + size_of_val(&self.values[..])
    }
}

fn fill_blocks<T: Scalar, const R: usize>(
    csr: &Csr<T>,
    rows: &Range<usize>,
    shape: Shape,
    block_offsets: &[u32],
    arrays: &(DisjointMut<u32>, DisjointMut<T>),
) {
    let area = shape.area();
    let indices = (0..block_offsets.len() - 1).into_par_iter().with_min_len(256);
    indices.for_each(|index| {
        let (start, end) = (block_offsets[index] as usize, block_offsets[index + 1] as usize);
        // SAFETY: each block row has its own range of blocks.
        let (columns, values) = unsafe { (arrays.0.range(start..end), arrays.1.range(start * area..end * area)) };
        let blocks = columns.iter_mut().zip(values.chunks_exact_mut(area));
        let walk = Walk::<R>::new(csr, block_rows(rows, R, index), shape.cols);
        for ((index, entries), (column, values)) in walk.zip(blocks) {
            *column = (index as usize * shape.cols).min(csr.cols() - shape.cols) as u32;
            for (row, (start, end)) in entries.into_iter().enumerate() {
                for k in start..end {
                    values[shape.place(row, (csr.column_indices()[k] - *column) as usize)] = csr.values()[k];
                }
            }
        }
    });
}

/// Returns an upper bound of the bytes of the blocks and of the estimation of their shape.
pub fn memory(extent: &Extent) -> u64 {
    let places = fill::most_places(extent) * extent.value;
    let sample = extent.rows * 4 * extent.threads.min(MAX_BLOCK_SIDE as u64);
    places + extent.indices() + extent.rows * 4 + sample
}

/// Returns whether blocks of the requested shape, or of the largest one, may be refused.
pub fn may_refuse(extent: &Extent) -> bool {
    let given = extent.word("block").map(shape);
    let Shape { rows, cols } = given.unwrap_or(Shape { rows: MAX_BLOCK_SIDE, cols: MAX_BLOCK_SIDE });
    let [rows, cols] = [rows, cols].map(|side| side as u64);
    let blocks = extent.rows.div_ceil(rows) * extent.cols.div_ceil(cols);
    // Of the shapes to choose from, some has two columns at most.
    let least_cols = if given.is_some() { cols } else { 2 };
    least_cols > extent.cols || fill::is_refused(blocks.min(extent.nnz) * rows * cols, extent.nnz)
}

/// Parses a shape such as `2x3`, one of the values of a parameter.
pub fn shape(word: &str) -> Shape {
    let (rows, cols) = word.split_once('x').expect("a shape contains an x");
    Shape { rows: rows.parse().expect("a number"), cols: cols.parse().expect("a number") }
}

/// Returns the shapes among `words` that are not wider than the matrix.
pub fn fitting<T: Scalar>(csr: &Csr<T>, words: &[&str]) -> Vec<Shape> {
    let shapes = words.iter().map(|word| shape(word));
    shapes.filter(|shape| shape.cols <= csr.cols().max(1)).collect()
}

/// Returns the bytes of a number of blocks, which may be an estimate.
pub fn bytes<T: Scalar>(csr: &Csr<T>, shape: Shape, blocks: f64) -> f64 {
    let per_block = shape.area() * size_of::<T>() + size_of::<u32>();
    blocks * per_block as f64 + (size_of::<u32>() * csr.rows().div_ceil(shape.rows)) as f64
}

/// Refuses a shape that is wider than the matrix.
pub fn check_width<T: Scalar>(csr: &Csr<T>, shape: Shape) -> Result<(), Unavailable> {
    if shape.cols <= csr.cols() || csr.nnz() == 0 {
        return Ok(());
    }
    Err(Unavailable(format!(
        "blocks of {shape} are wider than the matrix, which has {} columns",
        csr.cols()
    )))
}

/// Converts each range of rows to blocks of its shape. Shapes wider than the matrix, and too much padding, are refused.
pub fn pieces<T: Scalar>(
    csr: &Csr<T>,
    shapes: Vec<(Range<usize>, Shape)>,
) -> Result<Vec<RegisterBlocks<T>>, Unavailable> {
    shapes.iter().try_for_each(|(_, shape)| check_width(csr, *shape))?;
    let mut places = 0;
    let mut offsets = Vec::with_capacity(shapes.len());
    for (rows, shape) in &shapes {
        let of_rows = block_offsets(csr, rows, *shape);
        places += u64::from(of_rows[of_rows.len() - 1]) * shape.area() as u64;
        offsets.push(of_rows);
    }
    fill::check(places, csr.nnz())?;
    let blocks = shapes.into_iter().zip(offsets);
    let convert = |((rows, shape), offsets)| RegisterBlocks::new(csr, rows, shape, offsets);
    Ok(blocks.map(convert).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_blocks_but_the_last_of_a_row_are_aligned() {
        let entries = [(0, 0, 1.0), (0, 4, 2.0), (1, 1, 3.0), (2, 3, 4.0)];
        let csr = Csr::<f64>::from_triplets(3, 5, &entries);
        let shape = Shape { rows: 2, cols: 2 };
        let offsets = block_offsets(&csr, &(0..3), shape);
        assert_eq!(offsets, [0, 2, 3]);
        let blocks = RegisterBlocks::new(&csr, 0..3, shape, offsets);
        assert_eq!(blocks.columns, [0, 3, 2]);
        assert_eq!(blocks.values, [1., 0., 0., 3., 0., 0., 2., 0., 0., 0., 4., 0.]);
        assert_eq!(blocks.bytes(), 12 * 8 + 3 * 4 + 3 * 4);
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused_with_their_numbers() {
        let refused = |csr: &Csr<f64>, word| pieces(csr, vec![(0..csr.rows(), shape(word))]).err().expect("refused").0;
        let scattered: Vec<_> = (0..80).map(|k| (k, k * 27 % 80, 1.0)).collect();
        let reason = refused(&Csr::from_triplets(80, 80, &scattered), "8x8");
        assert!(reason.starts_with("would store 24.00 entries"), "{reason}");
        let narrow = Csr::from_triplets(1, 3, &[(0, 0, 1.0)]);
        let expected = "blocks of 4x4 are wider than the matrix, which has 3 columns";
        assert_eq!(refused(&narrow, "4x4"), expected);
    }
}
