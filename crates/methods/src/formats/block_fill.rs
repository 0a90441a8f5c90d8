//! The fill of register blocks of each shape, estimated from a sample of the rows, by which a shape is chosen.

use std::ops::Range;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::index;
use rayon::prelude::*;

use super::entries_of;
use super::register_blocks::{Shape, block_rows, blocks_of, bytes, fitting, shape};
use crate::method::profile::MAX_BLOCK_SIDE;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

/// One block row in this many is sampled …
const SAMPLED: usize = 50;
/// … and at least this many are.
pub const LEAST_SAMPLED: usize = 256;
/// The seed is fixed so that the choice is the same in every run.
const SEED: u64 = 1;

/// The fill of each block shape, the number of stored values per nonzero, estimated from a sample of the block rows:
/// Vuduc, Automatic performance tuning of sparse matrix kernels (2003), §3.2. Entry `[r - 1][c - 1]` is for r × c
/// blocks.
#[derive(Debug, PartialEq)]
pub struct FillEstimate([[f64; MAX_BLOCK_SIDE]; MAX_BLOCK_SIDE]);

impl FillEstimate {
    pub fn of<T: Sync>(csr: &Csr<T>, rows: Range<usize>) -> Self {
        let mut fills = [[1.0; MAX_BLOCK_SIDE]; MAX_BLOCK_SIDE];
        let heights = fills.par_iter_mut().enumerate();
        heights.for_each(|(index, fills)| estimate(csr, &rows, index + 1, fills));
        Self(fills)
    }

    pub fn of_shape(&self, shape: Shape) -> f64 {
        self.0[shape.rows - 1][shape.cols - 1]
    }
}

/// Returns the shape among `words` in which the matrix is estimated to need the fewest bytes. If all of
/// them have too many columns for the matrix, returns the first.
pub fn fewest_bytes<T: Scalar>(csr: &Csr<T>, words: &[&str]) -> Shape {
    let estimate = FillEstimate::of(csr, 0..csr.rows());
    let bytes = |shape: &Shape| bytes(csr, *shape, estimate.of_shape(*shape) * csr.nnz() as f64 / shape.area() as f64);
    let fit = fitting(csr, words).into_iter();
    fit.min_by(|a, b| bytes(a).total_cmp(&bytes(b))).unwrap_or_else(|| shape(words[0]))
}

/// Estimates the fill of blocks of `r` rows. Leaves `fills` unchanged if the sample has no nonzero.
fn estimate<T>(csr: &Csr<T>, rows: &Range<usize>, r: usize, fills: &mut [f64; MAX_BLOCK_SIDE]) {
    let all = rows.len().div_ceil(r);
    let amount = (all / SAMPLED).max(LEAST_SAMPLED).min(all);
    let mut columns = Vec::new();
    let (mut nonzeros, mut blocks) = (0, [0; MAX_BLOCK_SIDE]);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    for index in index::sample(&mut random, all, amount) {
        let rows = block_rows(rows, r, index);
        nonzeros += entries_of(csr, &rows).len();
        // These are blocks of one column: the columns that have an entry, in ascending order.
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
    use crate::formats::register_blocks::block_offsets;

    #[test]
    fn the_first_shape_is_chosen_if_none_fits() {
        let csr = Csr::<f64>::from_triplets(9, 2, &[(0, 0, 1.0)]);
        assert_eq!(fewest_bytes(&csr, &["3x3", "2x2", "4x4"]), shape("2x2"));
        assert_eq!(fewest_bytes(&csr, &["3x3", "4x4"]), shape("3x3"));
    }

    fn csr(rows: usize) -> Csr<f64> {
        let entries = |row: usize| (0..row % 5).map(move |k| (row, (row / 3 * 2 + k * k) % 300, 1.0));
        Csr::from_triplets(rows, 300, &(0..rows).flat_map(entries).collect::<Vec<_>>())
    }

    fn exact(csr: &Csr<f64>, rows: Range<usize>, shape: Shape) -> f64 {
        let offsets = block_offsets(csr, &rows, shape);
        let places = offsets[offsets.len() - 1] as usize * shape.area();
        places as f64 / entries_of(csr, &rows).len() as f64
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
    fn many_rows_are_estimated_with_a_reproducible_result() {
        let csr = csr(100_000);
        let estimate = FillEstimate::of(&csr, 0..csr.rows());
        assert_eq!(estimate, FillEstimate::of(&csr, 0..csr.rows()));
        for shape in Shape::all() {
            let ratio = estimate.of_shape(shape) / exact(&csr, 0..csr.rows(), shape);
            // With blocks of one row, a fiftieth is 2000 block rows; with blocks of 8 rows, 256 are sampled.
            let error = if shape.rows == 1 { 0.03 } else { 0.1 };
            assert!((ratio - 1.0).abs() < error, "{shape}: {ratio}");
        }
    }

    #[test]
    fn a_matrix_without_entries_has_a_fill_of_one() {
        let nothing = Csr::<f64>::from_triplets(40, 4, &[]);
        for rows in [0..40, 3..3] {
            let ones = FillEstimate([[1.0; MAX_BLOCK_SIDE]; MAX_BLOCK_SIDE]);
            assert_eq!(FillEstimate::of(&nothing, rows), ones);
        }
    }
}
