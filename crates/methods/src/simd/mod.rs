//! Vector instructions chosen at run time: one kernel source for both precisions and all instruction sets.
//!
//! A [`Kernel`] is written once, generic over [`Vector`]. [`Dispatch::run`] calls it from a function that has
//! the target features enabled. Everything that the kernel calls is inlined there, so the intrinsics become
//! single instructions and the compiler vectorises plain loops for that instruction set. Operations of registers stand
//! in loops, and not in closures: a closure that is not inlined lacks these features and is several times slower.

mod aligned;
mod portable;
#[cfg(test)]
mod tests;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use portable::Portable;
use spmv_matrix::scalar::Scalar;

pub use aligned::{Aligned, LINE};
pub use spmv_matrix::system::isa::Isa;
pub use vector::{GROUP, Index, Kernel, Lanes, MAX_LANES, Mask, Vector};

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
        Isa::Avx512 if const { K::USES_AVX512 } => unsafe { x86::with_avx512::<T, Avx512, K>(kernel) },
        // SAFETY: a machine with AVX-512 supports AVX2 too.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::Avx512 => unsafe { x86::with_avx2::<T, Avx2, K>(kernel) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => unreachable!("only x86-64 supports this instruction set"),
    }
}

/// Prefetches the cache line at `pointer`, which need not be readable, into the caches of this level and beyond.
#[inline(always)]
pub fn prefetch<const LEVEL: u8>(pointer: *const impl Sized) {
    // SAFETY: a prefetch of any address is harmless; SSE is in the baseline.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let pointer = pointer.cast();
        if LEVEL == 1 { _mm_prefetch::<_MM_HINT_T0>(pointer) } else { _mm_prefetch::<_MM_HINT_T1>(pointer) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = pointer;
}
