// Entries with their rows, sorted by row, added to y: what COO and the second part of HYB share.
#pragma once
#include "common.cuh"

// The row of what is no entry.
constexpr unsigned NO_ROW = 0xffffffffu;
// Steps whose entries are loaded before the first of them is used.
constexpr unsigned STEPS = 4;

// y += alpha A x for the entries from `begin` to `end`, by a warp: a sum per row, added by an atomic
// operation, since the first row and the last may be shared with other warps.
__device__ __forceinline__ void add_interval(unsigned begin, unsigned end,
                                             const unsigned *row_indices,
                                             const unsigned *column_indices,
                                             const value_t *values, const value_t *x, value_t *y,
                                             value_t alpha) {
    const unsigned lane = threadIdx.x % WARP;
    // In the first lane: what the steps before have of its row.
    value_t carry = 0;
    for (unsigned first = begin; first < end; first += STEPS * WARP) {
        // The last is the row after those of the others, in the first lane.
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

// The same for all entries, an interval per warp.
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
