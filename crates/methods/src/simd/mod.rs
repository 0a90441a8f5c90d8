//! Vector instructions chosen at run time: one kernel source for both precisions and all instruction sets.
//!
//! A [`Kernel`] is written once, generic over [`Vector`]. [`Dispatch::run`] calls it from a function that has
//! the target features enabled. Everything that the kernel calls is inlined there, so the intrinsics become
//! single instructions and the compiler vectorises plain loops for that instruction set.

mod aligned;

pub use aligned::{Aligned, LINE};

use num_traits::AsPrimitive;

use spmv_matrix::scalar::Scalar;
pub use spmv_matrix::system::isa::Isa;

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
/// only [`Dispatch::run`] selects one. What an operation reads must be readable: `LANES` values or column indices, and
/// the elements of `x` at these indices; what it writes must be writable. Debug builds check what is read from slices.
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

/// How kernels run with the instruction set that was chosen.
pub trait Dispatch {
    /// Runs the kernel with this instruction set's narrow registers.
    fn run<T: Scalar + Lanes, K: Kernel<T>>(self, kernel: K) -> K::Output;

    /// Runs the kernel with this instruction set's widest registers.
    fn run_wide<T: Scalar + Lanes, K: Kernel<T>>(self, kernel: K) -> K::Output;

    /// Returns whether these are the instructions of registers with [`Vector::IS_FALLBACK`].
    fn is_fallback(&self) -> bool;

    /// Returns the number of values in the widest register of this instruction set.
    fn wide_lanes<T: Scalar + Lanes>(self) -> usize;
}

impl Dispatch for Isa {
    #[inline]
    fn run<T: Scalar + Lanes, K: Kernel<T>>(self, kernel: K) -> K::Output {
        run_with::<T, T::Avx2, T::Avx512, K>(self, kernel)
    }

    #[inline]
    fn run_wide<T: Scalar + Lanes, K: Kernel<T>>(self, kernel: K) -> K::Output {
        run_with::<T, T::WideAvx2, T::WideAvx512, K>(self, kernel)
    }

    fn is_fallback(&self) -> bool {
        *self == Self::Portable && <Portable<f64> as Vector<f64>>::IS_FALLBACK
    }

    fn wide_lanes<T: Scalar + Lanes>(self) -> usize {
        match self {
            Self::Portable => Portable::<T>::LANES,
            Self::Avx2 => T::WideAvx2::LANES,
            Self::Avx512 => T::WideAvx512::LANES,
        }
    }
}

#[inline]
fn run_with<T, Avx2, Avx512, K>(isa: Isa, kernel: K) -> K::Output
where
    T: Scalar,
    Avx2: Vector<T>,
    Avx512: Vector<T>,
    K: Kernel<T>,
{
    assert!(isa.is_supported(), "this machine does not support {isa:?}");
    match isa {
        Isa::Portable => kernel.run::<Portable<T>>(),
        // SAFETY: the machine supports the instructions, as asserted above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if const { K::USES_AVX512 } => unsafe {
            x86::with_avx512::<T, Avx512, K>(kernel)
        },
        // SAFETY: a machine with AVX-512 supports AVX2 too.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::Avx512 => unsafe { x86::with_avx2::<T, Avx2, K>(kernel) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => unreachable!("only x86-64 supports this instruction set"),
    }
}

/// Prefetches the cache line at `pointer`, which need not be readable.
#[inline(always)]
pub fn prefetch<T>(pointer: *const T) {
    // SAFETY: a prefetch of any address is harmless; SSE is in the baseline.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(pointer.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = pointer;
}

/// A register without vector instructions: four accumulators, enough to hide the latency of an addition.
#[derive(Clone, Copy)]
pub struct Portable<T>([T; 4]);

// SAFETY (of every call): the contract of each method covers the pointers that it reads or writes.
impl<T: Scalar> Vector<T> for Portable<T> {
    const LANES: usize = 4;
    const IS_FALLBACK: bool = cfg!(target_arch = "x86_64");
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self([T::zero(); 4])
    }
    #[inline(always)]
    unsafe fn load_from(values: *const T) -> Self {
        Self(std::array::from_fn(|lane| unsafe { *values.add(lane) }))
    }
    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    unsafe fn gather_from<I: Index>(x: *const T, columns: *const I) -> Self {
        Self(std::array::from_fn(|lane| unsafe { *x.add((*columns.add(lane)).offset()) }))
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] * factor.0[lane] + addend.0[lane]))
    }
    #[inline(always)]
    unsafe fn select(self, other: Self, mask: Mask) -> Self {
        let set = |lane| mask >> lane & 1 == 1;
        Self(std::array::from_fn(|lane| if set(lane) { self.0[lane] } else { other.0[lane] }))
    }
    #[inline(always)]
    unsafe fn sum(self) -> T {
        (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
    }
    #[inline(always)]
    unsafe fn store(self, values: *mut T) {
        unsafe { values.cast::<[T; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn finite(self) -> bool {
        self.0.iter().all(|lane| lane.is_finite())
    }
    /// Rounds twice. Without an FMA instruction, a single rounding would need a function call.
    #[inline(always)]
    fn fused(a: T, b: T, c: T) -> T {
        a * b + c
    }
}

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(not(target_arch = "x86_64"))]
impl<T: Scalar> Lanes for T {
    type Avx2 = Portable<T>;
    type Avx512 = Portable<T>;
    type WideAvx2 = Portable<T>;
    type WideAvx512 = Portable<T>;
}

#[cfg(test)]
mod tests;
