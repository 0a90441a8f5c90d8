//! The product of a thread's tiles: section 4 of the paper.
//!
//! Unchecked accesses rely on the invariants of [`Chunk`], cited by name, on `DIRTY` tiles having their own offsets,
//! and on x having a value per column of the matrix, which `Prepared::multiply` checks. The machine supports the
//! instructions of each register because `Isa::run_wide` chose its type.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::format::{Chunk, DIRTY};
use super::shape::Shape;
use crate::cpu::row_kernels::Entries;
use crate::cpu::rows::{Operands, scale};
use crate::simd::{Kernel, MAX_LANES, Mask, Vector};
use spmv_matrix::scalar::Scalar;

const WORD: usize = u64::BITS as usize;

/// The number of tiles whose rows are scaled together: few enough that the rows are still in the
/// first-level cache when the products are added.
const GROUP: usize = 16;

/// The row offsets of a tile that is not dirty.
static CONSECUTIVE: [u32; 256] = {
    let mut offsets = [0; 256];
    let mut k = 0;
    while k < 256 {
        offsets[k] = k as u32;
        k += 1;
    }
    offsets
};

/// The tiles of a chunk: y ← βy + αAx. The sum of the chunk's first row is returned instead of added.
pub struct Tiles<'a, T> {
    pub chunk: &'a Chunk<T>,
    pub shape: Shape,
    pub operands: Operands<'a, T>,
    pub y: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for Tiles<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run<V: Vector<T>>(self) -> T {
        let Self { chunk, shape, operands: Operands { alpha, x, beta }, y } = self;
        assert_eq!((V::LANES, y.len()), (shape.lanes, chunk.rows.len()));
        let (first, values) = (chunk.rows.start, &chunk.values[..]);
        let (mut calibrator, mut scaled) = (T::zero(), 0);
        for tile in 0..chunk.tiles() {
            if tile % GROUP == 0 {
                let last = chunk.row((tile + GROUP).min(chunk.tiles()));
                let end = (last + 1 - first).min(y.len());
                scale(beta, &mut y[scaled..end]);
                scaled = end;
            }
            let row = chunk.row(tile);
            let range = tile * shape.nonzeros()..(tile + 1) * shape.nonzeros();
            // SAFETY: the chunk has the tile, whose lanes are those of V, and by TILES its column indices and values.
            // By ROWS, y begins at or before the row after the tile's row, and ends after it.
            let sum = unsafe {
                let column_indices = chunk.columns.get_unchecked(range.clone());
                let entries = Entries { column_indices, values: values.get_unchecked(range) };
                if row == chunk.row(tile + 1) {
                    fast_track::<T, V>(entries, shape, x)
                } else {
                    let y = y.get_unchecked_mut(row + 1 - first..);
                    let rows = Rows { alpha, y, offsets: offsets(chunk, tile) };
                    if V::LANES == 4 && few_flags(chunk, shape, tile) {
                        segmented_sum::<T, V, true>(chunk, shape, tile, entries, x, rows)
                    } else {
                        segmented_sum::<T, V, false>(chunk, shape, tile, entries, x, rows)
                    }
                }
            };
            if row == chunk.row(0) {
                calibrator += sum;
            } else {
                y[row - first] += alpha * sum;
            }
        }
        scale(beta, &mut y[scaled..]);
        calibrator
    }
}

/// Returns the sum of a tile that is within one row (the paper's fast track).
///
/// # Safety
/// The tile has LANES · sigma entries.
#[inline(always)]
unsafe fn fast_track<T: Scalar, V: Vector<T>>(entries: Entries<T>, shape: Shape, x: &[T]) -> T {
    // SAFETY: guaranteed by the caller; by COLUMNS the columns are within x.
    unsafe {
        let mut sum = V::zero();
        for step in 0..shape.sigma {
            let (values, factors) = entries.load::<V>(step * V::LANES, x);
            sum = values.mul_add(factors, sum);
        }
        sum.sum()
    }
}

/// Returns whether rows start in few steps of a tile, so that with registers of four lanes a branch at each step is
/// faster. With more flags the branch would often be mispredicted, and with wider registers it saves too little.
#[inline(always)]
fn few_flags<T>(chunk: &Chunk<T>, shape: Shape, tile: usize) -> bool {
    let flags = &chunk.flags[tile * shape.words()..][..shape.words()];
    let flags: u32 = flags.iter().map(|word| word.count_ones()).sum();
    2 * flags as usize <= shape.sigma
}

/// Multiplies a tile of several rows: adds to the `rows` that start in it, and returns the sum of the tile's row.
///
/// # Safety
/// The chunk has the tile, whose lanes are those of V, with these LANES · sigma entries.
#[inline(always)]
unsafe fn segmented_sum<T: Scalar, V: Vector<T>, const FEW: bool>(
    chunk: &Chunk<T>,
    shape: Shape,
    tile: usize,
    entries: Entries<T>,
    x: &[T],
    mut rows: Rows<T>,
) -> T {
    // SAFETY: by TILES the tile has its words of flags and LANES offsets, and by COLUMNS the columns are within x. By
    // FLAGS the offset of a lane is the index of its first flag, and by ROWS each flag has an offset to a row of y.
    unsafe {
        let mut next_flags: [u32; MAX_LANES] = [0; MAX_LANES];
        for (lane, flag) in next_flags[..V::LANES].iter_mut().enumerate() {
            *flag = (*chunk.y_offsets.get_unchecked(tile * V::LANES + lane)).into();
        }
        let mut sums = [MaybeUninit::uninit(); WORD];
        let mut lanes = Segments { sum: V::zero(), first: V::zero(), seen: 0 };
        for word in 0..shape.words() {
            let first = word * (WORD / V::LANES);
            let steps = first..shape.sigma.min(first + WORD / V::LANES);
            let flags = *chunk.flags.get_unchecked(tile * shape.words() + word);
            let closed = lanes.walk::<T, FEW>(steps, entries, x, flags, &mut sums);
            rows.add_whole(closed, &sums, &mut next_flags[..V::LANES]);
        }
        lanes.add_open(&next_flags, &mut rows)
    }
}

/// Returns the offsets of the rows that start at the tile's flags, counted from the row after the tile's row.
///
/// # Safety
/// The chunk has the tile.
#[inline(always)]
unsafe fn offsets<T>(chunk: &Chunk<T>, tile: usize) -> &[u32] {
    // SAFETY: by TILES each tile has its row and the start of its offsets.
    unsafe {
        if chunk.tile_rows.get_unchecked(tile) & DIRTY == 0 {
            return &CONSECUTIVE;
        }
        let start = *chunk.empty_starts.get_unchecked(tile);
        chunk.empty_offsets.get_unchecked(start as usize..)
    }
}

/// The rows that start in a tile.
struct Rows<'a, T> {
    alpha: T,
    /// y from the row after the tile's row on.
    y: &'a mut [T],
    /// For each flag the index of its row in `y`.
    offsets: &'a [u32],
}

impl<T: Scalar> Rows<'_, T> {
    /// Adds α·`sum` to the row that starts at a flag.
    ///
    /// # Safety
    /// The tile has the flag.
    #[inline(always)]
    unsafe fn add(&mut self, flag: u32, sum: T) {
        // SAFETY: by ROWS each flag has an offset, and its row is in y.
        unsafe {
            let row = *self.offsets.get_unchecked(flag as usize) as usize;
            *self.y.get_unchecked_mut(row) += self.alpha * sum;
        }
    }

    /// Adds the sums of the rows that are completely in one lane. At each bit of `closed` the row ends that started
    /// at the lane's previous flag.
    ///
    /// # Safety
    /// `flags` has the next flag of each lane, which the tile has, and `sums` has a value at each bit of `closed`.
    #[inline(always)]
    unsafe fn add_whole(&mut self, mut closed: u64, sums: &Sums<T>, flags: &mut [u32]) {
        while closed != 0 {
            let slot = closed.trailing_zeros() as usize;
            // SAFETY: the caller guarantees that `flags` and `sums` have these elements; by FLAGS the lane has another
            // flag after one that ends a row.
            unsafe {
                let flag = flags.get_unchecked_mut(slot % flags.len());
                self.add(*flag, sums.get_unchecked(slot).assume_init());
                *flag += 1;
            }
            closed &= closed - 1;
        }
    }
}

/// The sum of each lane before each step of a word of flags.
type Sums<T> = [MaybeUninit<T>; WORD];

/// The state of the lanes during the steps of a tile. The flags of a lane cut it into pieces. The first
/// piece belongs to a row that started in an earlier lane, the inner pieces are whole rows, and the last
/// piece continues in the following lanes.
struct Segments<V> {
    /// The sum of each lane's current piece.
    sum: V,
    /// The sum of each lane's first piece.
    first: V,
    /// The lanes that have had a flag.
    seen: Mask,
}

impl<V> Segments<V> {
    /// Processes the steps of one word of flags. Returns the flags that end a whole row.
    ///
    /// # Safety
    /// The tile has entries for these steps, whose columns are within x, and one word of flags covers them.
    #[inline(always)]
    unsafe fn walk<T: Scalar, const FEW: bool>(
        &mut self,
        steps: Range<usize>,
        entries: Entries<T>,
        x: &[T],
        mut flags: u64,
        sums: &mut Sums<T>,
    ) -> u64
    where
        V: Vector<T>,
    {
        let (mut closed, mut slot) = (0, 0);
        // SAFETY: the caller guarantees the entries and their columns; the steps of a word store at most WORD sums.
        unsafe {
            for step in steps {
                let starts = flags as Mask & V::ALL;
                flags >>= V::LANES;
                if !FEW || starts != 0 {
                    self.sum.store(sums.as_mut_ptr().cast::<T>().add(slot));
                    self.first = self.sum.select(self.first, starts & !self.seen);
                    closed |= u64::from(starts & self.seen) << slot;
                    self.seen |= starts;
                    self.sum = V::zero().select(self.sum, starts);
                }
                let (values, factors) = entries.load::<V>(step * V::LANES, x);
                self.sum = values.mul_add(factors, self.sum);
                slot += V::LANES;
            }
        }
        closed
    }

    /// Adds the sums of the rows that are still open, from the last lane to the first (a segmented scan).
    /// Returns the rest, which belongs to the tile's own row.
    ///
    /// # Safety
    /// For each lane that has had a flag, `flags` contains a flag of the tile.
    #[inline(always)]
    unsafe fn add_open<T: Scalar>(self, flags: &[u32; MAX_LANES], rows: &mut Rows<T>) -> T
    where
        V: Vector<T>,
    {
        let (mut firsts, mut lasts) = ([T::zero(); MAX_LANES], [T::zero(); MAX_LANES]);
        // SAFETY: the arrays have as many elements as any register has lanes; the caller guarantees the flags.
        unsafe {
            self.first.select(self.sum, self.seen).store(firsts.as_mut_ptr());
            self.sum.store(lasts.as_mut_ptr());
            let mut following = T::zero();
            for lane in (0..V::LANES).rev() {
                if self.seen >> lane & 1 == 1 {
                    rows.add(flags[lane], lasts[lane] + following);
                    following = firsts[lane];
                } else {
                    following += firsts[lane];
                }
            }
            following
        }
    }
}
