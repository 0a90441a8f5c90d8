//! The product of one window.
//!
//! Unchecked accesses rely on the invariants of [`Window`], cited by name, and on x having a value per column of the
//! matrix, which `Prepared::multiply` checks. The machine supports the instructions of each register because
//! `Isa::run_wide` chose its type.

use super::factors::Factors;
use super::source::{Any, Coded, Exact, Full, PREFETCH_DISTANCE, PREFETCH_LEVEL, Same, Source};
use super::sums::{LANES, all_finite, exact_sums, store_lanes, store_lanes_of_block};
use super::window::{Columns, Diagonal, MAX_HEIGHT, Segment, Slice, Window};
use crate::cpu::prelude::*;
use crate::simd::{Index, MAX_LANES, prefetch};

/// The product of one window: y ← αAx + βy for its rows.
pub struct Multiply<'a, T> {
    pub csr: &'a Csr<T>,
    pub window: &'a Window<T>,
    pub operands: Operands<'a, T>,
    /// The elements of y of the window's rows.
    pub y: &'a mut [T],
    /// Whether slices of single rows are prefetched.
    pub prefetch: bool,
}

impl<T: Scalar + Lanes> Multiply<'_, T> {
    /// Computes the product by the kernel for the window's form of values and of column indices.
    pub fn run(self, isa: Isa) {
        let factors = &self.window.factors;
        if isa.is_fallback() {
            return self.with_factors(isa, Any(factors));
        }
        match factors {
            Factors::Same(value) => self.with_factors(isa, Same(*value)),
            Factors::Int8(values) => self.with_factors(isa, Exact(values)),
            Factors::Int16(values) => self.with_factors(isa, Exact(values)),
            Factors::Single(values) => self.with_factors(isa, Exact(values)),
            Factors::Coded8(table, codes) => self.with_factors(isa, Coded(table, codes)),
            Factors::Coded16(table, codes) => self.with_factors(isa, Coded(table, codes)),
            Factors::Full(values) => self.with_factors(isa, Full(values)),
        }
    }

    fn with_factors<F: Source<T>>(self, isa: Isa, factors: F) {
        let x = self.operands.x;
        match &self.window.columns {
            Columns::Near { base, deltas } => {
                let x = &x[*base as usize..];
                isa.run_wide(OneForm { product: self, factors, x, columns: deltas });
            }
            Columns::Far(columns) => {
                isa.run_wide(OneForm { product: self, factors, x, columns });
            }
        }
    }
}

/// The kernel for one form of values and of column indices. A single one for all would take twice as long to compile.
struct OneForm<'a, T, I, F> {
    product: Multiply<'a, T>,
    factors: F,
    x: &'a [T],
    columns: &'a [I],
}

impl<T: Scalar, I: Index, F: Source<T>> Kernel<T> for OneForm<'_, T, I, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        if const { V::IS_FALLBACK != F::IS_FALLBACK } {
            unreachable!("`Multiply::run` chooses the source by the instruction set");
        }
        let Self { product, factors, x, columns } = self;
        let Multiply { csr, window, operands, y, prefetch } = product;
        assert_eq!((V::LANES, y.len()), (window.width, window.rows));
        // It is made here so that its position is in registers.
        let at = Position::default();
        Reader { csr, window, operands, y, factors, x, columns, prefetch, at }.read::<V>();
    }
}

/// The current index in each stream of a window.
#[derive(Clone, Copy, Default)]
struct Position {
    /// In the factors; the following fields are those of the other streams.
    factor: usize,
    column: usize,
    slice: usize,
    lanes: usize,
    mask: usize,
    block: usize,
}

/// The state of reading a window.
struct Reader<'a, T, I, F> {
    csr: &'a Csr<T>,
    window: &'a Window<T>,
    operands: Operands<'a, T>,
    y: &'a mut [T],
    factors: F,
    /// x from the element on to which the column indices are relative.
    x: &'a [T],
    columns: &'a [I],
    prefetch: bool,
    at: Position,
}

impl<T: Scalar, I: Index, F: Source<T>> Reader<'_, T, I, F> {
    #[inline(always)]
    fn read<V: Vector<T>>(mut self) {
        self.bands::<V>();
        for segment in &self.window.segments {
            let masked = segment.holes && !F::ZEROS;
            match (segment.height, masked) {
                (1, _) if self.prefetch => self.slices::<V, 1, false, true>(segment),
                (1, _) => self.slices::<V, 1, false, false>(segment),
                (2, false) => self.slices::<V, 2, false, false>(segment),
                (3, false) => self.slices::<V, 3, false, false>(segment),
                (4, false) => self.slices::<V, 4, false, false>(segment),
                (2, true) => self.slices::<V, 2, true, false>(segment),
                (3, true) => self.slices::<V, 3, true, false>(segment),
                (4, true) => self.slices::<V, 4, true, false>(segment),
                _ => unreachable!("blocks have at most {MAX_HEIGHT} rows"),
            }
        }
        for &(row, length) in &self.window.long_rows {
            let length = length as usize;
            let sum = if self.prefetch { self.long_row::<V, true>(length) } else { self.long_row::<V, false>(length) };
            self.operands.store(sum, &mut self.y[usize::from(row)]);
        }
    }

    /// Multiplies the bands, two slices at a time: they share the offsets, and the additions of one wait while those of
    /// the other run.
    #[inline(always)]
    fn bands<V: Vector<T>>(&mut self) {
        for band in &self.window.bands {
            let diagonals = &self.window.diagonals[band.diagonals.clone()];
            let full = diagonals.iter().all(|diagonal| diagonal.mask == V::ALL);
            let single = band.slices % 2;
            for pair in 0..band.slices / 2 {
                self.band_slices::<V, 2>(band.row + 2 * pair * V::LANES, diagonals, full);
            }
            for _ in 0..single {
                self.band_slices::<V, 1>(band.row + (band.slices - 1) * V::LANES, diagonals, full);
            }
        }
    }

    #[inline(always)]
    fn band_slices<V: Vector<T>, const SLICES: usize>(&mut self, row: usize, diagonals: &[Diagonal], full: bool) {
        let mut sums = if full || F::ZEROS {
            self.band_sums::<V, SLICES, false>(row, diagonals)
        } else {
            self.band_sums::<V, SLICES, true>(row, diagonals)
        };
        if F::ZEROS && !full && !all_finite(&sums) {
            let first = self.window.first_row + row;
            sums = std::array::from_fn(|slice| {
                exact_sums(self.csr, self.operands.x, first + slice * V::LANES, &LANES[..V::LANES])
            });
        }
        self.at.factor += SLICES * diagonals.len() * V::LANES;
        for (slice, sum) in sums.into_iter().enumerate() {
            self.store_consecutive(row + slice * V::LANES, sum);
        }
    }

    #[inline(always)]
    fn band_sums<V: Vector<T>, const SLICES: usize, const MASKED: bool>(
        &self,
        row: usize,
        diagonals: &[Diagonal],
    ) -> [V; SLICES] {
        let x = self.operands.x.as_ptr().wrapping_add(self.window.first_row + row);
        // SAFETY: no memory is read.
        let mut sums = [unsafe { V::zero() }; SLICES];
        for (k, diagonal) in diagonals.iter().enumerate() {
            for (slice, sum) in sums.iter_mut().enumerate() {
                // SAFETY: by BANDS x has a whole register from this column on; by FACTORS so does the stream.
                unsafe {
                    let x = x.wrapping_offset(diagonal.offset as isize);
                    let x = V::load_from(x.wrapping_add(slice * V::LANES));
                    let index = self.at.factor + (k * SLICES + slice) * V::LANES;
                    let factors = self.factors.load::<V>(index);
                    *sum =
                        if MASKED { factors.mul_add_where(diagonal.mask, x, *sum) } else { factors.mul_add(x, *sum) };
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn slices<V: Vector<T>, const HEIGHT: usize, const MASKED: bool, const PREFETCH: bool>(
        &mut self,
        segment: &Segment,
    ) {
        let window = self.window;
        for slice in &window.slices[self.at.slice..self.at.slice + segment.slices] {
            let mut sums = self.slice_sums::<V, HEIGHT, MASKED, PREFETCH>(slice);
            if const { F::ZEROS && HEIGHT > 1 } && segment.holes {
                if !all_finite(&sums) {
                    let rows = &window.block_rows[self.at.block..][..slice.blocks.into()];
                    sums = std::array::from_fn(|r| exact_sums(self.csr, self.operands.x, window.first_row + r, rows));
                }
                self.at.mask += (slice.full + slice.partial) as usize * HEIGHT;
            }
            self.store(slice, sums);
        }
        self.at.slice += segment.slices;
    }

    #[inline(always)]
    fn slice_sums<V: Vector<T>, const HEIGHT: usize, const MASKED: bool, const PREFETCH: bool>(
        &mut self,
        slice: &Slice,
    ) -> [V; HEIGHT] {
        // SAFETY: no memory is read.
        let mut sums = [unsafe { V::zero() }; HEIGHT];
        for step in 0..slice.full as usize {
            self.step::<V, HEIGHT, MASKED, false, PREFETCH>(step, V::LANES, &mut sums);
        }
        self.advance::<HEIGHT, MASKED>(slice.full as usize, V::LANES);
        for step in 0..slice.partial as usize {
            // SAFETY: by SLICES each partial step has its number of lanes.
            let lanes = unsafe { *self.window.lanes.get_unchecked(self.at.lanes + step) }.into();
            self.step::<V, HEIGHT, MASKED, true, PREFETCH>(0, lanes, &mut sums);
            self.advance::<HEIGHT, MASKED>(1, lanes);
        }
        self.at.lanes += slice.partial as usize;
        self.at.factor = self.at.factor.next_multiple_of(V::LANES);
        sums
    }

    /// Multiplies the nonzeros of step `step` of those of `lanes` lanes that begin at the current position. The
    /// position is not changed, because a loop over steps with a single counter is faster.
    #[inline(always)]
    fn step<V: Vector<T>, const HEIGHT: usize, const MASKED: bool, const PARTIAL: bool, const PREFETCH: bool>(
        &self,
        step: usize,
        lanes: usize,
        sums: &mut [V; HEIGHT],
    ) {
        let column = self.at.column + step * lanes;
        let factor = self.at.factor + step * HEIGHT * lanes;
        if PREFETCH {
            prefetch::<PREFETCH_LEVEL>(self.columns.as_ptr().wrapping_add(column + PREFETCH_DISTANCE));
            self.factors.prefetch_after(factor);
        }
        // SAFETY: by COLUMNS the stream has a whole register of column indices, all within x.
        let x = unsafe { V::gather(self.x, self.columns, column) };
        for (r, sum) in sums.iter_mut().enumerate() {
            // SAFETY: by FACTORS the stream has a whole register of factors; by SLICES each step has its
            // masks, and a partial step has fewer lanes than a register.
            unsafe {
                let factors = self.factors.load::<V>(factor + r * lanes);
                *sum = if MASKED {
                    let mask = self.at.mask + step * HEIGHT + r;
                    factors.mul_add_where(*self.window.masks.get_unchecked(mask), x, *sum)
                } else if PARTIAL {
                    factors.mul_add_first(lanes, x, *sum)
                } else {
                    factors.mul_add(x, *sum)
                };
            }
        }
    }

    /// Moves the position behind `steps` steps of `lanes` lanes.
    #[inline(always)]
    fn advance<const HEIGHT: usize, const MASKED: bool>(&mut self, steps: usize, lanes: usize) {
        self.at.column += steps * lanes;
        self.at.factor += steps * HEIGHT * lanes;
        if MASKED {
            self.at.mask += steps * HEIGHT;
        }
    }

    #[inline(always)]
    fn store<V: Vector<T>, const HEIGHT: usize>(&mut self, slice: &Slice, sums: [V; HEIGHT]) {
        let blocks = usize::from(slice.blocks);
        let rows = &self.window.block_rows[self.at.block..self.at.block + blocks];
        self.at.block += blocks;
        if HEIGHT == 1 && slice.consecutive {
            return self.store_consecutive(rows[0].into(), sums[0]);
        }
        for (r, sum) in sums.into_iter().enumerate() {
            let mut values = [T::zero(); MAX_LANES];
            // SAFETY: no register has more than `MAX_LANES` values.
            unsafe { sum.store(values.as_mut_ptr()) };
            // A copy, because a reference to it would keep the whole reader in memory.
            let operands = self.operands;
            // SAFETY: by ROWS all rows of a block are in the window, and `run` checked the length of y.
            unsafe {
                match HEIGHT {
                    1 => store_lanes::<T, V>(&operands, rows, 0, &values, self.y),
                    _ => store_lanes_of_block::<T, V>(&operands, rows, r, &values, self.y),
                }
            }
        }
    }

    /// Stores the sums of as many consecutive rows as a register has lanes, beginning with `row`.
    #[inline(always)]
    fn store_consecutive<V: Vector<T>>(&mut self, row: usize, sum: V) {
        let mut sums = [T::zero(); MAX_LANES];
        // SAFETY: no register has more than `MAX_LANES` values.
        unsafe { sum.store(sums.as_mut_ptr()) };
        self.operands.store_all(&mut sums[..V::LANES], &mut self.y[row..row + V::LANES]);
    }

    #[inline(always)]
    fn long_row<V: Vector<T>, const PREFETCH: bool>(&mut self, length: usize) -> T {
        // SAFETY: no memory is read.
        let mut sums = [unsafe { V::zero() }; 2];
        let (steps, left) = (length / V::LANES, length % V::LANES);
        for pair in 0..steps / 2 {
            for (k, sum) in sums.iter_mut().enumerate() {
                let sum = std::array::from_mut(sum);
                self.step::<V, 1, false, false, PREFETCH>(2 * pair + k, V::LANES, sum);
            }
        }
        let [first, second] = &mut sums;
        if steps % 2 == 1 {
            let sum = std::array::from_mut(second);
            self.step::<V, 1, false, false, PREFETCH>(steps - 1, V::LANES, sum);
        }
        self.advance::<1, false>(steps, V::LANES);
        if left > 0 {
            let sum = std::array::from_mut(first);
            self.step::<V, 1, false, true, false>(0, left, sum);
            self.advance::<1, false>(1, left);
        }
        self.at.factor = self.at.factor.next_multiple_of(V::LANES);
        // SAFETY: no memory is read.
        unsafe { sums[0].sum() + sums[1].sum() }
    }
}
