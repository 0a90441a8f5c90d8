// BCSR: blocks of SIZE x SIZE, each stored column by column. A vector of LANES neighbouring threads owns a
// row of blocks and loads neighbouring values.
#include "common.cuh"

constexpr unsigned AREA = SIZE * SIZE;
// The number of lanes that load values: the largest multiple of SIZE, so that each lane stays in one row.
constexpr unsigned USED = LANES / SIZE * SIZE;

// Returns the sums over the lanes of the same row in the vector's first SIZE lanes.
__device__ __forceinline__ value_t row_sums(unsigned lane, value_t sum) {
#pragma unroll
    for (unsigned columns = USED / SIZE; columns > 1; columns = (columns + 1) / 2) {
        const unsigned distance = (columns + 1) / 2 * SIZE;
        const value_t other = __shfl_down_sync(ALL_LANES, sum, distance);
        if (lane + distance < columns * SIZE) sum += other;
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    bcsr(unsigned rows, const unsigned *__restrict__ block_offsets,
         const unsigned *__restrict__ block_columns, const value_t *__restrict__ values,
         const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    const unsigned lane = threadIdx.x % LANES;
    const unsigned block_row = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    const bool exists = block_row * SIZE < rows;
    const unsigned start = exists ? block_offsets[block_row] : 0;
    const unsigned end = exists ? block_offsets[block_row + 1] : 0;

    const unsigned long long all = (unsigned long long)(end - start) * AREA;
    const unsigned steps = lane < USED ? (all + (USED - 1 - lane)) / USED : 0;
    const value_t *value = values + (unsigned long long)start * AREA + lane;
    unsigned block = start + lane / AREA, place = lane % AREA;
    value_t sum = 0;
#pragma unroll 4
    for (unsigned step = 0; step < steps; ++step) {
        sum += filled_product(*value, x[block_columns[block] + place / SIZE]);
        value += USED;
        block += USED / AREA;
        place += USED % AREA;
        if (place >= AREA) {
            place -= AREA;
            ++block;
        }
    }
    sum = row_sums(lane, sum);
    const unsigned row = block_row * SIZE + lane;
    if (lane < SIZE && row < rows) store(y, row, alpha, sum, beta);
}
