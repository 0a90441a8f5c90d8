// CSR-Adaptive: one thread block per row block. Several rows use CSR-Stream through shared memory. A single
// row is processed by the whole block (LONG_ROW_WARP = 0) or its first warp (1). A block has BLOCK threads;
// a row block of several rows has at most CAPACITY nonzeros.
#include "common.cuh"

// Writes the products of all nonzeros of the rows to shared memory; then one thread per row sums them.
__device__ void stream(unsigned first_row, unsigned end_row, const unsigned *row_offsets,
                       const unsigned *column_indices, const value_t *values, const value_t *x,
                       value_t *y, value_t alpha, value_t beta, value_t *products) {
    const unsigned first = row_offsets[first_row];
    const unsigned nnz = row_offsets[end_row] - first;
    for (unsigned k = threadIdx.x; k < nnz; k += BLOCK)
        products[k] = values[first + k] * x[column_indices[first + k]];
    __syncthreads();
    for (unsigned row = first_row + threadIdx.x; row < end_row; row += BLOCK) {
        const unsigned end = row_offsets[row + 1] - first;
        value_t sum = 0;
        for (unsigned k = row_offsets[row] - first; k < end; ++k) sum += products[k];
        store(y, row, alpha, sum, beta);
    }
}

// Returns the sum over the block in thread 0.
__device__ value_t block_sum(value_t sum, value_t *warp_sums) {
    sum = vector_sum<WARP>(ALL_LANES, sum);
    if (threadIdx.x % WARP == 0) warp_sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x >= WARP) return 0;
    sum = threadIdx.x < BLOCK / WARP ? warp_sums[threadIdx.x] : 0;
    return vector_sum<WARP>(ALL_LANES, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    csr_adaptive(const unsigned *__restrict__ row_blocks, const unsigned *__restrict__ row_offsets,
                 const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
                 const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    __shared__ value_t products[CAPACITY];
    const unsigned first_row = row_blocks[blockIdx.x];
    const unsigned end_row = row_blocks[blockIdx.x + 1];
    if (end_row - first_row > 1) {
        stream(first_row, end_row, row_offsets, column_indices, values, x, y, alpha, beta, products);
        return;
    }
    const unsigned start = row_offsets[first_row], end = row_offsets[end_row];
    value_t sum = 0;
    if (LONG_ROW_WARP) {
        if (threadIdx.x >= WARP) return;
        sum = lane_product<WARP>(start, end, threadIdx.x, column_indices, values, x);
        sum = vector_sum<WARP>(ALL_LANES, sum);
    } else {
        for (unsigned k = start + threadIdx.x; k < end; k += BLOCK)
            sum += values[k] * x[column_indices[k]];
        sum = block_sum(sum, products);
    }
    if (threadIdx.x == 0) store(y, first_row, alpha, sum, beta);
}
