// Finds the rows for start_rows.cu.
#include "common.cuh"

// Counts the rows that no warp writes alone if each has `piece` consecutive nonzeros, and lists them unless `list` is
// null: rows without nonzeros, rows with the first or the last nonzero of a piece, and rows with nonzeros from `tail`
// on. One thread per row.
extern "C" __global__ void __launch_bounds__(256)
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
