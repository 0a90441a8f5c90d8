//! The product of one window.
//!
//! Unchecked accesses rely on the invariants of [`check`](super::check), cited by name, and on x having a
//! value per column of the matrix, which `Prepared::multiply` checks. The machine supports the instructions
//! of each register because `Isa::run_wide` chose its type.

use super::window::{Columns, Factors, MAX_HEIGHT, Slice, Window};
use crate::methods::cpu::rows::Operands;
use crate::scalar::Scalar;
use crate::simd::{Index, Kernel, MAX_LANES, Vector};

/// The kernel for one window: y ← αAx + βy for its rows.
pub struct Multiply<'a, T> {
    /// The window of rows that the kernel computes.
    pub window: &'a Window<T>,
    /// The operands α, x and β.
    pub operands: Operands<'a, T>,
    /// The elements of y of the window's rows.
    pub y: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        assert_eq!((V::LANES, self.y.len()), (self.window.width, self.window.rows));
        match &self.window.factors {
            Factors::Same(value) => self.with_factors::<V, _>(Same(*value)),
            Factors::Full(values) => self.with_factors::<V, _>(Full(values.as_ptr())),
            Factors::Coded { table, codes } => {
                self.with_factors::<V, _>(Coded(table.as_ptr(), codes.as_ptr()));
            }
        }
    }
}

/// A stream of values (factors) that can be loaded into registers.
trait Source<T>: Copy {
    /// Loads a register of factors, beginning with the one at index `at`.
    ///
    /// # Safety
    /// The stream has a whole register of factors from `at` on.
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V;
}

#[derive(Clone, Copy)]
struct Same<T>(T);
#[derive(Clone, Copy)]
struct Full<T>(*const T);
#[derive(Clone, Copy)]
struct Coded<T>(*const T, *const u8);

impl<T: Scalar> Source<T> for Same<T> {
    #[inline(always)]
    unsafe fn load<V: Vector<T>>(self, _: usize) -> V {
        // SAFETY: no memory is read.
        unsafe { V::splat(self.0) }
    }
}

impl<T: Scalar> Source<T> for Full<T> {
    #[inline(always)]
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V {
        // SAFETY: the caller guarantees that the stream has a whole register of factors from `at` on.
        unsafe { V::load(self.0.add(at)) }
    }
}

impl<T: Scalar> Source<T> for Coded<T> {
    #[inline(always)]
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V {
        // SAFETY: the caller guarantees that the stream has a whole register of codes from `at` on; by CODES each code
        // is an index into the table.
        unsafe { V::gather(self.0, self.1.add(at)) }
    }
}

/// The state of reading a window: the current index in each stream.
struct Reader<'a, T, I, F> {
    window: &'a Window<T>,
    operands: Operands<'a, T>,
    y: &'a mut [T],
    factors: F,
    /// A pointer to the element of x to which the column indices are relative.
    x: *const T,
    columns: *const I,
    factor: usize,
    column: usize,
    slice: usize,
    lanes: usize,
    mask: usize,
    block: usize,
}

impl<'a, T: Scalar> Multiply<'a, T> {
    #[inline(always)]
    fn with_factors<V: Vector<T>, F: Source<T>>(self, factors: F) {
        let x = self.operands.x.as_ptr();
        match &self.window.columns {
            Columns::Near { base, deltas } => {
                self.reader(factors, x.wrapping_add(*base), deltas.as_ptr()).read::<V>();
            }
            Columns::Far(columns) => self.reader(factors, x, columns.as_ptr()).read::<V>(),
        }
    }

    #[inline(always)]
    fn reader<I, F>(self, factors: F, x: *const T, columns: *const I) -> Reader<'a, T, I, F> {
        let Self { window, operands, y } = self;
        Reader {
            window,
            operands,
            y,
            factors,
            x,
            columns,
            factor: 0,
            column: 0,
            slice: 0,
            lanes: 0,
            mask: 0,
            block: 0,
        }
    }
}

impl<T: Scalar, I: Index, F: Source<T>> Reader<'_, T, I, F> {
    #[inline(always)]
    fn read<V: Vector<T>>(mut self) {
        self.bands::<V>();
        for segment in &self.window.segments {
            match (segment.height, segment.holes) {
                (1, _) => self.slices::<V, 1, false>(segment.slices),
                (2, false) => self.slices::<V, 2, false>(segment.slices),
                (3, false) => self.slices::<V, 3, false>(segment.slices),
                (4, false) => self.slices::<V, 4, false>(segment.slices),
                (2, true) => self.slices::<V, 2, true>(segment.slices),
                (3, true) => self.slices::<V, 3, true>(segment.slices),
                (4, true) => self.slices::<V, 4, true>(segment.slices),
                _ => unreachable!("blocks have at most {MAX_HEIGHT} rows"),
            }
        }
        for &(row, length) in &self.window.long_rows {
            let sum = self.long_row::<V>(length as usize);
            self.operands.store(sum, &mut self.y[usize::from(row)]);
        }
    }

    #[inline(always)]
    fn bands<V: Vector<T>>(&mut self) {
        for band in &self.window.bands {
            let diagonals = &self.window.diagonals[band.diagonals.clone()];
            let full = diagonals.iter().all(|diagonal| diagonal.mask == V::ALL);
            for slice in 0..band.slices {
                let row = band.row + slice * V::LANES;
                let x = self.operands.x.as_ptr().wrapping_add(self.window.first_row + row);
                // SAFETY: no memory is read.
                let mut sum = unsafe { V::zero() };
                for diagonal in diagonals {
                    // SAFETY: by BANDS x has a whole register from this column on; by FACTORS so does the stream.
                    unsafe {
                        let x = V::load(x.wrapping_offset(diagonal.offset as isize));
                        let factors = self.factors.load::<V>(self.factor);
                        sum = match full {
                            true => factors.mul_add(x, sum),
                            false => factors.mul_add_where(diagonal.mask, x, sum),
                        };
                    }
                    self.factor += V::LANES;
                }
                let mut sums = [T::zero(); MAX_LANES];
                // SAFETY: by WIDTH no register has more than `MAX_LANES` values.
                unsafe { sum.store(sums.as_mut_ptr()) };
                for (sum, y) in sums.iter().zip(&mut self.y[row..row + V::LANES]) {
                    self.operands.store(*sum, y);
                }
            }
        }
    }

    #[inline(always)]
    fn slices<V: Vector<T>, const HEIGHT: usize, const HOLES: bool>(&mut self, slices: usize) {
        let window = self.window;
        for slice in &window.slices[self.slice..self.slice + slices] {
            // SAFETY: no memory is read.
            let mut sums = [unsafe { V::zero() }; HEIGHT];
            for _ in 0..slice.full {
                self.step::<V, HEIGHT, HOLES, false>(V::LANES, &mut sums);
            }
            for step in 0..slice.partial as usize {
                // SAFETY: by SLICES each partial step has its number of lanes.
                let lanes = usize::from(unsafe { *window.lanes.get_unchecked(self.lanes + step) });
                self.step::<V, HEIGHT, HOLES, true>(lanes, &mut sums);
            }
            self.lanes += slice.partial as usize;
            self.factor = self.factor.next_multiple_of(V::LANES);
            self.store(slice, sums);
        }
        self.slice += slices;
    }

    #[inline(always)]
    fn step<V: Vector<T>, const HEIGHT: usize, const HOLES: bool, const PARTIAL: bool>(
        &mut self,
        lanes: usize,
        sums: &mut [V; HEIGHT],
    ) {
        // SAFETY: by COLUMNS the stream has a whole register of column indices, all within x.
        let x = unsafe { V::gather(self.x, self.columns.add(self.column)) };
        for sum in sums {
            // SAFETY: by FACTORS the stream has a whole register of factors; by SLICES each step has its
            // masks, and a partial step has fewer lanes than a register.
            unsafe {
                let factors = self.factors.load::<V>(self.factor);
                *sum = if HOLES {
                    let mask = *self.window.masks.get_unchecked(self.mask);
                    self.mask += 1;
                    factors.mul_add_where(mask, x, *sum)
                } else if PARTIAL {
                    factors.mul_add_first(lanes, x, *sum)
                } else {
                    factors.mul_add(x, *sum)
                };
            }
            self.factor += lanes;
        }
        self.column += lanes;
    }

    #[inline(always)]
    fn store<V: Vector<T>, const HEIGHT: usize>(&mut self, slice: &Slice, sums: [V; HEIGHT]) {
        let blocks = usize::from(slice.blocks);
        let rows = &self.window.block_rows[self.block..self.block + blocks];
        self.block += blocks;
        for (r, sum) in sums.into_iter().enumerate() {
            let mut values = [T::zero(); MAX_LANES];
            // SAFETY: by WIDTH no register has more than `MAX_LANES` values.
            unsafe { sum.store(values.as_mut_ptr()) };
            for (&row, &value) in rows.iter().zip(&values) {
                // SAFETY: by ROWS all rows of a block are in the window, and `run` checked the length of y.
                let y = unsafe { self.y.get_unchecked_mut(usize::from(row) + r) };
                self.operands.store(value, y);
            }
        }
    }

    #[inline(always)]
    fn long_row<V: Vector<T>>(&mut self, length: usize) -> T {
        // SAFETY: no memory is read.
        let mut sums = [unsafe { V::zero() }; 2];
        let mut left = length;
        while left >= 2 * V::LANES {
            for sum in &mut sums {
                self.step::<V, 1, false, false>(V::LANES, std::array::from_mut(sum));
            }
            left -= 2 * V::LANES;
        }
        if left >= V::LANES {
            self.step::<V, 1, false, false>(V::LANES, std::array::from_mut(&mut sums[1]));
            left -= V::LANES;
        }
        if left > 0 {
            self.step::<V, 1, false, true>(left, std::array::from_mut(&mut sums[0]));
        }
        self.factor = self.factor.next_multiple_of(V::LANES);
        // SAFETY: no memory is read.
        unsafe { sums[0].sum() + sums[1].sum() }
    }
}
