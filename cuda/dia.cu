// DIA: one thread per row. The offsets of the diagonals are read through shared memory, BLOCK at a time.
// Negative offsets wrap around, so a column left of the first is also greater than the last.
#include "common.cuh"
#include "once.cuh"

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
#pragma unroll 4
        for (unsigned k = 0; k < count; ++k) {
            const unsigned column = row + chunk[k];
            const value_t factor = column < cols ? x[column] : value_t(0);
            sum += filled_product(load_once(&values[place]), factor);
            place += pitch;
        }
    }
    if (row < rows) store(y, row, alpha, sum, beta);
}
