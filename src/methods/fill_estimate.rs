//! How many values blocks of each shape would store per nonzero, from a fiftieth of the rows: Vuduc,
//! Automatic performance tuning of sparse matrix kernels (2003), §3.2.

use std::ops::Range;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::index;
use rayon::prelude::*;

use super::register_blocks::{Shape, block_rows, blocks_of};
use crate::matrix::Csr;
use crate::profile::MOST;

/// One row of blocks in this many is looked at …
const SHARE: usize = 50;
/// … and at least this many.
const AT_LEAST: usize = 256;
/// The choice must not change from run to run.
const SEED: u64 = 1;

/// Values stored per nonzero, by the rows and the columns of a block.
#[derive(Debug, PartialEq)]
pub struct FillEstimate([[f64; MOST]; MOST]);

impl FillEstimate {
    /// For these rows.
    pub fn of<T: Sync>(csr: &Csr<T>, rows: Range<usize>) -> Self {
        let mut fills = [[1.0; MOST]; MOST];
        let heights = fills.par_iter_mut().enumerate();
        heights.for_each(|(index, fills)| estimate(csr, &rows, index + 1, fills));
        Self(fills)
    }

    /// For a shape.
    pub fn of_shape(&self, shape: Shape) -> f64 {
        self.0[shape.rows - 1][shape.cols - 1]
    }
}

/// For blocks of `r` rows; where no entry is seen, what it was.
fn estimate<T>(csr: &Csr<T>, rows: &Range<usize>, r: usize, fills: &mut [f64; MOST]) {
    let all = rows.len().div_ceil(r);
    let amount = (all / SHARE).max(AT_LEAST).min(all);
    let mut columns = Vec::new();
    let (mut nonzeros, mut blocks) = (0, [0; MOST]);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    for index in index::sample(&mut random, all, amount) {
        let rows = block_rows(rows, r, index);
        nonzeros += (csr.row_offsets[rows.end] - csr.row_offsets[rows.start]) as usize;
        // Blocks of one column: the columns that hold an entry, ascending.
        blocks_of(csr, rows, 1, &mut columns);
        for (c, blocks) in (1..).zip(&mut blocks) {
            let changes = columns.windows(2).filter(|pair| pair[0] / c != pair[1] / c);
            *blocks += changes.count() + usize::from(!columns.is_empty());
        }
    }
    if nonzeros > 0 {
        for (c, (fill, blocks)) in (1..).zip(fills.iter_mut().zip(blocks)) {
            *fill = (blocks * r * c) as f64 / nonzeros as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::register_blocks::block_offsets;

    /// Rows of very different kinds: `rows` of them.
    fn csr(rows: usize) -> Csr<f64> {
        let entries =
            |row: usize| (0..row % 5).map(move |k| (row, (row / 3 * 2 + k * k) % 300, 1.0));
        Csr::from_triplets(rows, 300, &(0..rows).flat_map(entries).collect::<Vec<_>>())
    }

    fn exact(csr: &Csr<f64>, rows: Range<usize>, shape: Shape) -> f64 {
        let offsets = block_offsets(csr, &rows, shape);
        let nonzeros = csr.row_offsets[rows.end] - csr.row_offsets[rows.start];
        (offsets[offsets.len() - 1] as usize * shape.area()) as f64 / f64::from(nonzeros)
    }

    #[test]
    fn few_rows_are_counted_exactly() {
        let csr = csr(200);
        let estimate = FillEstimate::of(&csr, 7..180);
        for shape in Shape::all() {
            assert_eq!(estimate.of_shape(shape), exact(&csr, 7..180, shape), "{shape}");
        }
    }

    #[test]
    fn many_rows_are_estimated_and_always_alike() {
        let csr = csr(100_000);
        let estimate = FillEstimate::of(&csr, 0..csr.rows);
        assert_eq!(estimate, FillEstimate::of(&csr, 0..csr.rows));
        for shape in Shape::all() {
            let ratio = estimate.of_shape(shape) / exact(&csr, 0..csr.rows, shape);
            // Of single rows a fiftieth is 2000, of 8 at a time 256 are seen.
            let error = if shape.rows == 1 { 0.03 } else { 0.1 };
            assert!((ratio - 1.0).abs() < error, "{shape}: {ratio}");
        }
    }

    #[test]
    fn nothing_has_no_fill() {
        let nothing = Csr::<f64>::from_triplets(40, 4, &[]);
        assert_eq!(FillEstimate::of(&nothing, 0..40), FillEstimate([[1.0; MOST]; MOST]));
        assert_eq!(FillEstimate::of(&nothing, 3..3), FillEstimate([[1.0; MOST]; MOST]));
    }
}
