//! Block CSR with small dense blocks: what BCSR and OSKI's tuning store.
//!
//! A block of r × c begins at a multiple of r of the rows given and at a multiple of c of the columns,
//! but for the last of a row, which is moved left until it ends within the matrix. Lanes run along the
//! longer side: blocks at least as tall as wide are stored column by column, others row by row.

use std::fmt::{self, Display};
use std::ops::Range;

use anyhow::ensure;
use rayon::prelude::*;

use super::debug_check;
use super::fill;
use super::fill_estimate::FillEstimate;
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::method::Unavailable;
use crate::profile::MOST;
use crate::scalar::Scalar;
use crate::team::DisjointMut;

/// The rows and columns of a block, each from 1 to [`MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// r.
    pub rows: usize,
    /// c.
    pub cols: usize,
}

impl Shape {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=MOST).flat_map(|rows| (1..=MOST).map(move |cols| Self { rows, cols }))
    }

    /// Values of a block.
    pub fn area(self) -> usize {
        self.rows * self.cols
    }

    /// Where row `row` and column `col` of a block are among its values.
    fn place(self, row: usize, col: usize) -> usize {
        if self.rows >= self.cols { col * self.rows + row } else { row * self.cols + col }
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

/// Some rows of a matrix in blocks.
pub struct RegisterBlocks<T> {
    /// Of every block.
    pub shape: Shape,
    /// Rows of the matrix.
    pub rows: Range<usize>,
    /// Blocks before each row of blocks, and in all.
    pub block_offsets: Vec<u32>,
    /// The first column of each block.
    pub columns: Vec<u32>,
    /// Block by block.
    pub values: Vec<T>,
}

/// The numbers of the blocks that these rows have entries in, ascending; `c` columns are a block's.
pub fn blocks_of<T>(csr: &Csr<T>, rows: Range<usize>, c: usize, blocks: &mut Vec<u32>) {
    let entries = csr.row_offsets[rows.start] as usize..csr.row_offsets[rows.end] as usize;
    blocks.clear();
    blocks.extend(csr.column_indices[entries].iter().map(|&column| column / c as u32));
    blocks.dedup();
    // Each row is sorted, and the stable sort merges what is.
    blocks.sort();
    blocks.dedup();
}

/// The rows of each row of blocks.
pub fn block_rows(rows: &Range<usize>, r: usize, index: usize) -> Range<usize> {
    let start = rows.start + index * r;
    start..rows.end.min(start + r)
}

/// Blocks before each row of blocks, and in all: no more than nonzeros.
pub fn block_offsets<T: Scalar>(csr: &Csr<T>, rows: &Range<usize>, shape: Shape) -> Vec<u32> {
    let indices = (0..rows.len().div_ceil(shape.rows)).into_par_iter().with_min_len(16);
    let count = |blocks: &mut Vec<u32>, index| {
        blocks_of(csr, block_rows(rows, shape.rows, index), shape.cols, blocks);
        blocks.len() as u32
    };
    let mut offsets: Vec<u32> = indices.map_init(Vec::new, count).collect();
    offsets.push(0);
    let mut before = 0;
    for offset in &mut offsets {
        before += std::mem::replace(offset, before);
    }
    offsets
}

impl<T: Scalar> RegisterBlocks<T> {
    /// The blocks of these rows, counted in `block_offsets` before. The matrix must be at least as wide
    /// as a block.
    pub fn new(csr: &Csr<T>, rows: Range<usize>, shape: Shape, block_offsets: Vec<u32>) -> Self {
        let count = block_offsets[block_offsets.len() - 1] as usize;
        let mut columns = vec![0; count];
        let mut values = vec![T::zero(); count * shape.area()];
        let arrays = (DisjointMut::new(&mut columns), DisjointMut::new(&mut values));
        let indices = (0..block_offsets.len() - 1).into_par_iter().with_min_len(16);
        indices.for_each_init(Vec::new, |blocks, index| {
            let rows = block_rows(&rows, shape.rows, index);
            blocks_of(csr, rows.clone(), shape.cols, blocks);
            let (start, end) = (block_offsets[index] as usize, block_offsets[index + 1] as usize);
            // SAFETY: a row of blocks has its own range of blocks.
            let (columns, values) = unsafe {
                let area = shape.area();
                (arrays.0.range(start..end), arrays.1.range(start * area..end * area))
            };
            copy(csr, rows, shape, blocks, columns, values);
        });
        let blocks = Self { shape, rows, block_offsets, columns, values };
        debug_check(|| blocks.check(csr.cols));
        blocks
    }

    /// Checks the invariants that the product on a CPU relies on: SHAPE, blocks are of 1 to [`MOST`] rows and
    /// columns; BLOCKS, each row of blocks has those between its offsets, each with a column and all its values;
    /// COLUMNS, all columns of a block are columns of the matrix.
    ///
    /// # Errors
    /// The first invariant that does not hold, by its name.
    pub fn check(&self, cols: usize) -> anyhow::Result<()> {
        let Self { shape, block_offsets: offsets, columns, values, .. } = self;
        let is_side = |side: usize| (1..=MOST).contains(&side);
        ensure!(is_side(shape.rows) && is_side(shape.cols), "SHAPE: {shape}");
        let right = offsets.len() == self.rows.len().div_ceil(shape.rows) + 1
            && offsets.is_sorted()
            && (offsets[0], offsets[offsets.len() - 1] as usize) == (0, columns.len());
        ensure!(right && values.len() == columns.len() * shape.area(), "BLOCKS: {offsets:?}");
        let most = columns.iter().max().map_or(0, |&column| column as usize + shape.cols);
        ensure!(most <= cols, "COLUMNS: a block that ends at column {most} of {cols}");
        Ok(())
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.block_offsets[..])
            + size_of_val(&self.columns[..])
            + size_of_val(&self.values[..])
    }
}

/// Copies the rows of one row of blocks.
fn copy<T: Scalar>(
    csr: &Csr<T>,
    rows: Range<usize>,
    shape: Shape,
    blocks: &[u32],
    columns: &mut [u32],
    values: &mut [T],
) {
    let c = shape.cols;
    for (column, &block) in columns.iter_mut().zip(blocks) {
        *column = (block as usize * c).min(csr.cols - c) as u32;
    }
    for (i, row) in rows.enumerate() {
        let mut block = 0;
        for k in csr.row(row) {
            let column = csr.column_indices[k];
            // Both ascend, so what is left is a few steps on.
            block += blocks[block..].iter().take_while(|&&b| b < column / c as u32).count();
            let place = shape.place(i, (column - columns[block]) as usize);
            values[block * shape.area() + place] = csr.values[k];
        }
    }
}

/// What blocks take, with what their shape is estimated by.
pub fn memory(extent: &Extent) -> u64 {
    let places = fill::most_places(extent) * extent.value;
    let sample = extent.rows * 4 * extent.threads.min(MOST as u64);
    places + extent.indices() + extent.rows * 4 + sample
}

/// The shape of a word.
pub fn shape(word: &str) -> Shape {
    let (rows, cols) = word.split_once('x').expect("shapes have one");
    Shape { rows: rows.parse().expect("a number"), cols: cols.parse().expect("a number") }
}

/// The listed shape in which the matrix is estimated to take the fewest bytes; the first where all are too
/// wide.
pub fn fewest_bytes<T: Scalar>(csr: &Csr<T>, words: &[&str]) -> Shape {
    let estimate = FillEstimate::of(csr, 0..csr.rows);
    let bytes = |shape: &Shape| {
        let places = estimate.of_shape(*shape) * csr.nnz() as f64;
        let per_place = size_of::<T>() as f64 + size_of::<u32>() as f64 / shape.area() as f64;
        places * per_place + (size_of::<u32>() * csr.rows.div_ceil(shape.rows)) as f64
    };
    let shapes = words.iter().map(|word| shape(word));
    let fit = shapes.filter(|shape| shape.cols <= csr.cols.max(1));
    fit.min_by(|a, b| bytes(a).total_cmp(&bytes(b))).unwrap_or_else(|| shape(words[0]))
}

/// Blocks of a shape for each piece of the rows.
pub fn pieces<T: Scalar>(
    csr: &Csr<T>,
    shapes: Vec<(Range<usize>, Shape)>,
) -> Result<Vec<RegisterBlocks<T>>, Unavailable> {
    let too_wide = |(_, shape): &&(_, Shape)| shape.cols > csr.cols && csr.nnz() > 0;
    if let Some((_, shape)) = shapes.iter().find(too_wide) {
        return Err(Unavailable(format!("blocks of {shape} in a matrix of {} columns", csr.cols)));
    }
    let of = |(rows, shape): &(Range<usize>, Shape)| block_offsets(csr, rows, *shape);
    let offsets: Vec<_> = shapes.iter().map(of).collect();
    let places = offsets
        .iter()
        .zip(&shapes)
        .map(|(offsets, (_, shape))| u64::from(offsets[offsets.len() - 1]) * shape.area() as u64);
    fill::check(places.sum(), csr.nnz())?;
    let blocks = shapes.into_iter().zip(offsets);
    Ok(blocks
        .map(|((rows, shape), offsets)| RegisterBlocks::new(csr, rows, shape, offsets))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_but_for_the_last() {
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
    fn each_broken_invariant_is_named() {
        type Break = fn(&mut RegisterBlocks<f64>);
        let cases: [(&str, Break); 5] = [
            ("SHAPE", |blocks| blocks.shape.cols = 9),
            ("BLOCKS", |blocks| blocks.block_offsets[1] = 4),
            ("BLOCKS", |blocks| blocks.rows.end = 5),
            ("BLOCKS", |blocks| _ = blocks.values.pop()),
            ("COLUMNS", |blocks| blocks.columns[0] = 4),
        ];
        for (name, break_it) in cases {
            let csr = Csr::<f64>::from_triplets(3, 5, &[(0, 0, 1.0), (1, 4, 2.0), (2, 3, 3.0)]);
            let mut blocks = pieces(&csr, vec![(0..3, shape("2x2"))]).unwrap().remove(0);
            break_it(&mut blocks);
            let broken = blocks.check(5).unwrap_err().to_string();
            assert!(broken.starts_with(name), "{name}: {broken}");
        }
    }

    #[test]
    fn where_no_shape_fits_it_is_the_first() {
        let csr = Csr::<f64>::from_triplets(9, 2, &[(0, 0, 1.0)]);
        assert_eq!(fewest_bytes(&csr, &["3x3", "2x2", "4x4"]), shape("2x2"));
        assert_eq!(fewest_bytes(&csr, &["3x3", "4x4"]), shape("3x3"));
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused_with_their_numbers() {
        let refused = |csr: &Csr<f64>, word| {
            let pieces = pieces(csr, vec![(0..csr.rows, shape(word))]);
            pieces.err().expect("refused").0
        };
        let scattered: Vec<_> = (0..80).map(|k| (k, k * 27 % 80, 1.0)).collect();
        let reason = refused(&Csr::from_triplets(80, 80, &scattered), "8x8");
        assert!(reason.starts_with("would store 24.00 entries"), "{reason}");
        let narrow = Csr::from_triplets(1, 3, &[(0, 0, 1.0)]);
        assert_eq!(refused(&narrow, "4x4"), "blocks of 4x4 in a matrix of 3 columns");
    }
}
