//! Vector instructions chosen at run time: one kernel source for both precisions and all
//! instruction sets.
//!
//! A [`Kernel`] is written once against [`Vector`]. [`Isa::run`] calls it from a function that has
//! the target features enabled; everything on the way is inlined there, so that the intrinsics
//! become instructions and the plain loops are vectorised for that instruction set.

use crate::scalar::Scalar;

/// The instruction sets that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// Whatever the target's baseline has.
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

/// One register of `LANES` values. All operations need the instruction set of the register's type,
/// which is why only [`Isa::run`] names one.
pub trait Vector<T>: Copy {
    /// Values per register.
    const LANES: usize;
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn zero() -> Self;
    /// `values[0..LANES]`.
    /// # Safety
    /// As `zero`, and the values are readable.
    unsafe fn load(values: *const T) -> Self;
    /// `x[columns[0..LANES]]`.
    /// # Safety
    /// As `zero`, and the columns and the `x` they point to are readable; columns < 2^31.
    unsafe fn gather(x: *const T, columns: *const u32) -> Self;
    /// `self · factor + addend`, lane by lane.
    /// # Safety
    /// As `zero`.
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// The same in the first `lanes` lanes; the others keep `addend`, whatever they would have
    /// added, even NaN.
    /// # Safety
    /// As `zero`, and `lanes` < `LANES`.
    unsafe fn mul_add_first(self, lanes: usize, factor: Self, addend: Self) -> Self;
    /// The sum of all lanes.
    /// # Safety
    /// As `zero`.
    unsafe fn sum(self) -> T;
    /// Writes the lanes to `values[0..LANES]`.
    /// # Safety
    /// As `zero`, and the values are writable.
    unsafe fn store(self, values: *mut T);
}

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
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                sets.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                sets.push(Self::Avx2);
            }
        }
        sets.push(Self::Portable);
        sets
    }

    /// Runs the kernel with this instruction set's narrow registers.
    #[inline]
    pub fn run<T: Scalar + Lanes, K: Kernel<T>>(self, kernel: K) -> K::Output {
        debug_assert!(Self::available().contains(&self));
        match self {
            Self::Portable => kernel.run::<Portable<T>>(),
            // SAFETY: an `Isa` other than `Portable` comes from `available`.
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
        debug_assert!(Self::available().contains(&self));
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
    unsafe fn gather(x: *const T, columns: *const u32) -> Self {
        Self(std::array::from_fn(|lane| unsafe { *x.add(*columns.add(lane) as usize) }))
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] * factor.0[lane] + addend.0[lane]))
    }
    #[inline(always)]
    unsafe fn mul_add_first(self, lanes: usize, factor: Self, addend: Self) -> Self {
        let all = unsafe { self.mul_add(factor, addend) };
        Self(std::array::from_fn(|lane| if lane < lanes { all.0[lane] } else { addend.0[lane] }))
    }
    #[inline(always)]
    unsafe fn sum(self) -> T {
        (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
    }
    #[inline(always)]
    unsafe fn store(self, values: *mut T) {
        unsafe { values.cast::<[T; 4]>().write_unaligned(self.0) }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Kernel, Lanes, Vector};
    use crate::scalar::Scalar;

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn with_avx2<T: Scalar, V: Vector<T>, K: Kernel<T>>(kernel: K) -> K::Output {
        kernel.run::<V>()
    }

    #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
    pub(super) fn with_avx512<T: Scalar, V: Vector<T>, K: Kernel<T>>(kernel: K) -> K::Output {
        kernel.run::<V>()
    }

    /// A register with the instructions of AVX2.
    #[derive(Clone, Copy)]
    pub struct Avx2<R>(R);
    /// A register with the masks of AVX-512 VL.
    #[derive(Clone, Copy)]
    pub struct Avx512<R>(R);

    type Avx2F64 = Avx2<__m256d>;
    type Avx2F32 = Avx2<__m128>;
    type Avx512F64 = Avx512<__m256d>;
    type Avx512F32 = Avx512<__m128>;
    type WideAvx2F32 = Avx2<__m256>;
    type WideAvx512F64 = Avx512<__m512d>;
    type WideAvx512F32 = Avx512<__m512>;

    impl Lanes for f64 {
        type Avx2 = Avx2F64;
        type Avx512 = Avx512F64;
        type WideAvx2 = Avx2F64;
        type WideAvx512 = WideAvx512F64;
    }
    impl Lanes for f32 {
        type Avx2 = Avx2F32;
        type Avx512 = Avx512F32;
        type WideAvx2 = WideAvx2F32;
        type WideAvx512 = WideAvx512F32;
    }

    /// `LANES - n` elements in, a mask whose first n lanes are set.
    static MASKS_64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
    static MASKS_32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

    macro_rules! vector {
        ($register:ident of $lanes:literal $value:ty: $zero:ident $load:ident $gather:ident
         $mul_add:ident $sum:ident $store:ident, |$count:ident, $a:ident, $b:ident, $c:ident| $first:expr) => {
            // SAFETY (of every call): each method's contract is the intrinsic's.
            impl Vector<$value> for $register {
                const LANES: usize = $lanes;
                #[inline(always)]
                unsafe fn zero() -> Self {
                    Self(unsafe { $zero() })
                }
                #[inline(always)]
                unsafe fn load(values: *const $value) -> Self {
                    Self(unsafe { $load(values) })
                }
                #[inline(always)]
                unsafe fn gather(x: *const $value, columns: *const u32) -> Self {
                    Self(unsafe { $gather(x, columns) })
                }
                #[inline(always)]
                unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
                    Self(unsafe { $mul_add(self.0, factor.0, addend.0) })
                }
                #[inline(always)]
                unsafe fn mul_add_first(self, lanes: usize, factor: Self, addend: Self) -> Self {
                    let ($count, $a, $b, $c) = (lanes, self.0, factor.0, addend.0);
                    Self(unsafe { $first })
                }
                #[inline(always)]
                unsafe fn sum(self) -> $value {
                    unsafe { $sum(self.0) }
                }
                #[inline(always)]
                unsafe fn store(self, values: *mut $value) {
                    unsafe { $store(values, self.0) }
                }
            }
        };
    }

    vector!(Avx512F64 of 4 f64: _mm256_setzero_pd _mm256_loadu_pd gather_f64
        _mm256_fmadd_pd sum_f64 _mm256_storeu_pd,
        |n, a, b, c| _mm256_mask3_fmadd_pd(a, b, c, (1u8 << n) - 1));
    vector!(Avx512F32 of 4 f32: _mm_setzero_ps _mm_loadu_ps gather_f32
        _mm_fmadd_ps sum_f32 _mm_storeu_ps,
        |n, a, b, c| _mm_mask3_fmadd_ps(a, b, c, (1u8 << n) - 1));
    vector!(WideAvx512F64 of 8 f64: _mm512_setzero_pd _mm512_loadu_pd gather_8_f64
        _mm512_fmadd_pd _mm512_reduce_add_pd _mm512_storeu_pd,
        |n, a, b, c| _mm512_mask3_fmadd_pd(a, b, c, (1u8 << n) - 1));
    vector!(WideAvx512F32 of 16 f32: _mm512_setzero_ps _mm512_loadu_ps gather_16_f32
        _mm512_fmadd_ps _mm512_reduce_add_ps _mm512_storeu_ps,
        |n, a, b, c| _mm512_mask3_fmadd_ps(a, b, c, (1u16 << n) - 1));
    vector!(Avx2F64 of 4 f64: _mm256_setzero_pd _mm256_loadu_pd gather_f64
        _mm256_fmadd_pd sum_f64 _mm256_storeu_pd,
    |n, a, b, c| {
        let mask = _mm256_loadu_pd(MASKS_64.as_ptr().add(4 - n).cast());
        _mm256_blendv_pd(c, _mm256_fmadd_pd(a, b, c), mask)
    });
    vector!(Avx2F32 of 4 f32: _mm_setzero_ps _mm_loadu_ps gather_f32
        _mm_fmadd_ps sum_f32 _mm_storeu_ps,
    |n, a, b, c| {
        let mask = _mm_loadu_ps(MASKS_32.as_ptr().add(8 - n).cast());
        _mm_blendv_ps(c, _mm_fmadd_ps(a, b, c), mask)
    });
    vector!(WideAvx2F32 of 8 f32: _mm256_setzero_ps _mm256_loadu_ps gather_8_f32
        _mm256_fmadd_ps sum_8_f32 _mm256_storeu_ps,
    |n, a, b, c| {
        let mask = _mm256_loadu_ps(MASKS_32.as_ptr().add(8 - n).cast());
        _mm256_blendv_ps(c, _mm256_fmadd_ps(a, b, c), mask)
    });

    // Lanes filled by single loads: on Zen 4 the gather instruction (some two cycles an element)
    // measured slower, and on rows of up to tens of nonzeros so did wider registers.

    #[inline(always)]
    unsafe fn gather_f64(x: *const f64, columns: *const u32) -> __m256d {
        // SAFETY: the contract of `Vector::gather`.
        unsafe {
            let x = |lane| x.add(*columns.add(lane) as usize);
            let low = _mm_loadh_pd(_mm_load_sd(x(0)), x(1));
            let high = _mm_loadh_pd(_mm_load_sd(x(2)), x(3));
            _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low), high)
        }
    }

    #[inline(always)]
    unsafe fn gather_f32(x: *const f32, columns: *const u32) -> __m128 {
        // SAFETY: the contract of `Vector::gather`.
        unsafe {
            let x = |lane| *x.add(*columns.add(lane) as usize);
            _mm_setr_ps(x(0), x(1), x(2), x(3))
        }
    }

    #[inline(always)]
    unsafe fn gather_8_f64(x: *const f64, columns: *const u32) -> __m512d {
        // SAFETY: the contract of `Vector::gather`.
        unsafe {
            let (low, high) = (gather_f64(x, columns), gather_f64(x, columns.add(4)));
            _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high)
        }
    }

    #[inline(always)]
    unsafe fn gather_8_f32(x: *const f32, columns: *const u32) -> __m256 {
        // SAFETY: the contract of `Vector::gather`.
        unsafe { _mm256_set_m128(gather_f32(x, columns.add(4)), gather_f32(x, columns)) }
    }

    #[inline(always)]
    unsafe fn gather_16_f32(x: *const f32, columns: *const u32) -> __m512 {
        // SAFETY: the contract of `Vector::gather`.
        unsafe {
            let (low, high) = (gather_8_f32(x, columns), gather_8_f32(x, columns.add(8)));
            let low = _mm512_castps_pd(_mm512_castps256_ps512(low));
            _mm512_castpd_ps(_mm512_insertf64x4::<1>(low, _mm256_castps_pd(high)))
        }
    }

    #[inline(always)]
    unsafe fn sum_8_f32(v: __m256) -> f32 {
        // SAFETY: `Vector::sum` asks for the instruction set.
        unsafe { sum_f32(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v))) }
    }

    #[inline(always)]
    unsafe fn sum_f64(v: __m256d) -> f64 {
        // SAFETY: `Vector::sum` asks for the instruction set.
        unsafe {
            let pair = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
            _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
        }
    }

    #[inline(always)]
    unsafe fn sum_f32(v: __m128) -> f32 {
        // SAFETY: `Vector::sum` asks for the instruction set.
        unsafe {
            let pair = _mm_add_ps(v, _mm_movehl_ps(v, v));
            _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
        }
    }
}

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
                let poison = V::load(vec![T::nan(); V::LANES].as_ptr());
                for lanes in 0..V::LANES {
                    let first = ramp.mul_add_first(lanes, back, V::zero()).sum();
                    assert_eq!(first.widen(), total(|a, b| a * b, lanes), "{lanes} lanes");
                    let kept = poison.mul_add_first(0, poison, ramp).sum();
                    assert_eq!(kept.widen(), total(|a, _| a, V::LANES));
                }
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
