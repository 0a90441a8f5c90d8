// Adds entries with row indices, sorted by row, to y. COO and the second part of HYB use this.
#pragma once
#include "common.cuh"

// The row index of lanes beyond the last entry.
constexpr unsigned NO_ROW = 0xffffffffu;
// The number of steps whose entries are loaded before the first of them is used.
constexpr unsigned STEPS = 4;

// y += alpha A x for the entries from `begin` to `end`, by one warp. Each row's sum is added by an atomic
// operation, because the first and the last row may be shared with other warps.
__device__ __forceinline__ void add_interval(unsigned begin, unsigned end,
                                             const unsigned *row_indices,
                                             const unsigned *column_indices,
                                             const value_t *values, const value_t *x, value_t *y,
                                             value_t alpha) {
    const unsigned lane = threadIdx.x % WARP;
    // In the first lane: the sum of the previous steps for its row.
    value_t carry = 0;
    for (unsigned first = begin; first < end; first += STEPS * WARP) {
        // The last element is the row of the entry after these steps, in the first lane only.
        unsigned rows[STEPS + 1], columns[STEPS];
        value_t products[STEPS];
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
            const unsigned k = first + step * WARP + lane;
            rows[step] = k < end ? row_indices[k] : NO_ROW;
            columns[step] = k < end ? column_indices[k] : 0;
            products[step] = k < end ? values[k] : value_t(0);
        }
        const unsigned after = first + STEPS * WARP;
        rows[STEPS] = lane == 0 && after < end ? row_indices[after] : NO_ROW;
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step)
            if (rows[step] != NO_ROW) products[step] *= x[columns[step]];
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
            const unsigned row = rows[step];
            const unsigned next =
                __shfl_sync(ALL_LANES, lane == 0 ? rows[step + 1] : row, (lane + 1) % WARP);
            const unsigned tails = __ballot_sync(ALL_LANES, row != next);
            const value_t sum = run_sums(tails, products[step] + carry);
            if (row != next) atomicAdd(&y[row], alpha * sum);
            carry = __shfl_sync(ALL_LANES, sum, WARP - 1);
            if (lane != 0 || tails >> (WARP - 1)) carry = 0;
        }
    }
}

// Adds all entries to y, with one interval of entries per warp.
__device__ __forceinline__ void add_coordinates(unsigned nnz, unsigned interval,
                                                const unsigned *row_indices,
                                                const unsigned *column_indices,
                                                const value_t *values, const value_t *x,
                                                value_t *y, value_t alpha) {
    const unsigned warp = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    const unsigned long long start = (unsigned long long)warp * interval, all = nnz;
    add_interval(min(start, all), min(start + interval, all), row_indices, column_indices, values,
                 x, y, alpha);
}
