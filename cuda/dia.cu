// DIA: one thread per row. The offsets of the diagonals are read through shared memory, BLOCK at a time.
// Negative offsets wrap around, so a column left of the first is also greater than the last.
#include "common.cuh"
#include "once.cuh"

// The number of diagonals that a thread loads together, so that it waits once for them.
constexpr unsigned TOGETHER = 32 / sizeof(value_t);

extern "C" __global__ void __launch_bounds__(BLOCK)
    dia(unsigned rows, unsigned cols, unsigned pitch, unsigned diagonals,
        const unsigned *__restrict__ offsets, const value_t *__restrict__ values,
        const value_t *__restrict__ x, value_t *y, value_t alpha, value_t beta) {
    __shared__ unsigned chunk[BLOCK];
    const unsigned row = blockIdx.x * BLOCK + threadIdx.x;
    unsigned long long place = row;
    value_t sum = 0;
    for (unsigned first = 0; first < diagonals; first += BLOCK) {
        const unsigned count = min(BLOCK, diagonals - first);
        // The chunk before has been read.
        __syncthreads();
        if (threadIdx.x < count) chunk[threadIdx.x] = offsets[first + threadIdx.x];
        __syncthreads();
        if (row >= rows) continue;
        for (unsigned k = 0; k < count; k += TOGETHER) {
            value_t entries[TOGETHER], factors[TOGETHER];
#pragma unroll
            for (unsigned j = 0; j < TOGETHER; ++j) {
                const unsigned column = k + j < count ? row + chunk[k + j] : cols;
                factors[j] = column < cols ? x[column] : value_t(0);
                entries[j] = column < cols ? load_once(&values[place]) : value_t(0);
                place += pitch;
            }
#pragma unroll
            for (unsigned j = 0; j < TOGETHER; ++j)
                sum += filled_product(entries[j], factors[j]);
        }
    }
    if (row < rows) store(y, row, alpha, sum, beta);
}
