// SELL-C-sigma: one thread per row, chunks of CHUNK rows. `chunk_offsets` counts in columns of CHUNK entries.
// `order` maps a position to its row; if it is null, the rows are in their original order.
#include "strips.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    sell(unsigned rows, const unsigned *__restrict__ chunk_offsets,
         const unsigned *__restrict__ order, const unsigned *__restrict__ column_indices,
         const value_t *__restrict__ values, const value_t *__restrict__ x, value_t *y,
         value_t alpha, value_t beta) {
    const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= rows) return;
    const unsigned chunk = place / CHUNK;
    const unsigned start = chunk_offsets[chunk], width = chunk_offsets[chunk + 1] - start;
    const unsigned row = order ? order[place] : place;
    const unsigned long long first = (unsigned long long)start * CHUNK + place % CHUNK;
    store(y, row, alpha, strip_sum(first, CHUNK, width, column_indices, values, x), beta);
}
