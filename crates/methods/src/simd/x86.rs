//! The register types of x86-64, and the functions in which their instructions are enabled.
//!
//! All operations of the registers and the functions that they use are unsafe for the same reasons, which [`Vector`]
//! states: the machine must support the instruction set, and what is read by a pointer must be readable.

#![allow(unsafe_op_in_unsafe_fn)] // the reasons are stated once, above

use std::arch::x86_64::*;

use super::vector::{GROUP, Index, Kernel, Lanes, Mask, Vector};
use spmv_matrix::scalar::Scalar;

#[target_feature(enable = "avx2,fma,bmi2")]
pub(super) fn with_avx2<T: Scalar, V: Vector<T>, K: Kernel<T>>(kernel: K) -> K::Output {
    kernel.run::<V>()
}

#[target_feature(enable = "avx512f,avx512vl,avx2,fma,bmi2")]
pub(super) fn with_avx512<T: Scalar, V: Vector<T>, K: Kernel<T>>(kernel: K) -> K::Output {
    kernel.run::<V>()
}

/// A register operated on with AVX2 instructions.
#[derive(Clone, Copy)]
pub struct Avx2<R>(R);
/// A register operated on with AVX2 and AVX-512 instructions; it uses the masks of AVX-512.
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

/// The AVX2 blend mask of every set of four lanes: entry i has the lanes set whose bits are set in i.
static SETS: [[i64; 4]; 16] = {
    let mut sets = [[0; 4]; 16];
    let mut k = 0;
    while k < 64 {
        let (set, lane) = (k / 4, k % 4);
        sets[set][lane] = -((set >> lane & 1) as i64);
        k += 1;
    }
    sets
};

/// Eight lanes of 32 bits whose bits are all set, then eight of zeros: a load `n` lanes before the zeros is the blend
/// mask of the first `n` lanes. All such loads are within one cache line.
#[repr(align(64))]
struct FirstLanes([i32; 16]);

static FIRST_LANES: FirstLanes = FirstLanes([-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0]);

/// Returns the address of the blend mask of the first `lanes` lanes of a type, at most 32 bytes of them.
#[inline(always)]
fn first_lanes<T>(lanes: usize) -> *const T {
    let words = lanes * size_of::<T>() / size_of::<i32>();
    debug_assert!(words <= 8);
    FIRST_LANES.0.as_ptr().wrapping_add(8 - words).cast()
}

macro_rules! vector {
    ($register:ident of $lanes:literal $value:ty: $zero:ident $splat:ident $load:ident
     $gather:ident $mul_add:ident $sum:ident $store:ident $sub:ident,
         |$difference:ident| $unordered:expr, |$mask:ident, $set:ident, $unset:ident| $select:expr,
     { $($own:tt)* }) => {
        impl Vector<$value> for $register {
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn zero() -> Self {
                Self($zero())
            }
            #[inline(always)]
            unsafe fn load_from(values: *const $value) -> Self {
                Self($load(values))
            }
            #[inline(always)]
            unsafe fn splat(value: $value) -> Self {
                Self($splat(value))
            }
            #[inline(always)]
            unsafe fn gather_from<I: Index>(x: *const $value, columns: *const I) -> Self {
                Self($gather(x, columns))
            }
            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
                Self($mul_add(self.0, factor.0, addend.0))
            }
            #[inline(always)]
            unsafe fn select(self, other: Self, mask: Mask) -> Self {
                let ($mask, $set, $unset) = (mask, self.0, other.0);
                Self($select)
            }
            #[inline(always)]
            unsafe fn first_lanes(lanes: usize) -> Mask {
                _bzhi_u32(u32::MAX, lanes as u32) as Mask
            }
            #[inline(always)]
            unsafe fn sum(self) -> $value {
                $sum(self.0)
            }
            #[inline(always)]
            unsafe fn store(self, values: *mut $value) {
                $store(values, self.0)
            }
            /// Subtracts the register from itself: ∞ − ∞ and NaN − NaN are NaN, all other differences are 0.
            #[inline(always)]
            unsafe fn finite(self) -> bool {
                let $difference = $sub(self.0, self.0);
                $unordered == 0
            }
            #[inline(always)]
            fn fused(a: $value, b: $value, c: $value) -> $value {
                a.mul_add(b, c)
            }
            $($own)*
        }
    };
}

/// The operations that add the lanes of a group of registers together.
macro_rules! group {
    ($value:ty: $sum_each:ident) => {
        #[inline(always)]
        unsafe fn sum_each([a, b, c, d]: [Self; GROUP]) -> [$value; GROUP] {
            $sum_each([a.0, b.0, c.0, d.0])
        }
    };
}

/// The operations that AVX2 does with blend masks, which `$lanes` returns for a set of lanes.
macro_rules! blends {
    ($value:ty: $load:ident $and:ident $blend:ident $lanes:ident) => {
        #[inline(always)]
        unsafe fn keep(self, mask: Mask) -> Self {
            Self($and(self.0, $lanes(mask)))
        }
        #[inline(always)]
        unsafe fn mul_add_first(self, lanes: usize, factor: Self, addend: Self) -> Self {
            let keep = $load(first_lanes::<$value>(lanes));
            Self($blend(addend.0, self.mul_add(factor, addend).0, keep))
        }
    };
}

vector!(Avx512F64 of 4 f64: _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd
    gather_f64 _mm256_fmadd_pd sum_f64 _mm256_storeu_pd _mm256_sub_pd,
    |d| _mm256_cmp_pd_mask::<_CMP_UNORD_Q>(d, d),
    |mask, set, unset| _mm256_mask_blend_pd(mask as u8, unset, set),
    { group!(f64: sum_each_f64); });
vector!(Avx512F32 of 4 f32: _mm_setzero_ps _mm_set1_ps _mm_loadu_ps
    gather_f32 _mm_fmadd_ps sum_f32 _mm_storeu_ps _mm_sub_ps,
    |d| _mm_cmp_ps_mask::<_CMP_UNORD_Q>(d, d),
    |mask, set, unset| _mm_mask_blend_ps(mask as u8, unset, set),
    { group!(f32: sum_each_f32); });
vector!(WideAvx512F64 of 8 f64: _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd
    gather_8_f64 _mm512_fmadd_pd _mm512_reduce_add_pd _mm512_storeu_pd _mm512_sub_pd,
    |d| _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(d, d),
    |mask, set, unset| _mm512_mask_blend_pd(mask as u8, unset, set), {});
vector!(WideAvx512F32 of 16 f32: _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps
    gather_16_f32 _mm512_fmadd_ps _mm512_reduce_add_ps _mm512_storeu_ps _mm512_sub_ps,
    |d| _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(d, d),
    |mask, set, unset| _mm512_mask_blend_ps(mask, unset, set), {});
vector!(Avx2F64 of 4 f64: _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd
gather_f64 _mm256_fmadd_pd sum_f64 _mm256_storeu_pd _mm256_sub_pd,
|d| _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(d, d)),
|mask, set, unset| _mm256_blendv_pd(unset, set, lanes_f64(mask)),
{
    group!(f64: sum_each_f64);
    blends!(f64: _mm256_loadu_pd _mm256_and_pd _mm256_blendv_pd lanes_f64);
});
vector!(Avx2F32 of 4 f32: _mm_setzero_ps _mm_set1_ps _mm_loadu_ps
gather_f32 _mm_fmadd_ps sum_f32 _mm_storeu_ps _mm_sub_ps,
|d| _mm_movemask_ps(_mm_cmpunord_ps(d, d)),
|mask, set, unset| _mm_blendv_ps(unset, set, lanes_f32(mask)),
{
    group!(f32: sum_each_f32);
    blends!(f32: _mm_loadu_ps _mm_and_ps _mm_blendv_ps lanes_f32);
});
vector!(WideAvx2F32 of 8 f32: _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps
    gather_8_f32 _mm256_fmadd_ps sum_8_f32 _mm256_storeu_ps _mm256_sub_ps,
    |d| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(d, d)),
    |mask, set, unset| _mm256_blendv_ps(unset, set, lanes_8_f32(mask)),
    { blends!(f32: _mm256_loadu_ps _mm256_and_ps _mm256_blendv_ps lanes_8_f32); });

#[inline(always)]
unsafe fn lanes_f64(mask: Mask) -> __m256d {
    _mm256_loadu_pd(SETS[usize::from(mask & 15)].as_ptr().cast())
}

#[inline(always)]
unsafe fn lanes_f32(mask: Mask) -> __m128 {
    let lanes = _mm_set_epi32(8, 4, 2, 1);
    let bits = _mm_and_si128(_mm_set1_epi32(mask.into()), lanes);
    _mm_castsi128_ps(_mm_cmpeq_epi32(bits, lanes))
}

#[inline(always)]
unsafe fn lanes_8_f32(mask: Mask) -> __m256 {
    let lanes = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    let bits = _mm256_and_si256(_mm256_set1_epi32(mask.into()), lanes);
    _mm256_castsi256_ps(_mm256_cmpeq_epi32(bits, lanes))
}

// The gathers below fill the lanes by single loads. On Zen 4 the gather instruction (about two cycles per
// element) measured slower. Wider registers also measured slower on rows of up to tens of nonzeros.

/// Returns four offsets, read by loads of 8 bytes, because loads are the most frequent instructions in the product
/// of irregular rows. With columns of 32 bits this saves SELL and CSR5 a tenth of their time and CSR two per cent. On
/// x86 the first column is in the lowest bits.
#[inline(always)]
unsafe fn four_offsets<I: Index>(columns: *const I) -> [usize; 4] {
    match size_of::<I>() {
        2 => {
            let all = columns.cast::<u64>().read_unaligned() as usize;
            [all & 0xffff, all >> 16 & 0xffff, all >> 32 & 0xffff, all >> 48]
        }
        4 => {
            let [a, b] = columns.cast::<[u64; 2]>().read_unaligned().map(|pair| pair as usize);
            [a & 0xffff_ffff, a >> 32, b & 0xffff_ffff, b >> 32]
        }
        _ => std::array::from_fn(|lane| (*columns.add(lane)).offset()),
    }
}

#[inline(always)]
unsafe fn gather_f64<I: Index>(x: *const f64, columns: *const I) -> __m256d {
    let [a, b, c, d] = four_offsets(columns);
    let low = _mm_loadh_pd(_mm_load_sd(x.add(a)), x.add(b));
    let high = _mm_loadh_pd(_mm_load_sd(x.add(c)), x.add(d));
    _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low), high)
}

#[inline(always)]
unsafe fn gather_f32<I: Index>(x: *const f32, columns: *const I) -> __m128 {
    let [a, b, c, d] = four_offsets(columns);
    _mm_setr_ps(*x.add(a), *x.add(b), *x.add(c), *x.add(d))
}

#[inline(always)]
unsafe fn gather_8_f64<I: Index>(x: *const f64, columns: *const I) -> __m512d {
    let (low, high) = (gather_f64(x, columns), gather_f64(x, columns.add(4)));
    _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high)
}

#[inline(always)]
unsafe fn gather_8_f32<I: Index>(x: *const f32, columns: *const I) -> __m256 {
    _mm256_set_m128(gather_f32(x, columns.add(4)), gather_f32(x, columns))
}

#[inline(always)]
unsafe fn gather_16_f32<I: Index>(x: *const f32, columns: *const I) -> __m512 {
    let (low, high) = (gather_8_f32(x, columns), gather_8_f32(x, columns.add(8)));
    let low = _mm512_castps_pd(_mm512_castps256_ps512(low));
    _mm512_castpd_ps(_mm512_insertf64x4::<1>(low, _mm256_castps_pd(high)))
}

#[inline(always)]
unsafe fn sum_8_f32(v: __m256) -> f32 {
    sum_f32(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v)))
}

#[inline(always)]
unsafe fn sum_f64(v: __m256d) -> f64 {
    let pair = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
    _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
}

#[inline(always)]
unsafe fn sum_f32(v: __m128) -> f32 {
    let pair = _mm_add_ps(v, _mm_movehl_ps(v, v));
    _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
}

#[inline(always)]
unsafe fn add_halves(a: __m256d, b: __m256d) -> __m256d {
    let low = _mm256_insertf128_pd::<1>(a, _mm256_castpd256_pd128(b));
    _mm256_add_pd(low, _mm256_permute2f128_pd::<0x31>(a, b))
}

/// Adds the lanes of four registers in the same order as [`sum_f64`].
#[inline(always)]
unsafe fn sum_each_f64([a, b, c, d]: [__m256d; GROUP]) -> [f64; GROUP] {
    let (ac, bd) = (add_halves(a, c), add_halves(b, d));
    let mut sums = [0.0; GROUP];
    _mm256_storeu_pd(sums.as_mut_ptr(), _mm256_hadd_pd(ac, bd));
    sums
}

/// Adds the lanes of four registers in the same order as [`sum_f32`].
#[inline(always)]
unsafe fn sum_each_f32([a, b, c, d]: [__m128; GROUP]) -> [f32; GROUP] {
    let low = _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a));
    let high = _mm_add_ps(_mm_movelh_ps(c, d), _mm_movehl_ps(d, c));
    let mut sums = [0.0; GROUP];
    _mm_storeu_ps(sums.as_mut_ptr(), _mm_hadd_ps(low, high));
    sums
}
