//! The register type without vector instructions.

#[cfg(not(target_arch = "x86_64"))]
use super::vector::Lanes;
use super::vector::{Index, Mask, Vector};
use spmv_matrix::scalar::Scalar;

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

#[cfg(not(target_arch = "x86_64"))]
impl<T: Scalar> Lanes for T {
    type Avx2 = Portable<T>;
    type Avx512 = Portable<T>;
    type WideAvx2 = Portable<T>;
    type WideAvx512 = Portable<T>;
}
