// Conversion from CSR to aligned blocks of SIZE x SIZE entries. A block is represented by its first nonzero in CSR.
#include "convert.cuh"

// Returns the first of the nonzeros from `low` on before `high`, all of one row, that is in `column` or behind.
__device__ __forceinline__ unsigned search(unsigned low, unsigned high, unsigned column,
                                           const unsigned *columns) {
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Returns whether nonzero k of this row is the first one of its block.
__device__ __forceinline__ bool is_first(unsigned k, unsigned row, const unsigned *row_offsets,
                                         const unsigned *columns) {
    const unsigned column = columns[k] / SIZE * SIZE;
    if (k > row_offsets[row] && columns[k - 1] >= column) return false;
    for (unsigned above = row / SIZE * SIZE; above < row; ++above) {
        const unsigned end = row_offsets[above + 1];
        const unsigned found = search(row_offsets[above], end, column, columns);
        if (found < end && columns[found] < column + SIZE) return false;
    }
    return true;
}

// Counts the blocks whose first nonzero is in a sample: 32 of each `share` * 32 nonzeros, at places without a period.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_blocks(unsigned nnz, unsigned rows, unsigned share,
                 const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ columns,
                 unsigned *count) {
    const unsigned part = thread() / WARP, lane = thread() % WARP;
    const unsigned k = (part * share + __umulhi(part * 0x9e3779b9u, share)) * WARP + lane;
    __shared__ unsigned ends[2];
    const unsigned row = row_of_ascending(k, row_offsets, rows, ends);
    const bool counts = k < nnz && is_first(k, row, row_offsets, columns);
    const unsigned firsts = __popc(__ballot_sync(ALL_LANES, counts));
    if (lane == 0 && firsts > 0) atomicAdd(count, firsts);
}

// Sets 1 for each nonzero that is the first one of its block, 0 for the others and after the last one.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_blocks(unsigned nnz, unsigned rows, const unsigned *__restrict__ row_offsets,
                const unsigned *__restrict__ columns, unsigned *marks) {
    __shared__ unsigned ends[2];
    const unsigned k = thread(), row = row_of_ascending(k, row_offsets, rows, ends);
    if (k <= nnz) marks[k] = k < nnz && is_first(k, row, row_offsets, columns);
}

// Computes the first block of each row of blocks, and the end. `before` is the number of blocks whose first nonzero is
// before each nonzero.
extern "C" __global__ void __launch_bounds__(THREADS)
    block_offsets(unsigned count, unsigned rows, const unsigned *__restrict__ row_offsets,
                  const unsigned *__restrict__ before, unsigned *offsets) {
    const unsigned k = thread();
    if (k < count) offsets[k] = before[row_offsets[min(k * SIZE, rows)]];
}

// Computes the first column of each block, in ascending order within a row of blocks. Before a block are those with a
// first nonzero to the left of it, in any of the rows. A block that would exceed the last column is moved left.
extern "C" __global__ void __launch_bounds__(THREADS)
    block_columns(unsigned nnz, unsigned rows, unsigned cols,
                  const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ columns,
                  const unsigned *__restrict__ before, unsigned *to) {
    __shared__ unsigned ends[2];
    const unsigned k = thread(), own = row_of_ascending(k, row_offsets, rows, ends);
    if (k >= nnz || before[k + 1] == before[k]) return;
    const unsigned column = columns[k] / SIZE * SIZE, first = own / SIZE * SIZE;
    unsigned place = before[row_offsets[first]];
    for (unsigned row = first; row < min(first + SIZE, rows); ++row) {
        const unsigned start = row_offsets[row];
        const unsigned found =
            row == own ? k : search(start, row_offsets[row + 1], column, columns);
        place += before[found] - before[start];
    }
    to[place] = min(column, cols - SIZE);
}

// Fills the blocks column by column. One thread per row of a block.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_blocks(unsigned count, unsigned rows, const unsigned *__restrict__ offsets,
                const unsigned *__restrict__ block_columns,
                const unsigned *__restrict__ row_offsets, const unsigned *__restrict__ csr_columns,
                const value_t *__restrict__ csr_values, value_t *values) {
    const unsigned block = thread() / SIZE, inside = thread() % SIZE;
    __shared__ unsigned ends[2];
    const unsigned block_row = row_of_ascending(block, offsets, (rows + SIZE - 1) / SIZE, ends);
    if (block >= count) return;
    const unsigned row = block_row * SIZE + inside;
    const unsigned first = block_columns[block];
    // The columns of a block that was moved left, before its multiple of SIZE, are in another block.
    const unsigned aligned = (first + SIZE - 1) / SIZE * SIZE;
    const unsigned end = row < rows ? row_offsets[row + 1] : 0;
    unsigned from = row < rows ? search(row_offsets[row], end, aligned, csr_columns) : 0;
    value_t *to = values + (unsigned long long)block * (SIZE * SIZE) + inside;
    for (unsigned column = first; column < first + SIZE; ++column, to += SIZE)
        *to = from < end && csr_columns[from] == column ? csr_values[from++] : value_t(0);
}
