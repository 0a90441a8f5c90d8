// CSR-Scalar: one thread per row.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    csr_scalar(unsigned rows, const unsigned *__restrict__ row_offsets,
               const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
               const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned end = row_offsets[row + 1];
    value_t sum = 0;
    for (unsigned k = row_offsets[row]; k < end; ++k) sum += values[k] * x[column_indices[k]];
    store(y, row, alpha, sum, beta);
}
