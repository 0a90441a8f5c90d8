// What is measured of a device itself: the time of a launch, and the bandwidth of reading.
#include "common.cuh"

// Nothing: its time is that of a launch.
extern "C" __global__ void __launch_bounds__(WARP) probe_empty() {}

// Keeps the device busy for that many cycles, so that what is enqueued after it does not wait for the
// host.
extern "C" __global__ void __launch_bounds__(WARP) probe_spin(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {}
}

// Reads `count` vectors of 16 bytes, `repeats` times, past the first-level cache; the exclusive or of all
// words goes to `sink`, so that no load can be left out.
extern "C" __global__ void __launch_bounds__(BLOCK)
    probe_read(unsigned long long count, unsigned repeats, const uint4 *from, unsigned *sink) {
    const unsigned long long stride = (unsigned long long)gridDim.x * BLOCK;
    const unsigned long long first = (unsigned long long)blockIdx.x * BLOCK + threadIdx.x;
    unsigned sum = 0;
    for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll 8
        for (unsigned long long k = first; k < count; k += stride) {
            const uint4 words = __ldcg(&from[k]);
            sum ^= words.x ^ words.y ^ words.z ^ words.w;
        }
    }
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        sum ^= __shfl_xor_sync(ALL_LANES, sum, distance);
    if (threadIdx.x % WARP == 0) atomicXor(sink, sum);
}
