// Kernels that measure the parameters of the GPU model: the latencies of the memories, the rate of double-precision
// arithmetic, and the rate of atomic operations on one word.
#include "common.cuh"

typedef unsigned long long word;

// Builds a ring of `count` lines of LINE words: the first word of each is the address of the line that is `step` lines
// ahead.
extern "C" __global__ void __launch_bounds__(BLOCK) gauge_link(unsigned count, unsigned step, word *ring) {
    const unsigned k = blockIdx.x * BLOCK + threadIdx.x;
    if (k < count) ring[(word)k * LINE] = (word)&ring[(((word)k + step) % count) * LINE];
}

// One thread follows the ring; each load depends on the one before. The final address is written to `to`. The load is
// inline assembly, because a compiler selects among these instructions by its knowledge about the memory.
#define FOLLOW(NAME, LOAD)                                                                                             \
    extern "C" __global__ void __launch_bounds__(WARP) NAME(unsigned steps, const word *ring, word *to) {              \
        word at = (word)ring;                                                                                          \
        for (unsigned k = 0; k < steps; ++k) asm volatile(LOAD " %0, [%0];" : "+l"(at));                               \
        if (threadIdx.x == 0) *to = at;                                                                                \
    }

FOLLOW(gauge_follow, "ld.global.u64")
FOLLOW(gauge_follow_read_only, "ld.global.nc.u64")
FOLLOW(gauge_follow_past_l1, "ld.global.cg.u64")

// Each thread computes 4 independent chains of `count` fused multiply-adds. The result is written only if it equals
// `unlikely`, so the compiler cannot remove them.
extern "C" __global__ void __launch_bounds__(BLOCK)
    gauge_arithmetic(unsigned count, value_t factor, value_t unlikely, value_t *to) {
    value_t a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 8
    for (unsigned k = 0; k < count; ++k) {
        a = fma(a, factor, factor);
        b = fma(b, factor, factor);
        c = fma(c, factor, factor);
        d = fma(d, factor, factor);
    }
    if (a + b + c + d == unlikely) *to = unlikely;
}

// One lane of each warp adds 1 to the same word, `count` times.
extern "C" __global__ void __launch_bounds__(BLOCK) gauge_add(unsigned count, unsigned *counter) {
    if (threadIdx.x % WARP) return;
    for (unsigned k = 0; k < count; ++k) atomicAdd(counter, 1u);
}
