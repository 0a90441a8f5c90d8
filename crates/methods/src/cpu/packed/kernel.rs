//! The product of one window.
//!
//! Unchecked accesses rely on the invariants of [`check`](super::check), cited by name, and on x having a
//! value per column of the matrix, which `Prepared::multiply` checks. The machine supports the instructions
//! of each register because `Isa::run_wide` chose its type.

use super::factors::Factors;
use super::source::{Any, Coded, Exact, Full, PREFETCH_DISTANCE, Same, Source};
use super::window::{Columns, Diagonal, MAX_HEIGHT, Slice, Window};
use crate::cpu::rows::Operands;
use crate::simd::{Index, Kernel, MAX_LANES, Vector, prefetch};
use spmv_matrix::scalar::Scalar;

/// The kernel for one window: y ← αAx + βy for its rows.
pub struct Multiply<'a, T> {
    /// The window of rows that the kernel computes.
    pub window: &'a Window<T>,
    /// The operands α, x and β.
    pub operands: Operands<'a, T>,
    /// The elements of y of the window's rows.
    pub y: &'a mut [T],
    /// Whether slices of single rows are prefetched.
    pub prefetch: bool,
}

impl<T: Scalar> Kernel<T> for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        assert_eq!((V::LANES, self.y.len()), (self.window.width, self.window.rows));
        let factors = &self.window.factors;
        if const { V::IS_FALLBACK } {
            return self.with_factors::<V, _>(Any(factors));
        }
        match factors {
            Factors::Same(value) => self.with_factors::<V, _>(Same(*value)),
            Factors::Int8(values) => self.with_factors::<V, _>(Exact(values.as_ptr())),
            Factors::Int16(values) => self.with_factors::<V, _>(Exact(values.as_ptr())),
            Factors::Single(values) => self.with_factors::<V, _>(Exact(values.as_ptr())),
            Factors::Coded8(table, codes) => {
                self.with_factors::<V, _>(Coded(table.as_ptr(), codes.as_ptr()));
            }
            Factors::Coded16(table, codes) => {
                self.with_factors::<V, _>(Coded(table.as_ptr(), codes.as_ptr()));
            }
            Factors::Full(values) => self.with_factors::<V, _>(Full(values.as_ptr())),
        }
    }
}

/// The current index in each stream of a window.
#[derive(Clone, Copy, Default)]
struct Position {
    factor: usize,
    column: usize,
    slice: usize,
    lanes: usize,
    mask: usize,
    block: usize,
}

/// The state of reading a window.
struct Reader<'a, T, I, F> {
    window: &'a Window<T>,
    operands: Operands<'a, T>,
    y: &'a mut [T],
    factors: F,
    /// A pointer to the element of x to which the column indices are relative.
    x: *const T,
    columns: *const I,
    prefetch: bool,
    at: Position,
}

impl<'a, T: Scalar> Multiply<'a, T> {
    #[inline(always)]
    fn with_factors<V: Vector<T>, F: Source<T>>(self, factors: F) {
        let x = self.operands.x.as_ptr();
        match &self.window.columns {
            Columns::Near { base, deltas } => {
                self.reader(factors, x.wrapping_add(*base as usize), deltas.as_ptr()).read::<V>();
            }
            Columns::Far(columns) => self.reader(factors, x, columns.as_ptr()).read::<V>(),
        }
    }

    #[inline(always)]
    fn reader<I, F>(self, factors: F, x: *const T, columns: *const I) -> Reader<'a, T, I, F> {
        let Self { window, operands, y, prefetch } = self;
        Reader { window, operands, y, factors, x, columns, prefetch, at: Position::default() }
    }
}

impl<T: Scalar, I: Index, F: Source<T>> Reader<'_, T, I, F> {
    #[inline(always)]
    fn read<V: Vector<T>>(mut self) {
        self.bands::<V>();
        for segment in &self.window.segments {
            match (segment.height, segment.holes) {
                (1, _) if self.prefetch => self.slices::<V, 1, false, true>(segment.slices),
                (1, _) => self.slices::<V, 1, false, false>(segment.slices),
                (2, false) => self.slices::<V, 2, false, false>(segment.slices),
                (3, false) => self.slices::<V, 3, false, false>(segment.slices),
                (4, false) => self.slices::<V, 4, false, false>(segment.slices),
                (2, true) => self.slices::<V, 2, true, false>(segment.slices),
                (3, true) => self.slices::<V, 3, true, false>(segment.slices),
                (4, true) => self.slices::<V, 4, true, false>(segment.slices),
                _ => unreachable!("blocks have at most {MAX_HEIGHT} rows"),
            }
        }
        for &(row, length) in &self.window.long_rows {
            let sum = self.long_row::<V>(length as usize);
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
    fn band_slices<V: Vector<T>, const SLICES: usize>(
        &mut self,
        row: usize,
        diagonals: &[Diagonal],
        full: bool,
    ) {
        let mut sums = match full || F::ZEROS {
            true => self.band_sums::<V, SLICES, false>(row, diagonals),
            false => self.band_sums::<V, SLICES, true>(row, diagonals),
        };
        if F::ZEROS && !full && !all_finite(&sums) {
            sums = self.band_sums::<V, SLICES, true>(row, diagonals);
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
                    let x = V::load(x.wrapping_add(slice * V::LANES));
                    let index = self.at.factor + (k * SLICES + slice) * V::LANES;
                    let factors = self.factors.load::<V>(index);
                    *sum = match MASKED {
                        true => factors.mul_add_where(diagonal.mask, x, *sum),
                        false => factors.mul_add(x, *sum),
                    };
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn slices<V: Vector<T>, const HEIGHT: usize, const HOLES: bool, const PREFETCH: bool>(
        &mut self,
        slices: usize,
    ) {
        let window = self.window;
        for slice in &window.slices[self.at.slice..self.at.slice + slices] {
            let start = self.at;
            let mut sums = match HOLES && !F::ZEROS {
                true => self.slice_sums::<V, HEIGHT, true, PREFETCH>(slice),
                false => self.slice_sums::<V, HEIGHT, false, PREFETCH>(slice),
            };
            if HOLES && F::ZEROS {
                if !all_finite(&sums) {
                    self.at = start;
                    sums = self.slice_sums::<V, HEIGHT, true, PREFETCH>(slice);
                }
                self.at.mask = start.mask + (slice.full + slice.partial) as usize * HEIGHT;
            }
            self.store(slice, sums);
        }
        self.at.slice += slices;
    }

    #[inline(always)]
    fn slice_sums<V: Vector<T>, const HEIGHT: usize, const MASKED: bool, const PREFETCH: bool>(
        &mut self,
        slice: &Slice,
    ) -> [V; HEIGHT] {
        // SAFETY: no memory is read.
        let mut sums = [unsafe { V::zero() }; HEIGHT];
        for _ in 0..slice.full {
            self.step::<V, HEIGHT, MASKED, false, PREFETCH>(V::LANES, &mut sums);
        }
        for step in 0..slice.partial as usize {
            // SAFETY: by SLICES each partial step has its number of lanes.
            let lanes = unsafe { *self.window.lanes.get_unchecked(self.at.lanes + step) };
            self.step::<V, HEIGHT, MASKED, true, PREFETCH>(lanes.into(), &mut sums);
        }
        self.at.lanes += slice.partial as usize;
        self.at.factor = self.at.factor.next_multiple_of(V::LANES);
        sums
    }

    #[inline(always)]
    fn step<
        V: Vector<T>,
        const HEIGHT: usize,
        const MASKED: bool,
        const PARTIAL: bool,
        const PREFETCH: bool,
    >(
        &mut self,
        lanes: usize,
        sums: &mut [V; HEIGHT],
    ) {
        if PREFETCH {
            prefetch(self.columns.wrapping_add(self.at.column + PREFETCH_DISTANCE));
            self.factors.prefetch_after(self.at.factor);
        }
        // SAFETY: by COLUMNS the stream has a whole register of column indices, all within x.
        let x = unsafe { V::gather(self.x, self.columns.add(self.at.column)) };
        for sum in sums {
            // SAFETY: by FACTORS the stream has a whole register of factors; by SLICES each step has its
            // masks, and a partial step has fewer lanes than a register.
            unsafe {
                let factors = self.factors.load::<V>(self.at.factor);
                *sum = if MASKED {
                    let mask = *self.window.masks.get_unchecked(self.at.mask);
                    self.at.mask += 1;
                    factors.mul_add_where(mask, x, *sum)
                } else if PARTIAL {
                    factors.mul_add_first(lanes, x, *sum)
                } else {
                    factors.mul_add(x, *sum)
                };
            }
            self.at.factor += lanes;
        }
        self.at.column += lanes;
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
            // SAFETY: by WIDTH no register has more than `MAX_LANES` values.
            unsafe { sum.store(values.as_mut_ptr()) };
            if rows.len() == V::LANES {
                // The compiler unrolls this loop because it knows the number of lanes.
                for lane in 0..V::LANES {
                    self.store_one(usize::from(rows[lane]) + r, values[lane]);
                }
            } else {
                for (&row, &value) in rows.iter().zip(&values) {
                    self.store_one(usize::from(row) + r, value);
                }
            }
        }
    }

    #[inline(always)]
    fn store_one(&mut self, row: usize, value: T) {
        // SAFETY: by ROWS all rows of a block are in the window, and `run` checked the length of y.
        self.operands.store(value, unsafe { self.y.get_unchecked_mut(row) });
    }

    /// Stores the sums of as many consecutive rows as a register has lanes, beginning with `row`.
    #[inline(always)]
    fn store_consecutive<V: Vector<T>>(&mut self, row: usize, sum: V) {
        let mut sums = [T::zero(); MAX_LANES];
        // SAFETY: by WIDTH no register has more than `MAX_LANES` values.
        unsafe { sum.store(sums.as_mut_ptr()) };
        self.operands.store_all(&mut sums[..V::LANES], &mut self.y[row..row + V::LANES]);
    }

    #[inline(always)]
    fn long_row<V: Vector<T>>(&mut self, length: usize) -> T {
        // SAFETY: no memory is read.
        let mut sums = [unsafe { V::zero() }; 2];
        let mut left = length;
        while left >= 2 * V::LANES {
            for sum in &mut sums {
                self.step::<V, 1, false, false, false>(V::LANES, std::array::from_mut(sum));
            }
            left -= 2 * V::LANES;
        }
        if left >= V::LANES {
            self.step::<V, 1, false, false, false>(V::LANES, std::array::from_mut(&mut sums[1]));
            left -= V::LANES;
        }
        if left > 0 {
            self.step::<V, 1, false, true, false>(left, std::array::from_mut(&mut sums[0]));
        }
        self.at.factor = self.at.factor.next_multiple_of(V::LANES);
        // SAFETY: no memory is read.
        unsafe { sums[0].sum() + sums[1].sum() }
    }
}

/// Returns whether all lanes of all registers are finite.
#[inline(always)]
fn all_finite<T, V: Vector<T>>(registers: &[V]) -> bool {
    // SAFETY: no memory is read.
    registers.iter().all(|register| unsafe { register.finite() })
}
