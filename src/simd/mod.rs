//! Vector instructions chosen at run time: one kernel source for both precisions and all
//! instruction sets.
//!
//! A [`Kernel`] is written once against [`Vector`]. [`Isa::run`] calls it from a function that has
//! the target features enabled; everything on the way is inlined there, so that the intrinsics
//! become instructions and the plain loops are vectorised for that instruction set.

mod aligned;

pub use aligned::Aligned;

use crate::scalar::Scalar;

/// The instruction sets that kernels are compiled for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// What every CPU of this architecture has.
    Portable,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 F and VL: masks.
    Avx512,
}

/// A computation that is compiled for each instruction set.
pub trait Kernel<T: Scalar> {
    /// What it returns.
    type Output;
    /// Must be `#[inline(always)]`.
    fn run<V: Vector<T>>(self) -> Self::Output;
}

/// A bit per lane.
pub type Mask = u16;

/// What a table is indexed with, an unsigned integer: wide enough for the table, and no wider where
/// that saves bytes.
///
/// # Safety
/// It is an unsigned integer, and `offset` is its value: registers are gathered by loads of several at once.
pub unsafe trait Index: Copy {
    /// As an offset.
    fn offset(self) -> usize;
}

// SAFETY: an unsigned integer.
unsafe impl Index for u8 {
    #[inline(always)]
    fn offset(self) -> usize {
        self.into()
    }
}

// SAFETY: an unsigned integer.
unsafe impl Index for u16 {
    #[inline(always)]
    fn offset(self) -> usize {
        self.into()
    }
}

// SAFETY: an unsigned integer.
unsafe impl Index for u32 {
    #[inline(always)]
    fn offset(self) -> usize {
        self as usize
    }
}

/// One register of `LANES` values, at most 16. All operations need the instruction set of the register's type,
/// which is why only [`Isa::run`] names one.
pub trait Vector<T>: Copy {
    /// Values per register.
    const LANES: usize;
    /// The mask of all lanes.
    const ALL: Mask = Mask::MAX >> (MOST_LANES - Self::LANES);
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn zero() -> Self;
    /// `values[0..LANES]`.
    /// # Safety
    /// As `zero`, and the values are readable.
    unsafe fn load(values: *const T) -> Self;
    /// `value` in every lane.
    /// # Safety
    /// As `zero`.
    unsafe fn splat(value: T) -> Self;
    /// `x[columns[0..LANES]]`.
    /// # Safety
    /// As `zero`, and the columns and the `x` they point to are readable.
    unsafe fn gather<I: Index>(x: *const T, columns: *const I) -> Self;
    /// `self · factor + addend`, lane by lane.
    /// # Safety
    /// As `zero`.
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// `self` in the lanes whose bit in `mask` is set, the first lane's being the lowest, and `other`
    /// in the rest.
    /// # Safety
    /// As `zero`.
    unsafe fn select(self, other: Self, mask: Mask) -> Self;
    /// `self · factor + addend` in the lanes whose bit is set; the others keep `addend`, whatever they
    /// would have added, even NaN.
    /// # Safety
    /// As `zero`.
    #[inline(always)]
    unsafe fn mul_add_where(self, mask: Mask, factor: Self, addend: Self) -> Self {
        // SAFETY: the same contract.
        unsafe { self.mul_add(factor, addend).select(addend, mask) }
    }
    /// The same in the first `lanes` lanes, fewer than `LANES`.
    /// # Safety
    /// As `zero`.
    #[inline(always)]
    unsafe fn mul_add_first(self, lanes: usize, factor: Self, addend: Self) -> Self {
        // SAFETY: the same contract.
        unsafe { self.mul_add_where((1 << lanes) - 1, factor, addend) }
    }
    /// The sum of all lanes.
    /// # Safety
    /// As `zero`.
    unsafe fn sum(self) -> T;
    /// Writes the lanes to `values[0..LANES]`.
    /// # Safety
    /// As `zero`, and the values are writable.
    unsafe fn store(self, values: *mut T);
    /// Whether no lane is infinite or NaN.
    /// # Safety
    /// As `zero`.
    unsafe fn finite(self) -> bool;
    /// `a · b + c` of single values, for loops that the compiler is to vectorise.
    fn fused(a: T, b: T, c: T) -> T;
}

/// Lanes of the widest register there is.
pub const MOST_LANES: usize = 16;

/// The registers of a precision: narrow ones for pieces of rows, which are short, and the widest for
/// formats that put rows side by side.
pub trait Lanes: Sized {
    /// [`Isa::Avx2`]'s.
    type Avx2: Vector<Self>;
    /// [`Isa::Avx512`]'s.
    type Avx512: Vector<Self>;
    /// [`Isa::Avx2`]'s widest.
    type WideAvx2: Vector<Self>;
    /// [`Isa::Avx512`]'s widest.
    type WideAvx512: Vector<Self>;
}

/// Lanes per register.
struct Width;

impl<T: Scalar> Kernel<T> for Width {
    type Output = usize;
    #[inline(always)]
    fn run<V: Vector<T>>(self) -> usize {
        V::LANES
    }
}

impl Isa {
    /// The widest that this machine has.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// All that this machine has, the widest first.
    pub fn available() -> Vec<Self> {
        [Self::Avx512, Self::Avx2, Self::Portable]
            .into_iter()
            .filter(|isa| isa.is_there())
            .collect()
    }

    /// Whether this machine has it: two loads and a test, once it was asked.
    #[inline]
    fn is_there(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Runs the kernel with this instruction set's narrow registers.
    #[inline]
    pub fn run<T: Scalar + Lanes, K: Kernel<T>>(self, kernel: K) -> K::Output {
        assert!(self.is_there(), "this machine has no {self:?}");
        match self {
            Self::Portable => kernel.run::<Portable<T>>(),
            // SAFETY: the machine has the instructions, as was just asserted.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::with_avx2::<T, T::Avx2, K>(kernel) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { x86::with_avx512::<T, T::Avx512, K>(kernel) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("only x86-64 has it"),
        }
    }

    /// Runs the kernel with this instruction set's widest registers.
    #[inline]
    pub fn run_wide<T: Scalar + Lanes, K: Kernel<T>>(self, kernel: K) -> K::Output {
        assert!(self.is_there(), "this machine has no {self:?}");
        match self {
            Self::Portable => kernel.run::<Portable<T>>(),
            // SAFETY: as in `run`.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::with_avx2::<T, T::WideAvx2, K>(kernel) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { x86::with_avx512::<T, T::WideAvx512, K>(kernel) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("only x86-64 has it"),
        }
    }

    /// Values in one of its widest registers.
    pub fn wide_lanes<T: Scalar + Lanes>(self) -> usize {
        self.run_wide::<T, _>(Width)
    }
}

/// Asks for the cache line at `pointer`, which need not be readable.
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

/// Four accumulators, enough to hide the latency of an addition.
#[derive(Clone, Copy)]
pub struct Portable<T>([T; 4]);

// SAFETY (of every call): each method's contract is the pointer's.
impl<T: Scalar> Vector<T> for Portable<T> {
    const LANES: usize = 4;
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self([T::zero(); 4])
    }
    #[inline(always)]
    unsafe fn load(values: *const T) -> Self {
        Self(std::array::from_fn(|lane| unsafe { *values.add(lane) }))
    }
    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    unsafe fn gather<I: Index>(x: *const T, columns: *const I) -> Self {
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
    /// In two roundings: without the instruction, one rounding is a call of a function.
    #[inline(always)]
    fn fused(a: T, b: T, c: T) -> T {
        a * b + c
    }
}

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(not(target_arch = "x86_64"))]
mod other {
    use super::{Lanes, Portable};

    impl Lanes for f64 {
        type Avx2 = Portable<f64>;
        type Avx512 = Portable<f64>;
        type WideAvx2 = Portable<f64>;
        type WideAvx512 = Portable<f64>;
    }
    impl Lanes for f32 {
        type Avx2 = Portable<f32>;
        type Avx512 = Portable<f32>;
        type WideAvx2 = Portable<f32>;
        type WideAvx512 = Portable<f32>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation, on registers that hold 1, 2, 3, …
    struct AllOperations;

    impl<T: Scalar> Kernel<T> for AllOperations {
        type Output = ();
        #[inline(always)]
        fn run<V: Vector<T>>(self) {
            let values: Vec<T> = (1..=V::LANES).map(|n| T::narrow(n as f64)).collect();
            let reversed: Vec<u32> = (0..V::LANES as u32).rev().collect();
            let total = |weight: fn(f64, f64) -> f64, count: usize| -> f64 {
                (0..count).map(|k| weight(k as f64 + 1.0, (V::LANES - k) as f64)).sum()
            };
            // SAFETY: `Isa::run` chose V for this machine; all pointers are to LANES elements.
            unsafe {
                let ramp = V::load(values.as_ptr());
                let back = V::gather(values.as_ptr(), reversed.as_ptr());
                assert_eq!(V::zero().sum(), T::zero());
                let mut stored = vec![T::nan(); V::LANES];
                back.store(stored.as_mut_ptr());
                assert!(stored.iter().rev().eq(&values));
                let sum = ramp.mul_add(back, ramp).sum();
                assert_eq!(sum.widen(), total(|a, b| a * b + a, V::LANES));
                let short: Vec<u16> = reversed.iter().map(|&k| k as u16).collect();
                assert_eq!(V::gather(values.as_ptr(), short.as_ptr()).mul_add(ramp, ramp).sum(), {
                    T::narrow(total(|a, b| a * b + a, V::LANES))
                });
                let poison = V::splat(T::nan());
                for lane in 0..V::LANES {
                    let one = ramp.mul_add_where(1 << lane, back, V::splat(T::one())).sum();
                    let product = (lane + 1) * (V::LANES - lane);
                    assert_eq!(one.widen(), (product + V::LANES) as f64, "lane {lane}");
                }
                for lanes in 0..V::LANES {
                    let first = ramp.mul_add_first(lanes, back, V::zero()).sum();
                    assert_eq!(first.widen(), total(|a, b| a * b, lanes), "{lanes} lanes");
                    let kept = poison.mul_add_first(0, poison, ramp).sum();
                    assert_eq!(kept.widen(), total(|a, _| a, V::LANES));
                    for bad in [T::nan(), T::infinity(), T::neg_infinity()] {
                        let mut values = values.clone();
                        values[lanes] = bad;
                        assert!(!V::load(values.as_ptr()).finite(), "{bad:?} in lane {lanes}");
                    }
                }
                assert!(ramp.finite() && V::LANES <= MOST_LANES);
                assert_eq!(V::fused(values[1], values[2], values[3]).widen(), 10.0);
            }
        }
    }

    #[test]
    fn every_instruction_set_computes_the_same() {
        for isa in Isa::available() {
            isa.run::<f64, _>(AllOperations);
            isa.run::<f32, _>(AllOperations);
            isa.run_wide::<f64, _>(AllOperations);
            isa.run_wide::<f32, _>(AllOperations);
        }
    }
}
