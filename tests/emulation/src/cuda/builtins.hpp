// CUDA's keywords, index variables, vector types and arithmetic, and what concerns a whole block.
#pragma once

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#define threadIdx (static_cast<const uint3 &>(emu::thread()->index))
#define blockIdx (static_cast<const uint3 &>(emu::thread()->block))
#define blockDim (static_cast<const dim3 &>(emu::thread()->block_shape))
#define gridDim (static_cast<const dim3 &>(emu::thread()->grid_shape))
constexpr int warpSize = 32;

#define EMU_VECTOR(TYPE, NAME, PAIR_ALIGN, QUAD_ALIGN)                                               \
    struct __align__(PAIR_ALIGN) NAME##2 { TYPE x, y; };                                             \
    struct __align__(QUAD_ALIGN) NAME##4 { TYPE x, y, z, w; };                                       \
    EMU_INLINE NAME##2 make_##NAME##2(TYPE x, TYPE y) { return {x, y}; }                             \
    EMU_INLINE NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { return {x, y, z, w}; }
EMU_VECTOR(signed char, char, 2, 4)
EMU_VECTOR(unsigned char, uchar, 2, 4)
EMU_VECTOR(short, short, 4, 8)
EMU_VECTOR(unsigned short, ushort, 4, 8)
EMU_VECTOR(int, int, 8, 16)
EMU_VECTOR(unsigned, uint, 8, 16)
EMU_VECTOR(float, float, 8, 16)
EMU_VECTOR(long long, longlong, 16, 16)
EMU_VECTOR(unsigned long long, ulonglong, 16, 16)
EMU_VECTOR(double, double, 16, 16)
EMU_INLINE uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

template <class T> EMU_INLINE T emu_min(T a, T b) { return b < a ? b : a; }
template <class T> EMU_INLINE T emu_max(T a, T b) { return a < b ? b : a; }
#define EMU_MIN_MAX(A, B, RESULT)                                                                    \
    EMU_INLINE RESULT min(A a, B b) { return emu_min<RESULT>(a, b); }                                \
    EMU_INLINE RESULT max(A a, B b) { return emu_max<RESULT>(a, b); }
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(unsigned, unsigned, unsigned)
EMU_MIN_MAX(int, unsigned, unsigned)
EMU_MIN_MAX(unsigned, int, unsigned)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
EMU_INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
EMU_INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
EMU_INLINE double fmin(double a, double b) { return __builtin_fmin(a, b); }
EMU_INLINE double fmax(double a, double b) { return __builtin_fmax(a, b); }
EMU_INLINE float min(float a, float b) { return fminf(a, b); }
EMU_INLINE float max(float a, float b) { return fmaxf(a, b); }
EMU_INLINE double min(double a, double b) { return fmin(a, b); }
EMU_INLINE double max(double a, double b) { return fmax(a, b); }

EMU_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EMU_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
EMU_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EMU_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EMU_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
EMU_INLINE float fabsf(float a) { return __builtin_fabsf(a); }
EMU_INLINE double fabs(double a) { return __builtin_fabs(a); }
EMU_INLINE float fabs(float a) { return __builtin_fabsf(a); }
EMU_INLINE int abs(int a) { return __builtin_abs(a); }

EMU_INLINE int __popc(unsigned a) { return __builtin_popcount(a); }
EMU_INLINE int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
EMU_INLINE int __clz(int a) { return a ? __builtin_clz(a) : 32; }
EMU_INLINE int __clzll(long long a) { return a ? __builtin_clzll(a) : 64; }
EMU_INLINE int __ffs(int a) { return __builtin_ffs(a); }
EMU_INLINE int __ffsll(long long a) { return __builtin_ffsll(a); }
EMU_INLINE unsigned __brev(unsigned a) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1u) << (31 - bit);
    return reversed;
}
EMU_INLINE unsigned long long __brevll(unsigned long long a) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(a))) << 32 | __brev(a >> 32);
}

EMU_INLINE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
EMU_INLINE unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
EMU_INLINE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
EMU_INLINE float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
EMU_INLINE long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
EMU_INLINE double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }

// Past the cache of the multiprocessor, to see what other blocks wrote: kernels poll with these.
template <class T> EMU_INLINE T __ldcg(const T *p) {
    emu::switch_point();
    return *p;
}
template <class T> EMU_INLINE T __ldcv(const T *p) { return __ldcg(p); }

// Other hints about caches change nothing.
template <class T> EMU_INLINE T __ldg(const T *p) { return *p; }
template <class T> EMU_INLINE T __ldca(const T *p) { return *p; }
template <class T> EMU_INLINE T __ldcs(const T *p) { return *p; }
template <class T> EMU_INLINE void __stcg(T *p, T value) { *p = value; }
template <class T> EMU_INLINE void __stcs(T *p, T value) { *p = value; }

EMU_INLINE void __threadfence() { emu::switch_point(); }
EMU_INLINE void __threadfence_block() { emu::switch_point(); }
EMU_BARE __attribute__((noinline)) static void __nanosleep(unsigned) {
    emu::hand_over(__builtin_return_address(0));
}
EMU_BARE inline long long clock64() { return emu::thread()->table->clock(emu::thread()); }

namespace emu {

EMU_BARE inline unsigned barrier(const char *what, bool predicate, const char *file, unsigned line) {
    return thread()->table->barrier(thread(), what, predicate, file, line);
}

EMU_BARE inline void *shared(unsigned key, Address bytes, const char *name) {
    return thread()->table->shared(thread(), key, bytes, name);
}

EMU_BARE inline void *dynamic() { return thread()->table->dynamic(thread()); }

} // namespace emu

EMU_INLINE void __syncthreads(EMU_HERE) { emu::barrier("__syncthreads", true, file, line); }
EMU_INLINE int __syncthreads_count(int predicate, EMU_HERE) {
    return emu::barrier("__syncthreads_count", predicate, file, line);
}
EMU_INLINE int __syncthreads_or(int predicate, EMU_HERE) {
    return emu::barrier("__syncthreads_or", predicate, file, line) != 0;
}
EMU_INLINE int __syncthreads_and(int predicate, EMU_HERE) {
    return emu::barrier("__syncthreads_and", !predicate, file, line) == 0;
}
