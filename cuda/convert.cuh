// What the kernels of conversions share: blocks of THREADS threads, and the row of a nonzero.
#pragma once

#include "common.cuh"
#include "row_of.cuh"

__device__ __forceinline__ unsigned thread() { return blockIdx.x * THREADS + threadIdx.x; }

// Returns what `row_of` does, with fewer steps: it searches between the rows of the first and the last thread of the
// block, in shared memory. The nonzeros of the threads ascend, and all threads call this function.
__device__ __forceinline__ unsigned row_of_ascending(unsigned nonzero, const unsigned *row_offsets,
                                                     unsigned rows, unsigned (&ends)[2]) {
    if (threadIdx.x % (THREADS - 1) == 0)
        ends[threadIdx.x / (THREADS - 1)] = row_of(nonzero, row_offsets, rows);
    __syncthreads();
    return ends[0] + row_of(nonzero, row_offsets + ends[0], ends[1] - ends[0]);
}
