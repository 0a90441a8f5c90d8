// What is measured of a device so that it can be modelled: the latencies of its memories, the rate of arithmetic in
// double precision, and that of atomic operations on one word.
#include "common.cuh"

typedef unsigned long long word;

// Words of 8 bytes in a line of 128 bytes.
constexpr unsigned LINE = 16;

// Makes a ring of `count` lines: the first word of each is the address of the line `step` lines behind it.
extern "C" __global__ void __launch_bounds__(BLOCK) gauge_link(unsigned count, unsigned step, word *ring) {
    const unsigned k = blockIdx.x * BLOCK + threadIdx.x;
    if (k < count) ring[(word)k * LINE] = (word)&ring[(((word)k + step) % count) * LINE];
}

// One thread follows the ring; each load waits for the one before it. `to` gets the address where it ends. The
// instruction is written out because a compiler chooses among these by what it knows of the memory.
#define FOLLOW(NAME, LOAD)                                                                                             \
    extern "C" __global__ void __launch_bounds__(WARP) NAME(unsigned steps, const word *ring, word *to) {              \
        word at = (word)ring;                                                                                          \
        for (unsigned k = 0; k < steps; ++k) asm volatile(LOAD " %0, [%0];" : "+l"(at));                               \
        if (threadIdx.x == 0) *to = at;                                                                                \
    }

FOLLOW(gauge_follow, "ld.global.u64")
FOLLOW(gauge_follow_read_only, "ld.global.nc.u64")
FOLLOW(gauge_follow_past_l1, "ld.global.cg.u64")

// Each thread: 4 independent chains of `count` fused multiply-adds. What they yield is written, so that none can be
// left out, only if it is `unlikely`.
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
