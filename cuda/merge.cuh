// What merge-based CSR shares with its published form: the merge path, and the scan over a block.
#pragma once
#include "common.cuh"

constexpr unsigned TILE = BLOCK * ITEMS;
constexpr unsigned WARPS = BLOCK / WARP;
// The number of a step on the whole path.
typedef unsigned long long wide;

// A point of the merge path: `row` rows have ended and `nonzero` nonzeros have been consumed.
struct alignas(8) Coordinate {
    unsigned row, nonzero;
};

// The sum that a warp leaves for the row that is open at its end.
struct Carry {
    value_t sum;
    bool ends_rows;
};

// Returns the sum that the threads before this one leave for its first row. `sum` becomes the combined sum of all
// threads up to this one.
__device__ __forceinline__ value_t scan_block(bool ends_rows, value_t &sum, Carry *carries) {
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const unsigned ending = __ballot_sync(ALL_LANES, ends_rows);
    sum = run_sums(ending >> 1 | 1u << (WARP - 1), sum);
    if (lane == WARP - 1) carries[warp] = {sum, ending != 0};
    __syncthreads();
    value_t before = 0;
#pragma unroll
    for (unsigned k = 0; k + 1 < WARPS; ++k)
        if (k < warp) before = carries[k].sum + (carries[k].ends_rows ? value_t(0) : before);
    if ((ending & ~0u >> (WARP - 1 - lane)) == 0) sum += before;
    const value_t neighbour = __shfl_up_sync(ALL_LANES, sum, 1);
    return lane == 0 ? before : neighbour;
}
