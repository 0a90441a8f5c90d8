// Rows of which a thread block, or each of several blocks, sums a part. A block has BLOCK threads.
#pragma once

#include "common.cuh"
#include "once.cuh"

// The matrix and x.
struct Operands {
    const unsigned *row_offsets, *column_indices;
    const value_t *values, *x;
};

// Loads the products of the COUNT nonzeros k, k + BLOCK and so on, below `end`; those at or above it are 0.
template <unsigned COUNT>
__device__ __forceinline__ void load(const Operands &from, unsigned k, unsigned end,
                                     value_t (&products)[COUNT]) {
    unsigned columns[COUNT];
    value_t factors[COUNT];
#pragma unroll
    for (unsigned j = 0; j < COUNT; ++j) {
        products[j] = factors[j] = 0;
        if (k + j * BLOCK >= end) continue;
        columns[j] = load_once(&from.column_indices[k + j * BLOCK]);
        products[j] = load_once(&from.values[k + j * BLOCK]);
    }
#pragma unroll
    for (unsigned j = 0; j < COUNT; ++j)
        if (k + j * BLOCK < end) factors[j] = from.x[columns[j]];
#pragma unroll
    for (unsigned j = 0; j < COUNT; ++j) products[j] *= factors[j];
}

// Returns the sum over the block in thread 0. No thread may use `warp_sums` at the same time.
__device__ __forceinline__ value_t block_sum(value_t sum, value_t *warp_sums) {
    sum = vector_sum<WARP>(ALL_LANES, sum);
    if (threadIdx.x % WARP == 0) warp_sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x >= WARP) return 0;
    sum = threadIdx.x < BLOCK / WARP ? warp_sums[threadIdx.x] : value_t(0);
    return vector_sum<WARP>(ALL_LANES, sum);
}

// Returns the sum of the products of the nonzeros from `start` to `end` in thread 0. A thread loads COUNT at a time.
template <unsigned COUNT>
__device__ __forceinline__ value_t block_product(const Operands &from, unsigned start, unsigned end,
                                                 value_t *warp_sums) {
    value_t sum = 0;
    for (unsigned k = start + threadIdx.x; k < end; k += COUNT * BLOCK) {
        value_t products[COUNT];
        load(from, k, end, products);
#pragma unroll
        for (unsigned j = 0; j < COUNT; ++j) sum += products[j];
    }
    return block_sum(sum, warp_sums);
}

// Stores a row that `blocks` thread blocks divide, of which this one has the sum `part` in thread 0. The block that
// arrives last adds the parts in their order. `first` is the row's first block. `arrivals` is 0 between products.
__device__ __forceinline__ void store_divided(unsigned row, unsigned first, unsigned blocks, value_t part,
                                              value_t *parts, unsigned *arrivals, value_t *y,
                                              value_t alpha, value_t beta, value_t *warp_sums) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        __threadfence();
        is_last = atomicAdd(&arrivals[first], 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    value_t sum = 0;
    for (unsigned k = threadIdx.x; k < blocks; k += BLOCK) sum += __ldcg(&parts[first + k]);
    sum = block_sum(sum, warp_sums);
    if (threadIdx.x > 0) return;
    store(y, row, alpha, sum, beta);
    arrivals[first] = 0;
}
