// CSR-Vector: a vector of LANES threads per row, each of which loads DEPTH nonzeros at a time.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    csr_vector(unsigned rows, const unsigned *__restrict__ row_offsets,
               const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
               const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % LANES;
    const unsigned row = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    // Vectors past the last row have no nonzeros; they continue because the shuffles need the whole warp.
    const unsigned start = row < rows ? row_offsets[row] : 0;
    const unsigned end = row < rows ? row_offsets[row + 1] : 0;
    value_t sum = lane_product<LANES, DEPTH>(start, end, lane, column_indices, values, x);
    sum = vector_sum<LANES>(ALL_LANES, sum);
    if (lane == 0 && row < rows) store(y, row, alpha, sum, beta);
}
