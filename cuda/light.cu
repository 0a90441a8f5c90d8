// LightSpMV: vectors of LANES threads fetch their rows from one counter: each vector for itself (PER_WARP = 0) or each
// warp for all its vectors (1), and ROWS rows per vector at a time. A thread loads DEPTH nonzeros at a time. The
// counter is 0 between products.
#include "common.cuh"

// The lanes that fetch rows together. They also leave the loop at the same time.
constexpr unsigned TOGETHER = PER_WARP ? WARP : LANES;
constexpr unsigned VECTORS = TOGETHER / LANES;
// The rows of a fetch.
constexpr unsigned FETCHED = VECTORS * ROWS;

// Returns the first of the next rows in the first of the lanes that fetch together. These lanes fetch until they get
// no row, so each group of them makes one fetch beyond the last row. The last of all fetches clears the counter.
__device__ __forceinline__ unsigned fetch(unsigned rows, unsigned *counter) {
    if (threadIdx.x % TOGETHER > 0) return 0;
    const unsigned first = atomicAdd(counter, FETCHED);
    const unsigned groups = gridDim.x * (BLOCK / TOGETHER);
    if (first / FETCHED == (rows - 1) / FETCHED + groups) atomicExch(counter, 0);
    return first;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    light(unsigned rows, const unsigned *__restrict__ row_offsets,
          const unsigned *__restrict__ column_indices, const value_t *__restrict__ values,
          const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta,
          unsigned *counter) {
    const unsigned mask = vector_mask<TOGETHER>();
    const unsigned lane = threadIdx.x % LANES;
    const unsigned vector = threadIdx.x % TOGETHER / LANES;
    unsigned next = __shfl_sync(mask, fetch(rows, counter), 0, TOGETHER);
    while (next < rows) {
        const unsigned first = next;
        // The next rows are fetched while these are multiplied.
        next = fetch(rows, counter);
#pragma unroll 1
        for (unsigned k = 0; k < ROWS; ++k) {
            const unsigned row = first + k * VECTORS + vector;
            // Two lanes load the bounds of the row for all lanes.
            const unsigned bound = lane < 2 && row < rows ? row_offsets[row + lane] : 0;
            const unsigned start = __shfl_sync(mask, bound, 0, LANES);
            const unsigned end = __shfl_sync(mask, bound, 1, LANES);
            value_t sum = lane_product<LANES, DEPTH>(start, end, lane, column_indices, values, x);
            sum = vector_sum<LANES>(mask, sum);
            if (lane == 0 && row < rows) store(y, row, alpha, sum, beta);
        }
        next = __shfl_sync(mask, next, 0, TOGETHER);
    }
}
