// y <- beta y for some rows, before a kernel that adds to them. If beta = 0, the old y is not read. And which rows
// these are if each warp has a fixed number of consecutive nonzeros.
#include "common.cuh"

// One thread per listed row.
extern "C" __global__ void __launch_bounds__(BLOCK)
    start_rows(unsigned count, const unsigned *__restrict__ list, value_t *y, value_t beta) {
    start_dependents();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) store(y, list[i], 0, 0, beta);
}

// Counts the rows that no warp writes alone if each has `piece` consecutive nonzeros, and lists them unless `list` is
// null: rows without nonzeros, rows with the first or the last nonzero of a piece, and rows with nonzeros from `tail`
// on. One thread per row.
extern "C" __global__ void __launch_bounds__(BLOCK)
    find_rows(unsigned rows, const unsigned *__restrict__ row_offsets, unsigned piece,
              unsigned tail, unsigned *count, unsigned *list) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned start = row_offsets[row], end = row_offsets[row + 1];
    const bool inside = start % piece != 0 && start / piece == end / piece;
    if (start < end && inside && end <= tail) return;
    const unsigned place = atomicAdd(count, 1u);
    if (list) list[place] = row;
}
