//! How the kernel loads the values of a window, for each form in which they are stored.

use num_traits::AsPrimitive;

use super::factors::Factors;
use crate::simd::{Index, Vector, prefetch};
use spmv_matrix::scalar::Scalar;

/// How far ahead slices are prefetched, in nonzeros. Hardware prefetchers stop at the end of a page, so this saves 10
/// to 30 % of the time of slices of single rows that are read from memory or from a shared cache. It costs time for
/// blocks of several rows and for bands, which are read in longer runs.
pub const PREFETCH_DISTANCE: usize = 512;
/// The cache that slices are prefetched into. The first one has few places for lines that are on their way, and the
/// elements of x need them: with it, products take up to a fifth longer where x is in memory.
pub const PREFETCH_LEVEL: u8 = 2;

/// A stream of values (factors) that can be loaded into registers.
pub trait Source<T>: Copy {
    /// Whether this is the source for registers with [`Vector::IS_FALLBACK`].
    const IS_FALLBACK: bool = false;
    /// Whether slots without a nonzero contain zeros. Then masks are needed only if some element of x is not finite,
    /// because the product of zero and such an element is NaN, and the sums show it.
    const ZEROS: bool = false;
    /// Prefetches the factors that are loaded some steps after those at index `at`.
    #[inline(always)]
    fn prefetch_after(self, _at: usize) {}
    /// Loads a register of factors, beginning with the one at index `at`.
    ///
    /// # Safety
    /// The stream has a whole register of factors from `at` on.
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V;
}

/// One value, to which all are equal.
#[derive(Clone, Copy)]
pub struct Same<T>(pub T);
/// Values that are stored unchanged.
#[derive(Clone, Copy)]
pub struct Full<'a, T>(pub &'a [T]);
/// Values of a narrower type, which are converted without rounding.
#[derive(Clone, Copy)]
pub struct Exact<'a, S>(pub &'a [S]);
/// A table, and the index of each value in it.
#[derive(Clone, Copy)]
pub struct Coded<'a, T, I>(pub &'a [T], pub &'a [I]);

/// Values of any form, told apart at every load. That takes longer, but one kernel serves all forms.
#[derive(Clone, Copy)]
pub struct Any<'a, T>(pub &'a Factors<T>);

impl<T: Scalar> Source<T> for Any<'_, T> {
    const IS_FALLBACK: bool = true;
    #[inline(never)]
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V {
        // SAFETY: the caller guarantees that the stream has a whole register of factors from `at` on.
        unsafe {
            match self.0 {
                Factors::Same(value) => Same(*value).load(at),
                Factors::Int8(values) => Exact(values).load(at),
                Factors::Int16(values) => Exact(values).load(at),
                Factors::Single(values) => Exact(values).load(at),
                Factors::Coded8(table, codes) => Coded(table, codes).load(at),
                Factors::Coded16(table, codes) => Coded(table, codes).load(at),
                Factors::Full(values) => Full(values).load(at),
            }
        }
    }
}

impl<T: Scalar> Source<T> for Same<T> {
    #[inline(always)]
    unsafe fn load<V: Vector<T>>(self, _: usize) -> V {
        // SAFETY: no memory is read.
        unsafe { V::splat(self.0) }
    }
}

impl<T: Scalar> Source<T> for Full<'_, T> {
    const ZEROS: bool = true;
    #[inline(always)]
    fn prefetch_after(self, at: usize) {
        prefetch::<PREFETCH_LEVEL>(self.0.as_ptr().wrapping_add(at + PREFETCH_DISTANCE));
    }
    #[inline(always)]
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V {
        // SAFETY: the caller guarantees that the stream has a whole register of factors from `at` on.
        unsafe { V::load(self.0, at) }
    }
}

impl<T: Scalar, S: AsPrimitive<f64>> Source<T> for Exact<'_, S> {
    const ZEROS: bool = true;
    #[inline(always)]
    fn prefetch_after(self, at: usize) {
        prefetch::<PREFETCH_LEVEL>(self.0.as_ptr().wrapping_add(at + PREFETCH_DISTANCE));
    }
    #[inline(always)]
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V {
        // SAFETY: as above.
        unsafe { V::convert(self.0, at) }
    }
}

impl<T: Scalar, I: Index> Source<T> for Coded<'_, T, I> {
    #[inline(always)]
    fn prefetch_after(self, at: usize) {
        prefetch::<PREFETCH_LEVEL>(self.1.as_ptr().wrapping_add(at + PREFETCH_DISTANCE));
    }
    #[inline(always)]
    unsafe fn load<V: Vector<T>>(self, at: usize) -> V {
        // SAFETY: the caller guarantees that the stream has a whole register of codes from `at` on; by CODES each code
        // is an index into the table.
        unsafe { V::gather(self.0, self.1, at) }
    }
}
