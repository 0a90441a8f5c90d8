// Kernels that measure the device: the time of a launch and the bandwidth of reads.
#include "common.cuh"

// An empty kernel, whose time is that of a launch.
extern "C" __global__ void __launch_bounds__(WARP) probe_empty() {}

// Occupies the device for the given number of cycles, so that work enqueued after it does not wait for the
// host.
extern "C" __global__ void __launch_bounds__(WARP) probe_spin(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {}
}

// Reads `count` vectors of 16 bytes `repeats` times, bypassing the L1 cache. If EVICT_FIRST, the L2 cache replaces them
// before all other data. The exclusive or of all words is written to `sink`, so that the compiler cannot remove a load.
template <bool EVICT_FIRST>
__device__ __forceinline__ void
read_all(unsigned long long count, unsigned repeats, const uint4 *from, unsigned *sink) {
    const unsigned long long stride = (unsigned long long)gridDim.x * BLOCK;
    const unsigned long long first = (unsigned long long)blockIdx.x * BLOCK + threadIdx.x;
    unsigned sum = 0;
    for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll 8
        for (unsigned long long k = first; k < count; k += stride) {
            const uint4 words = EVICT_FIRST ? __ldcs(&from[k]) : __ldcg(&from[k]);
            sum ^= words.x ^ words.y ^ words.z ^ words.w;
        }
    }
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        sum ^= __shfl_xor_sync(ALL_LANES, sum, distance);
    if (threadIdx.x % WARP == 0) atomicXor(sink, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    probe_read(unsigned long long count, unsigned repeats, const uint4 *from, unsigned *sink) {
    read_all<false>(count, repeats, from, sink);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    probe_read_evict_first(unsigned long long count, unsigned repeats, const uint4 *from, unsigned *sink) {
    read_all<true>(count, repeats, from, sink);
}
