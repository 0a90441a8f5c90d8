// The transposed product without setup. A vector of LANES threads owns a row of A; its lanes add their
// products to y by atomic operations.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    naive_transposed(unsigned rows, const unsigned *__restrict__ row_offsets,
                     const unsigned *__restrict__ column_indices,
                     const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y,
                     value_t alpha) {
    const unsigned row = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    if (row >= rows) return;
    const unsigned end = row_offsets[row + 1];
    const value_t scaled = alpha * x[row];
    for (unsigned k = row_offsets[row] + threadIdx.x % LANES; k < end; k += LANES)
        atomicAdd(&y[column_indices[k]], values[k] * scaled);
}
