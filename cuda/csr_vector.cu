// CSR-Vector: a vector of LANES threads per row, each of which loads DEPTH nonzeros at a time. If LISTING, as in the
// listing of five-gpu-algorithms: one nonzero at a time, from the start of the row, and the lanes' sums are added in
// shared memory.
#include "common.cuh"

// Returns the sum over the lanes of a vector in its first lane, by way of shared memory.
__device__ __forceinline__ value_t shared_sum(unsigned lane, value_t sum) {
    __shared__ value_t sums[BLOCK];
    value_t *mine = sums + threadIdx.x;
    *mine = sum;
    for (unsigned distance = LANES / 2; distance > 0; distance /= 2) {
        __syncwarp();
        if (lane < distance) *mine += mine[distance];
    }
    return *mine;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    csr_vector(unsigned rows, const unsigned *__restrict__ row_offsets,
               const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
               const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % LANES;
    const unsigned row = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    // Vectors past the last row have no nonzeros; they continue because the shuffles need the whole warp.
    const unsigned start = row < rows ? row_offsets[row] : 0;
    const unsigned end = row < rows ? row_offsets[row + 1] : 0;
    value_t sum =
        LISTING ? strided_product<LANES, 1>(start + lane, end, column_indices, values, x)
                : lane_product<LANES, DEPTH>(start, end, lane, column_indices, values, x);
    if (LISTING)
        sum = shared_sum(lane, sum);
    else
        sum = vector_sum<LANES>(ALL_LANES, sum);
    if (lane == 0 && row < rows) store(y, row, alpha, sum, beta);
}
