//! The product of small dense blocks whose sums stay in registers. BCSR and the OSKI-style method share it.
//!
//! Unchecked accesses rely on the invariants of [`RegisterBlocks`], cited by name, and on x having a value per column
//! of the matrix, which `Prepared::multiply` checks.

use super::placement::{place, span};
use super::prelude::*;
use crate::formats::fill::recompute_non_finite;
use crate::formats::register_blocks::{RegisterBlocks, Shape, block_rows, pieces};
use crate::method::profile::MAX_BLOCK_SIDE;

/// The number of small blocks whose products are accumulated independently at the same time.
const TOGETHER: usize = 4;

pub fn prepared<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
    shapes: Vec<(Range<usize>, Shape)>,
    note: String,
) -> Outcome<'a, T> {
    let (team, isa) = (request.team, request.isa);
    let pieces = pieces(csr, shapes)?;
    let placed = place(team, |rank| {
        let RegisterBlocks { values, columns, block_offsets, .. } = &pieces[rank];
        vec![span(values), span(columns), span(block_offsets)]
    });
    let bytes = pieces.iter().map(RegisterBlocks::bytes).sum();
    let product = move |operands: Operands<T>, y: &mut [T]| {
        let y = DisjointMut::new(y);
        team.run(|rank| {
            let blocks = &pieces[rank];
            // SAFETY: the rows of different pieces do not overlap.
            let y = unsafe { y.range(blocks.rows.clone()) };
            isa.run(BlockRows { csr, blocks, operands, y });
        });
    };
    Ok(multiplying(csr, bytes, product).with_note(note).with_notes(placed))
}

/// The kernel for rows stored in blocks: y ← αAx + βy.
pub struct BlockRows<'a, T> {
    pub csr: &'a Csr<T>,
    pub blocks: &'a RegisterBlocks<T>,
    pub operands: Operands<'a, T>,
    pub y: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for BlockRows<'_, T> {
    type Output = ();
    // Blocks have at most eight rows and columns.
    const USES_AVX512: bool = false;

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        if const { V::IS_FALLBACK } {
            return self.of_any_shape();
        }
        match self.blocks.shape.rows {
            1 => self.of_height::<V, 1>(),
            2 => self.of_height::<V, 2>(),
            3 => self.of_height::<V, 3>(),
            4 => self.of_height::<V, 4>(),
            5 => self.of_height::<V, 5>(),
            6 => self.of_height::<V, 6>(),
            7 => self.of_height::<V, 7>(),
            _ => self.of_height::<V, 8>(),
        }
    }
}

impl<T: Scalar> BlockRows<'_, T> {
    #[inline(always)]
    fn of_height<V: Vector<T>, const R: usize>(self) {
        match self.blocks.shape.cols {
            1 => self.of_shape::<V, R, 1>(),
            2 => self.of_shape::<V, R, 2>(),
            3 => self.of_shape::<V, R, 3>(),
            4 => self.of_shape::<V, R, 4>(),
            5 => self.of_shape::<V, R, 5>(),
            6 => self.of_shape::<V, R, 6>(),
            7 => self.of_shape::<V, R, 7>(),
            _ => self.of_shape::<V, R, 8>(),
        }
    }

    #[inline(always)]
    fn of_shape<V: Vector<T>, const R: usize, const C: usize>(mut self) {
        let y = std::mem::take(&mut self.y);
        let offsets = self.blocks.block_offsets.windows(2);
        for (index, (offsets, y)) in offsets.zip(y.chunks_mut(R)).enumerate() {
            let blocks = offsets[0] as usize..offsets[1] as usize;
            // SAFETY: by BLOCKS a block row has the blocks between its offsets, and `run` selected their shape.
            let mut sums = if const { R >= C } {
                sum_of(unsafe { self.sum::<V, true, C, R>(blocks) })
            } else {
                sum_of(transposed(unsafe { self.sum::<V, false, R, C>(blocks) }))
            };
            self.store(index, &mut sums, y);
        }
    }

    /// Computes the product by one loop for blocks of all shapes.
    fn of_any_shape(mut self) {
        let Shape { rows, cols } = self.blocks.shape;
        let (tall, shorter) = (rows >= cols, rows.min(cols));
        let y = std::mem::take(&mut self.y);
        let offsets = self.blocks.block_offsets.windows(2);
        for (index, (offsets, y)) in offsets.zip(y.chunks_mut(rows)).enumerate() {
            let mut sums = [T::zero(); MAX_BLOCK_SIDE];
            for block in offsets[0] as usize..offsets[1] as usize {
                // SAFETY: by BLOCKS a block row has the blocks between its offsets, which have this shape.
                let (values, x) = unsafe { self.block(block, rows * cols, cols) };
                for (a, values) in values.chunks_exact(rows * cols / shorter).enumerate() {
                    for (b, &value) in values.iter().enumerate() {
                        let (row, col) = if tall { (b, a) } else { (a, b) };
                        sums[row] += value * x[col];
                    }
                }
            }
            self.store(index, &mut sums[..rows], y);
        }
    }

    #[inline(always)]
    fn store(&self, index: usize, sums: &mut [T], y: &mut [T]) {
        if !sums.iter().fold(true, |finite, sum| finite & sum.is_finite()) {
            let rows = block_rows(&self.blocks.rows, sums.len(), index);
            let ranges = rows.map(|row| self.csr.row(row));
            recompute_non_finite(self.csr, ranges, self.operands.x, sums);
        }
        for (y, sum) in y.iter_mut().zip(sums) {
            self.operands.store(*sum, y);
        }
    }

    /// Returns the products of one block row, summed by their position in the block: A columns of B rows if
    /// `TALL`, or else A rows of B columns. With a sum for each position, and with several small blocks at
    /// a time, many additions are independent of each other.
    ///
    /// # Safety
    /// The blocks exist and have A × B values each.
    #[inline(always)]
    unsafe fn sum<V: Vector<T>, const TALL: bool, const A: usize, const B: usize>(
        &self,
        blocks: Range<usize>,
    ) -> [[T; B]; A] {
        let together = const { if A * B <= 4 { TOGETHER } else { 1 } };
        let mut sums = [[[T::zero(); B]; A]; TOGETHER];
        let mut block = blocks.start;
        // SAFETY: the caller guarantees that these blocks exist and have A × B values each.
        unsafe {
            while block + together <= blocks.end {
                for sums in &mut sums[..together] {
                    self.add::<V, TALL, A, B>(block, sums);
                    block += 1;
                }
            }
            while block < blocks.end {
                self.add::<V, TALL, A, B>(block, &mut sums[0]);
                block += 1;
            }
        }
        let [mut all, others @ ..] = sums;
        for other in &others[..together - 1] {
            for (all, other) in all.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
                *all += *other;
            }
        }
        all
    }

    /// Adds the products of a block to the sums.
    ///
    /// # Safety
    /// The block exists and has A × B values.
    #[inline(always)]
    unsafe fn add<V: Vector<T>, const TALL: bool, const A: usize, const B: usize>(
        &self,
        block: usize,
        sums: &mut [[T; B]; A],
    ) {
        // SAFETY: the caller guarantees that the block exists and has A × B values.
        let (values, x) = unsafe { self.block(block, A * B, if TALL { A } else { B }) };
        for (a, (sums, values)) in sums.iter_mut().zip(values.chunks_exact(B)).enumerate() {
            for (b, (sum, &value)) in sums.iter_mut().zip(values).enumerate() {
                *sum = V::fused(value, x[if TALL { a } else { b }], *sum);
            }
        }
    }

    /// Returns the values of a block and the elements of x of its columns.
    ///
    /// # Safety
    /// The block exists and has this area and this number of columns.
    #[inline(always)]
    unsafe fn block(&self, block: usize, area: usize, cols: usize) -> (&[T], &[T]) {
        let (values, x) = (&self.blocks.values, self.operands.x);
        // SAFETY: by BLOCKS the block has its column and all its values; by COLUMNS all its columns are in x.
        unsafe {
            let column = *self.blocks.columns.get_unchecked(block) as usize;
            let values = values.get_unchecked(block * area..(block + 1) * area);
            (values, x.get_unchecked(column..column + cols))
        }
    }
}

/// Returns the sum of the columns of a block by pairwise summation, which has the shortest chain of dependent
/// additions.
#[inline(always)]
fn sum_of<T: Scalar, const R: usize, const C: usize>(mut columns: [[T; R]; C]) -> [T; R] {
    let mut left = C;
    while left > 1 {
        let (first, last) = columns[..left].split_at_mut(left.div_ceil(2));
        for (column, other) in first.iter_mut().zip(last.iter().rev()) {
            column.iter_mut().zip(other).for_each(|(sum, other)| *sum += *other);
        }
        left = left.div_ceil(2);
    }
    columns[0]
}

/// Returns the columns of a block that is given by its rows.
#[inline(always)]
fn transposed<T: Scalar, const R: usize, const C: usize>(rows: [[T; C]; R]) -> [[T; R]; C] {
    let mut columns = [[T::zero(); R]; C];
    for (j, column) in columns.iter_mut().enumerate() {
        column.iter_mut().zip(&rows).for_each(|(value, row)| *value = row[j]);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::register_blocks::block_offsets;
    use crate::simd::Isa;
    use spmv_matrix::verify::Reference;

    fn ragged<T: Scalar>() -> Csr<T> {
        let rows = (0..23).filter(|row| !(8..17).contains(row));
        let entry = |row: usize, k: usize| (row, (k * k + 3 * row) % 19, (row + k) as f64 - 9.5);
        let mut triplets: Vec<_> = rows.flat_map(|row| (0..row % 6).map(move |k| entry(row, k))).collect();
        triplets.push((22, 18, 1.0));
        Csr::from_triplets(23, 19, &triplets)
    }

    fn check<T: Scalar + Lanes>(isa: Isa, shape: Shape) {
        let csr = ragged::<T>();
        let x: Vec<T> = (0..19).map(|k| T::narrow((k as f64).sin() + 0.1)).collect();
        let y0: Vec<T> = (0..23).map(|k| T::narrow(k as f64)).collect();
        let operands = Operands { alpha: T::narrow(-0.5), x: &x, beta: T::narrow(2.0) };
        let mut y = y0.clone();
        for rows in [0..7, 7..23] {
            let offsets = block_offsets(&csr, &rows, shape);
            let blocks = &RegisterBlocks::new(&csr, rows.clone(), shape, offsets);
            isa.run(BlockRows { csr: &csr, blocks, operands, y: &mut y[rows] });
        }
        let verdict = Reference::new(&csr, operands.alpha, &x, operands.beta, &y0).judge(&y);
        assert!(verdict.passes(), "{isa:?} {shape}: {}", verdict.describe());
    }

    #[test]
    fn every_shape_computes_the_product() {
        for isa in Isa::available() {
            // Miri is slow, so it tests only some shapes.
            for shape in Shape::all().step_by(if cfg!(miri) { 9 } else { 1 }) {
                check::<f64>(isa, shape);
                check::<f32>(isa, shape);
            }
        }
    }
}
