// PCSR: all products are written to global memory, then rows are summed through shared memory. All accesses
// to global memory but those of x are coalesced. A block of pcsr_sums owns ROWS rows, one per thread, and
// loads their products in pieces of PIECE.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    pcsr_products(unsigned nnz, const unsigned *__restrict__ column_indices,
                  const value_t *__restrict__ values, const value_t *__restrict__ x,
                  value_t *products) {
    start_dependents();
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < nnz) products[k] = values[k] * x[column_indices[k]];
}

extern "C" __global__ void __launch_bounds__(ROWS)
    pcsr_sums(unsigned rows, const unsigned *__restrict__ row_offsets,
              const value_t *__restrict__ products, value_t *y, value_t alpha, value_t beta) {
    __shared__ unsigned offsets[ROWS + 1];
    __shared__ value_t piece[PIECE];
    const unsigned thread = threadIdx.x, first_row = blockIdx.x * ROWS, row = first_row + thread;
    offsets[thread] = row_offsets[min(row, rows)];
    if (thread == 0) offsets[ROWS] = row_offsets[min(first_row + ROWS, rows)];
    __syncthreads();
    products = after_earlier_kernels(products);
    const unsigned last = offsets[ROWS];
    value_t sum = 0;
    for (unsigned begin = offsets[0]; begin < last; begin += PIECE) {
        const unsigned end = min(begin + PIECE, last);
        for (unsigned k = begin + thread; k < end; k += ROWS) piece[k - begin] = products[k];
        __syncthreads();
        const unsigned row_end = min(offsets[thread + 1], end);
        for (unsigned k = max(offsets[thread], begin); k < row_end; ++k) sum += piece[k - begin];
        __syncthreads();
    }
    if (row < rows) store(y, row, alpha, sum, beta);
}
