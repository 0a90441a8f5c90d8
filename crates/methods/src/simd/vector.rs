//! What kernels are written with: registers of any instruction set.

use num_traits::AsPrimitive;

use spmv_matrix::scalar::Scalar;

/// A computation that is compiled for each instruction set.
pub trait Kernel<T: Scalar> {
    type Output;
    /// Whether AVX-512 makes the kernel faster. Otherwise the kernel for AVX2 runs in its place, because generating
    /// another one takes time.
    const USES_AVX512: bool = true;
    /// Runs the computation. Implementations must be `#[inline(always)]`.
    fn run<V: Vector<T>>(self) -> Self::Output;
}

/// One bit per lane.
pub type Mask = u16;

/// An unsigned integer that is an index into an array. Narrower types save memory traffic.
///
/// # Safety
/// The type is an unsigned integer: a gather loads several indices by one load.
pub unsafe trait Index: Copy + Into<u32> {
    #[inline(always)]
    fn offset(self) -> usize {
        self.into() as usize
    }
}

// SAFETY: these are unsigned integers.
unsafe impl Index for u8 {}
// SAFETY: see above.
unsafe impl Index for u16 {}
// SAFETY: see above.
unsafe impl Index for u32 {}

/// One register of `LANES` values, at most 16. In a mask, the lowest bit is that of the first lane.
///
/// # Safety
/// All unsafe operations require that the machine supports the instruction set of the register's type, which is why
/// only [`Dispatch::run`](super::Dispatch::run) selects one. What an operation reads must be readable: `LANES` values
/// or column indices, and the elements of `x` at these indices; what it writes must be writable. Debug builds check
/// what is read from slices.
#[allow(clippy::missing_safety_doc)] // stated here for all operations
pub trait Vector<T>: Copy {
    const LANES: usize;
    /// The mask in which the bits of all lanes are set.
    const ALL: Mask = Mask::MAX >> (MAX_LANES - Self::LANES);
    /// Whether machines of this architecture nearly always have better registers. Kernels in many variants then have
    /// fewer for this one, because generating them takes minutes.
    const IS_FALLBACK: bool = false;
    unsafe fn zero() -> Self;
    unsafe fn load_from(values: *const T) -> Self;
    /// Loads the values from index `at` on.
    #[inline(always)]
    unsafe fn load(values: &[T], at: usize) -> Self {
        debug_assert!(at + Self::LANES <= values.len(), "a register beyond the values");
        // SAFETY: the caller guarantees it.
        unsafe { Self::load_from(values.as_ptr().add(at)) }
    }
    /// Loads values of another type from index `at` on and converts them to `T`.
    #[inline(always)]
    unsafe fn convert<S: AsPrimitive<f64>>(values: &[S], at: usize) -> Self
    where
        T: Scalar,
    {
        debug_assert!(at + Self::LANES <= values.len(), "a register beyond the values");
        let mut converted = [T::zero(); MAX_LANES];
        // SAFETY: the caller guarantees that the values are readable; a register has at most `MAX_LANES`.
        unsafe {
            let values = values.as_ptr().add(at);
            for (lane, to) in converted[..Self::LANES].iter_mut().enumerate() {
                *to = T::narrow((*values.add(lane)).as_());
            }
            Self::load_from(converted.as_ptr())
        }
    }
    unsafe fn splat(value: T) -> Self;
    unsafe fn gather_from<I: Index>(x: *const T, columns: *const I) -> Self;
    /// Gathers `x[columns[at..at + LANES]]`.
    #[inline(always)]
    unsafe fn gather<I: Index>(x: &[T], columns: &[I], at: usize) -> Self {
        debug_assert!(
            columns[at..at + Self::LANES].iter().all(|column| column.offset() < x.len()),
            "a column beyond x"
        );
        // SAFETY: the caller guarantees it.
        unsafe { Self::gather_from(x.as_ptr(), columns.as_ptr().add(at)) }
    }
    /// Returns `self · factor + addend`, lane by lane.
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Returns `self` in the lanes whose bit in `mask` is set, and `other` in the rest.
    unsafe fn select(self, other: Self, mask: Mask) -> Self;
    /// Returns `self · factor + addend` in the lanes whose bit is set. The others return `addend`
    /// unchanged, even if their product is NaN.
    #[inline(always)]
    unsafe fn mul_add_where(self, mask: Mask, factor: Self, addend: Self) -> Self {
        // SAFETY: the caller guarantees it.
        unsafe { self.mul_add(factor, addend).select(addend, mask) }
    }
    /// Returns `self · factor + addend` in the first `lanes` lanes, at most `LANES`, and `addend` in the rest.
    #[inline(always)]
    unsafe fn mul_add_first(self, lanes: usize, factor: Self, addend: Self) -> Self {
        // SAFETY: the caller guarantees it.
        unsafe { self.mul_add_where(Self::first_lanes(lanes), factor, addend) }
    }
    /// Returns `self` in the lanes whose bit in `mask` is set, and zeros in the rest.
    #[inline(always)]
    unsafe fn keep(self, mask: Mask) -> Self {
        // SAFETY: the caller guarantees it.
        unsafe { self.select(Self::zero(), mask) }
    }
    /// Returns the mask of the first `lanes` lanes, at most 16.
    #[inline(always)]
    unsafe fn first_lanes(lanes: usize) -> Mask {
        ((1u32 << lanes) - 1) as Mask
    }
    unsafe fn sum(self) -> T;
    /// Returns the sum of each register, equal to [`sum`](Self::sum) in every bit.
    #[inline(always)]
    unsafe fn sum_each([a, b, c, d]: [Self; GROUP]) -> [T; GROUP] {
        // SAFETY: the caller guarantees it.
        unsafe { [a.sum(), b.sum(), c.sum(), d.sum()] }
    }
    unsafe fn store(self, values: *mut T);
    unsafe fn finite(self) -> bool;
    /// Returns `a · b + c` of single values, for loops that the compiler vectorises.
    fn fused(a: T, b: T, c: T) -> T;
}

/// The number of lanes of the widest register.
pub const MAX_LANES: usize = 16;

/// The number of registers that [`Vector::sum_each`] adds at once.
pub const GROUP: usize = 4;

/// The register types of a precision. CSR kernels use the narrow ones because rows are short. Formats that
/// assign one row to each lane use the widest.
pub trait Lanes: Sized {
    type Avx2: Vector<Self>;
    type Avx512: Vector<Self>;
    type WideAvx2: Vector<Self>;
    type WideAvx512: Vector<Self>;
}
