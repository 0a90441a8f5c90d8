// The row product of ELL, the ELL part of HYB and SELL. Each thread owns a row. The entries of a row are a
// column apart, so neighbouring threads load neighbouring entries. Padding has the column index NO_ENTRY and the value
// 0 and is at the end of its row.
#pragma once
#include "common.cuh"
#include "once.cuh"

// Returns the product of a row of `width` entries. The first is at index `place`; their stride is `stride`.
__device__ __forceinline__ value_t strip_sum(unsigned long long place, unsigned stride,
                                             unsigned width, const unsigned *column_indices,
                                             const value_t *values, const value_t *x) {
    value_t sum = 0;
    for (unsigned k = 0; k < width; k += AHEAD) {
        unsigned columns[AHEAD];
        value_t entries[AHEAD], factors[AHEAD];
#pragma unroll
        for (unsigned j = 0; j < AHEAD; ++j) {
            const bool inside = k + j < width;
            columns[j] = inside ? load_once(&column_indices[place]) : NO_ENTRY;
            entries[j] = inside ? load_once(&values[place]) : value_t(0);
            place += stride;
        }
#pragma unroll
        for (unsigned j = 0; j < AHEAD; ++j)
            factors[j] = columns[j] == NO_ENTRY ? value_t(0) : x[columns[j]];
#pragma unroll
        for (unsigned j = 0; j < AHEAD; ++j) sum += entries[j] * factors[j];
        if (columns[AHEAD - 1] == NO_ENTRY) break;
    }
    return sum;
}

// Multiplies the thread's row of a matrix in ELL, whose columns have a stride of `pitch` entries.
__device__ __forceinline__ void ell_row(unsigned rows, unsigned pitch, unsigned width,
                                        const unsigned *column_indices, const value_t *values,
                                        const value_t *x, value_t *y, value_t alpha, value_t beta) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    store(y, row, alpha, strip_sum(row, pitch, width, column_indices, values, x), beta);
}
