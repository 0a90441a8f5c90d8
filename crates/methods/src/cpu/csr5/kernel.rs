//! The product of a thread's tiles: section 4 of the paper.
//!
//! Unchecked accesses rely on the invariants of [`Chunk::check`], cited by name, on `DIRTY` tiles
//! having their own offsets, and on x having a value per column of the matrix, which `Prepared::multiply`
//! checks. The machine supports the instructions of each register because `Isa::run_wide` chose its type.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::Shape;
use super::format::{Chunk, DIRTY};
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

/// The kernel for the tiles of a chunk: y ← βy + αAx. It returns the sum of the chunk's first row instead
/// of adding it.
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
        let first = chunk.rows.start;
        let (mut calibrator, mut scaled) = (T::zero(), 0);
        for tile in 0..chunk.tiles() {
            if tile % GROUP == 0 {
                let last = chunk.row((tile + GROUP).min(chunk.tiles()));
                let end = (last + 1 - first).min(y.len());
                scale(beta, &mut y[scaled..end]);
                scaled = end;
            }
            let row = chunk.row(tile);
            // SAFETY: the chunk has the tile, whose lanes are those of V. By ROWS, y begins at or before
            // the row after the tile's row, and ends after it.
            let sum = unsafe {
                if row == chunk.row(tile + 1) {
                    fast_track::<T, V>(chunk, shape, tile, x)
                } else {
                    let y = y.as_mut_ptr().add(row + 1 - first);
                    if V::LANES == 4 && few_flags(chunk, shape, tile) {
                        segmented_sum::<T, V, true>(chunk, shape, tile, alpha, x, y)
                    } else {
                        segmented_sum::<T, V, false>(chunk, shape, tile, alpha, x, y)
                    }
                }
            };
            if row == chunk.first_row() {
                calibrator += sum;
            } else {
                y[row - first] += alpha * sum;
            }
        }
        scale(beta, &mut y[scaled..]);
        calibrator
    }
}

/// Returns pointers to the values and column indices of a tile.
///
/// # Safety
/// The chunk has the tile.
#[inline(always)]
unsafe fn nonzeros<T>(chunk: &Chunk<T>, shape: Shape, tile: usize) -> (*const T, *const u32) {
    let start = tile * shape.nonzeros();
    // SAFETY: by TILES each tile has its column indices and values.
    unsafe {
        let values = chunk.values.as_ptr().add(chunk.values_start + start);
        (values, chunk.columns.as_ptr().add(start))
    }
}

/// Returns the sum of a tile that is within one row (the paper's fast track).
///
/// # Safety
/// The chunk has the tile, whose lanes are those of V.
#[inline(always)]
unsafe fn fast_track<T: Scalar, V: Vector<T>>(
    chunk: &Chunk<T>,
    shape: Shape,
    tile: usize,
    x: &[T],
) -> T {
    // SAFETY: by TILES the tile has LANES · sigma nonzeros, and by COLUMNS their columns are within x.
    unsafe {
        let (values, columns) = nonzeros(chunk, shape, tile);
        let mut sum = V::zero();
        for step in 0..shape.sigma {
            let at = step * V::LANES;
            sum = V::load(values.add(at)).mul_add(V::gather(x.as_ptr(), columns.add(at)), sum);
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

/// Multiplies a tile of several rows: adds to `y`, which begins with the row after the tile's row, and
/// returns the sum of the tile's row.
///
/// # Safety
/// The chunk has the tile, whose lanes are those of V, and `y` points to the row after the tile's row in
/// the chunk's y.
#[inline(always)]
unsafe fn segmented_sum<T: Scalar, V: Vector<T>, const FEW: bool>(
    chunk: &Chunk<T>,
    shape: Shape,
    tile: usize,
    alpha: T,
    x: &[T],
    y: *mut T,
) -> T {
    // SAFETY: by TILES the tile has LANES · sigma nonzeros, its words of flags and LANES offsets, and by
    // COLUMNS the columns are within x. By FLAGS the offset of a lane is the index of its first flag, and
    // by ROWS each flag has an offset to a row of y.
    unsafe {
        let (values, columns) = nonzeros(chunk, shape, tile);
        let y_offsets = chunk.y_offsets.as_ptr().add(tile * V::LANES);
        let flags = chunk.flags.as_ptr().add(tile * shape.words());
        let rows = Rows { alpha, y, offsets: offsets(chunk, tile) };
        let mut next_flags: [u32; MAX_LANES] = [0; MAX_LANES];
        for (lane, flag) in next_flags[..V::LANES].iter_mut().enumerate() {
            *flag = u32::from(*y_offsets.add(lane));
        }
        let mut sums = [MaybeUninit::uninit(); WORD];
        let mut lanes = Segments { sum: V::zero(), first: V::zero(), seen: 0 };
        for word in 0..shape.words() {
            let first = word * (WORD / V::LANES);
            let steps = first..shape.sigma.min(first + WORD / V::LANES);
            let closed =
                lanes.walk::<T, FEW>(steps, values, columns, x, *flags.add(word), &mut sums);
            rows.add_whole(closed, &sums, &mut next_flags[..V::LANES]);
        }
        lanes.add_open(&next_flags, &rows)
    }
}

/// Returns the offsets of the rows that start at the tile's flags, counted from the row after the tile's row.
///
/// # Safety
/// The chunk has the tile.
#[inline(always)]
unsafe fn offsets<T>(chunk: &Chunk<T>, tile: usize) -> *const u32 {
    // SAFETY: by TILES each tile has its row and the start of its offsets.
    unsafe {
        if chunk.tile_rows.get_unchecked(tile) & DIRTY == 0 {
            return CONSECUTIVE.as_ptr();
        }
        let start = *chunk.empty_starts.get_unchecked(tile);
        chunk.empty_offsets.as_ptr().add(start as usize)
    }
}

/// The rows that start in a tile.
struct Rows<T> {
    alpha: T,
    y: *mut T,
    offsets: *const u32,
}

impl<T: Scalar> Rows<T> {
    /// Adds α·`sum` to the row that starts at a flag.
    ///
    /// # Safety
    /// The tile has the flag.
    #[inline(always)]
    unsafe fn add(&self, flag: u32, sum: T) {
        // SAFETY: by ROWS each flag has an offset, and its row is in y.
        unsafe { *self.y.add(*self.offsets.add(flag as usize) as usize) += self.alpha * sum };
    }

    /// Adds the sums of the rows that are completely in one lane. At each bit of `closed` the row ends that started
    /// at the lane's previous flag.
    ///
    /// # Safety
    /// `flags` has the next flag of each lane, which the tile has, and `sums` has a value at each bit of `closed`.
    #[inline(always)]
    unsafe fn add_whole(&self, mut closed: u64, sums: &Sums<T>, flags: &mut [u32]) {
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
    /// The pointers are to the nonzeros of the tile, whose columns are within x, and one word of flags
    /// covers these steps.
    #[inline(always)]
    unsafe fn walk<T: Scalar, const FEW: bool>(
        &mut self,
        steps: Range<usize>,
        values: *const T,
        columns: *const u32,
        x: &[T],
        mut flags: u64,
        sums: &mut Sums<T>,
    ) -> u64
    where
        V: Vector<T>,
    {
        let (mut closed, mut slot) = (0, 0);
        // SAFETY: the caller guarantees that the pointers are to the nonzeros of these steps, whose columns are within
        // x; the steps of a word store at most WORD sums.
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
                let at = step * V::LANES;
                let factors = V::gather(x.as_ptr(), columns.add(at));
                self.sum = V::load(values.add(at)).mul_add(factors, self.sum);
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
    unsafe fn add_open<T: Scalar>(self, flags: &[u32; MAX_LANES], rows: &Rows<T>) -> T
    where
        V: Vector<T>,
    {
        let (mut firsts, mut lasts) = ([T::zero(); MAX_LANES], [T::zero(); MAX_LANES]);
        // SAFETY: the arrays have as many elements as any register has lanes; the flags are guaranteed by
        // the caller.
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
