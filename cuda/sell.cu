// SELL-C-sigma: a thread per row, chunks of CHUNK rows. A chunk begins `chunk_offsets` columns of CHUNK
// places after the first. Without an order, places are rows.
#include "strips.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
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
