// Products of entries with row indices, sorted by row. COO and the second parts of HYB and TileSpMV use this.
#pragma once
#include "common.cuh"
#include "once.cuh"

// The row index of lanes beyond the last entry.
constexpr unsigned NO_ROW = 0xffffffffu;

// Where the sums of an interval go. Rows that several intervals may share, and all rows unless OWNS, already contain
// what the sums are added to. If OWNS, the others are written as alpha sum + beta y.
template <bool OWNS>
struct Output {
    value_t *y, alpha, beta;

    __device__ __forceinline__ void put(unsigned row, value_t sum, bool shared) const {
        if (shared || !OWNS)
            atomicAdd(&y[row], alpha * sum);
        else
            store(y, row, alpha, sum, beta);
    }
};

// The entries of one lane in STEPS steps of its warp, all loaded before the first of them is used. Lanes beyond the
// last entry have NO_ROW and the product 0.
struct Batch {
    unsigned rows[STEPS];
    value_t products[STEPS];

    // `left` is the number of entries from the lane's first on. If WHOLE, all exist, and nothing separates the loads.
    template <bool WHOLE>
    __device__ __forceinline__ void load(const unsigned *row_indices,
                                         const unsigned *column_indices, const value_t *values,
                                         const value_t *x, unsigned left) {
        unsigned columns[STEPS];
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
            const bool exists = WHOLE || step * WARP < left;
            rows[step] = exists ? load_once(&row_indices[step * WARP]) : NO_ROW;
            columns[step] = exists ? load_once(&column_indices[step * WARP]) : 0;
            products[step] = exists ? load_once(&values[step * WARP]) : value_t(0);
        }
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step)
            if (WHOLE || rows[step] != NO_ROW) products[step] *= x[columns[step]];
    }
};

// Multiplies the entries from `begin` to `end` by x, by one warp. The first and the last row of the interval may be
// shared with other warps.
template <bool OWNS>
__device__ __forceinline__ void add_interval(unsigned begin, unsigned end,
                                             const unsigned *row_indices,
                                             const unsigned *column_indices,
                                             const value_t *values, const value_t *x,
                                             const Output<OWNS> &output) {
    const unsigned lane = threadIdx.x % WARP;
    if (begin >= end) return;
    const unsigned first_row = row_indices[begin];
    // In the first lane: the sum of the previous steps for its row.
    value_t carry = 0;
    for (unsigned first = begin; first < end; first += STEPS * WARP) {
        const unsigned k = first + lane, after = first + STEPS * WARP;
        const unsigned left = k < end ? end - k : 0;
        // The row of the entry after these steps.
        const unsigned row_after = after < end ? row_indices[after] : NO_ROW;
        Batch batch;
        if (after <= end)
            batch.load<true>(row_indices + k, column_indices + k, values + k, x, left);
        else
            batch.load<false>(row_indices + k, column_indices + k, values + k, x, left);
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
            const unsigned row = batch.rows[step];
            const unsigned first_of_next = step + 1 < STEPS ? batch.rows[(step + 1) % STEPS] : row_after;
            const unsigned next =
                __shfl_sync(ALL_LANES, lane == 0 ? first_of_next : row, (lane + 1) % WARP);
            const unsigned tails = __ballot_sync(ALL_LANES, row != next);
            const value_t sum = run_sums(tails, batch.products[step] + carry);
            if (row != next) output.put(row, sum, row == first_row || next == NO_ROW);
            carry = __shfl_sync(ALL_LANES, sum, WARP - 1);
            if (lane != 0 || tails >> (WARP - 1)) carry = 0;
        }
    }
}

// Multiplies all entries by x, with one interval of entries per warp.
template <bool OWNS>
__device__ __forceinline__ void add_coordinates(unsigned nnz, unsigned interval,
                                                const unsigned *row_indices,
                                                const unsigned *column_indices,
                                                const value_t *values, const value_t *x,
                                                const Output<OWNS> &output) {
    const unsigned warp = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    const unsigned long long start = (unsigned long long)warp * interval, all = nnz;
    add_interval(min(start, all), min(start + interval, all), row_indices, column_indices, values,
                 x, output);
}
